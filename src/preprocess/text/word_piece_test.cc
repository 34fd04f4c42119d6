#include "preprocess/text/word_piece.h"

#include <gtest/gtest.h>

namespace gimbal::preprocess {
namespace {

WordPiece::Options TestOptions() {
  return {
      .vocab = {{"[UNK]", 0}, {"a", 1}, {"ab", 2}, {"##c", 3}, {"##cd", 4}, {"##é", 5}, {"##", 6}},
      .unk_token = "[UNK]",
      .continuing_subword_prefix = "##",
      .max_input_chars_per_word = 5};
}

std::vector<int32_t> Ids(const WordPiece& model, std::string_view word) {
  Encoding out;
  WordPiece::Scratch scratch;
  model.Append(word, &scratch, &out);
  return out.ids;
}

TEST(WordPiece, TakesTheLongestFromTheLeft) {
  const auto model = WordPiece::Create(TestOptions());
  ASSERT_TRUE(model.ok());
  using Expected = std::vector<int32_t>;
  EXPECT_EQ(Ids(*model, "abcd"), (Expected{2, 4}));
  EXPECT_EQ(Ids(*model, "abc"), (Expected{2, 3}));
  EXPECT_EQ(Ids(*model, "aéc"), (Expected{1, 5, 3}));
  EXPECT_EQ(Ids(*model, "abx"), (Expected{0}));                // does not come out even
  EXPECT_EQ(Ids(*model, "c"), (Expected{0}));                  // only continues words
  EXPECT_EQ(Ids(*model, "##c"), (Expected{3}));                // as text it may start one
  EXPECT_EQ(Ids(*model, "aéééé"), (Expected{1, 5, 5, 5, 5}));  // five characters, nine bytes
  EXPECT_EQ(Ids(*model, "aééééé"), (Expected{0}));             // too long
}

TEST(WordPiece, SpansCoverTheSources) {
  const auto model = WordPiece::Create(TestOptions());
  ASSERT_TRUE(model.ok());
  Encoding out;
  WordPiece::Scratch scratch;
  const uint32_t sources[] = {3, 5, 5, 7};
  model->AppendWithOffsets("abcd", sources, &scratch, &out);
  model->AppendWithOffsets("abxx", sources, &scratch, &out);
  EXPECT_EQ(out.offsets, (std::vector<Encoding::Span>{{3, 6}, {5, 8}, {3, 8}}));
}

TEST(WordPiece, AnEmptyPrefixContinuesWithAnyToken) {
  WordPiece::Options options = TestOptions();
  options.continuing_subword_prefix = "";
  const auto model = WordPiece::Create(options);
  ASSERT_TRUE(model.ok());
  EXPECT_EQ(Ids(*model, "abab"), (std::vector<int32_t>{2, 2}));
}

TEST(WordPiece, RefusesABadVocabulary) {
  WordPiece::Options options = TestOptions();
  options.vocab.emplace_back("a", 9);
  EXPECT_EQ(WordPiece::Create(options).status().message(), "token \"a\" stands twice");
  options = TestOptions();
  options.vocab.emplace_back("z", 1);
  EXPECT_EQ(WordPiece::Create(options).status().message(), "id 1 stands twice");
  options = TestOptions();
  options.unk_token = "<unk>";
  EXPECT_EQ(WordPiece::Create(options).status().message(), "unk_token \"<unk>\" is missing");
  EXPECT_FALSE(WordPiece::Create({}).ok());
}

}  // namespace
}  // namespace gimbal::preprocess
