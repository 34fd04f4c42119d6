#include "preprocess/text/tokenizer_file.h"

#include <gtest/gtest.h>

#include "preprocess/text/test_tokenizer.h"
#include "preprocess/text/tokenizer.h"

namespace gimbal::preprocess {
namespace {

TEST(TokenizerFile, IsReadCompletely) {
  const auto file = ParseTokenizerFile(TestTokenizerJson());
  ASSERT_TRUE(file.ok()) << file.status().message();
  EXPECT_TRUE(file->normalizer.clean_text);
  EXPECT_TRUE(file->normalizer.strip_accents);  // null: as lowercase
  EXPECT_TRUE(file->bert_pre_tokenizer);
  EXPECT_EQ(file->model.vocab.size(), 20u);
  EXPECT_EQ(file->model.max_input_chars_per_word, 10u);
  EXPECT_EQ(file->added_tokens.size(), 6u);
  EXPECT_TRUE(file->added_tokens[3].lstrip);
  EXPECT_EQ(file->single.size(), 3u);
  EXPECT_EQ(file->pair.size(), 5u);
  EXPECT_EQ(file->max_length, 64u);
  EXPECT_EQ(file->pad_id, 0);
}

TEST(TokenizerFile, ErrorsNameTheFileAndTheComponent) {
  struct Case {
    const char* from;
    const char* to;
    const char* expected;
  };
  for (const Case& c : std::vector<Case>{
           {"\"1.0\"", "\"2.0\"", "unsupported version \"2.0\""},
           {"\"BertNormalizer\"", "\"Precompiled\"", "unsupported normalizer \"Precompiled\""},
           {"\"clean_text\": true,", "", "normalizer.clean_text is missing"},
           {"\"strip_accents\": null", "\"strip_accents\": 1",
            "normalizer.strip_accents is not true or false"},
           {"\"BertPreTokenizer\"", "\"ByteLevel\"", "unsupported pre_tokenizer \"ByteLevel\""},
           {"\"TemplateProcessing\"", "\"Roberta\"", "unsupported post_processor \"Roberta\""},
           {"\"model\": {\"type\": \"WordPiece\"", "\"model\": {\"type\": \"BPE\"",
            "unsupported model \"BPE\""},
           {"\"vocab\"", "\"words\"", "model.vocab is missing"},
           {"\"vocab\": {", "\"vocab\": 3, \"words\": {", "model.vocab is not an object"},
           {"\"a\": 4", "\"a\": -4", "model.vocab[\"a\"] is not a whole number"},
           {"\"a\": 4", "\"a\": 3000000000", "model.vocab[\"a\"] is too large"},
           {"\"a\": 4", "\"b\": 4", "model: token \"b\" stands twice"},
           {"\"a\": 4", "\"a\": 5", "model: id 5 stands twice"},
           {"\"unk_token\": \"[UNK]\"", "\"unk_token\": \"?\"",
            "model: unk_token \"?\" is missing"},
           {"\"content\": \"[PAD]\"", "\"text\": \"[PAD]\"", "added_tokens[0].content is missing"},
           {"\"content\": \"[SEP]\"", "\"content\": 7", "added_tokens[2].content is not a string"},
           {"\"Sequence\": {\"id\": \"A\"", "\"Sequence\": {\"id\": \"B\"",
            "post_processor.single does not have sequence A once"},
           {"\"special_tokens\": {\"[CLS]\"", "\"special_tokens\": {\"[X]\"",
            "post_processor.special_tokens.[CLS] is missing"},
           {"\"direction\": \"Right\"", "\"direction\": \"Left\"",
            "unsupported truncation.direction \"Left\""},
           {"\"max_length\": 64", "\"max_length\": null", "truncation.max_length is missing"},
           {"{\n", "[{\n", "not JSON"},
       }) {
    const std::string json = Replaced(TestTokenizerJson(), c.from, c.to);
    ASSERT_NE(json, TestTokenizerJson()) << c.from;
    const auto tokenizer = Tokenizer::FromJson(json, "dir/tokenizer.json");
    ASSERT_FALSE(tokenizer.ok()) << c.expected;
    EXPECT_EQ(tokenizer.status().code(), Code::kInvalid);
    EXPECT_TRUE(tokenizer.status().message().starts_with("dir/tokenizer.json: ")) << c.expected;
    EXPECT_NE(tokenizer.status().message().find(c.expected), std::string::npos)
        << tokenizer.status().message();
  }
  for (const char* json : {"", "null", "[]", "3", "{}", "{\"model\": 3}", "{\"model\": {}}"}) {
    EXPECT_FALSE(Tokenizer::FromJson(json, "f").ok()) << json;
  }
  EXPECT_EQ(Tokenizer::FromFile("/nowhere/tokenizer.json").status().code(), Code::kNotFound);
}

TEST(TokenizerFile, PartsMayBeMissing) {
  const char* bare = R"({"model": {"unk_token": "u", "continuing_subword_prefix": "##",
      "max_input_chars_per_word": 9, "vocab": {"u": 0, "A b": 7}}})";
  const auto tokenizer = Tokenizer::FromJson(bare, "bare");
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.status().message();
  Encoding out;
  ASSERT_TRUE((*tokenizer)->Encode("A b", {}, &out).ok());  // nothing splits or changes it
  EXPECT_EQ(out.ids, std::vector<int32_t>{7});
  EXPECT_EQ((*tokenizer)->file_max_length(), std::nullopt);
  EXPECT_EQ((*tokenizer)->largest_id(), 7);
}

}  // namespace
}  // namespace gimbal::preprocess
