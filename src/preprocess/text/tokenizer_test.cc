#include "preprocess/text/tokenizer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "preprocess/text/test_tokenizer.h"

namespace gimbal::preprocess {
namespace {

using Ids = std::vector<int32_t>;
using Spans = std::vector<Encoding::Span>;

std::unique_ptr<const Tokenizer> Make(const std::string& json = TestTokenizerJson()) {
  auto tokenizer = Tokenizer::FromJson(json, "test");
  EXPECT_TRUE(tokenizer.ok()) << tokenizer.status().message();
  return std::move(tokenizer).value();
}

Encoding Encoded(const Tokenizer& tokenizer, std::string_view text, EncodeOptions options = {}) {
  Encoding out;
  const Status status = tokenizer.Encode(text, options, &out);
  EXPECT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(out.type_ids.size(), out.ids.size());
  return out;
}

struct Case {
  std::string text;
  Ids ids;
  Spans offsets;
};

TEST(Tokenizer, SaysWhatTheLibrarySays) {
  using std::string_literals::operator""s;
  const auto tokenizer = Make();
  for (const Case& c : std::vector<Case>{
           {"", {2, 3}, {{0, 0}, {0, 0}}},
           {"hello, HELLO", {2, 11, 12, 11, 3}, {{0, 0}, {0, 5}, {5, 6}, {7, 12}, {0, 0}}},
           {"unaffable", {2, 8, 9, 10, 3}, {{0, 0}, {0, 2}, {2, 5}, {5, 9}, {0, 0}}},
           {"unaffablex", {2, 1, 3}, {{0, 0}, {0, 10}, {0, 0}}},
           {"abababababa", {2, 1, 3}, {{0, 0}, {0, 11}, {0, 0}}},
           {"漢字 a", {2, 13, 14, 4, 3}, {{0, 0}, {0, 1}, {1, 2}, {3, 4}, {0, 0}}},
           {"é a\u0301", {2, 1, 4, 3}, {{0, 0}, {0, 1}, {2, 3}, {0, 0}}},
           {"Straße", {2, 16, 17, 3}, {{0, 0}, {0, 4}, {4, 6}, {0, 0}}},
           {"İ", {2, 18, 3}, {{0, 0}, {0, 1}, {0, 0}}},
           {"\0a\ab\uFFFD"s, {2, 4, 7, 3}, {{0, 0}, {1, 2}, {3, 4}, {0, 0}}},
           {"a\u0315\u0300b", {2, 4, 7, 3}, {{0, 0}, {0, 1}, {3, 4}, {0, 0}}},
           {"a\u200Bb a\u2028b",
            {2, 4, 7, 4, 5, 3},
            {{0, 0}, {0, 1}, {2, 3}, {4, 5}, {6, 7}, {0, 0}}},
           {"\u302E\u0301a", {2, 1, 3}, {{0, 0}, {0, 3}, {0, 0}}},
       }) {
    const Encoding out = Encoded(*tokenizer, c.text, {.with_offsets = true});
    EXPECT_EQ(out.ids, c.ids) << c.text;
    EXPECT_EQ(out.offsets, c.offsets) << c.text;
    EXPECT_EQ(Encoded(*tokenizer, c.text).ids, c.ids) << c.text;
    EXPECT_TRUE(Encoded(*tokenizer, c.text).offsets.empty());
  }
}

TEST(Tokenizer, AddedTokensInTheText) {
  const auto tokenizer = Make();
  for (const Case& c : std::vector<Case>{
           {"[CLS] hello", {2, 2, 11, 3}, {{0, 0}, {0, 5}, {6, 11}, {0, 0}}},
           {"hello[SEP]hello", {2, 11, 3, 11, 3}, {{0, 0}, {0, 5}, {5, 10}, {10, 15}, {0, 0}}},
           {"[cls]", {2, 1, 1, 1, 3}, {{0, 0}, {0, 1}, {1, 4}, {4, 5}, {0, 0}}},
           {"a <left> b", {2, 4, 20, 5, 3}, {{0, 0}, {0, 1}, {1, 8}, {9, 10}, {0, 0}}},
           {"a  <right>  b", {2, 4, 21, 5, 3}, {{0, 0}, {0, 1}, {3, 12}, {12, 13}, {0, 0}}},
           {"<left>\u00A0<left>", {2, 20, 20, 3}, {{0, 0}, {0, 6}, {6, 13}, {0, 0}}},
           {"<word>, a<word>",
            {2, 22, 12, 4, 1, 1, 1, 3},
            {{0, 0}, {0, 6}, {6, 7}, {8, 9}, {9, 10}, {10, 14}, {14, 15}, {0, 0}}},
       }) {
    const Encoding out = Encoded(*tokenizer, c.text, {.with_offsets = true});
    EXPECT_EQ(out.ids, c.ids) << c.text;
    EXPECT_EQ(out.offsets, c.offsets) << c.text;
  }
}

// "normalized": true means: looked for in normal form in normalised text.
TEST(Tokenizer, NormalizedAddedTokens) {
  const auto tokenizer =
      Make(Replaced(TestTokenizerJson(),
                    R"("content": "<right>", "single_word": false, "lstrip": false, "rstrip": true,
   "normalized": false)",
                    R"("content": "<Rÿght>", "single_word": false, "lstrip": false, "rstrip": true,
   "normalized": true)"));
  const Encoding out = Encoded(*tokenizer, "a<rYght> b", {.with_offsets = true});
  EXPECT_EQ(out.ids, (Ids{2, 4, 21, 5, 3}));
  EXPECT_EQ(out.offsets, (Spans{{0, 0}, {0, 1}, {1, 9}, {9, 10}, {0, 0}}));
}

TEST(Tokenizer, IdsOfTheFileAreNotBelieved) {
  // As the library does: known tokens have the model's id, others are counted on.
  const auto tokenizer = Make(Replaced(TestTokenizerJson(), "\"id\": 20", "\"id\": 900"));
  EXPECT_EQ(tokenizer->TokenToId("<left>").value(), 20);
  EXPECT_EQ(tokenizer->TokenToId("hello").value(), 11);
  EXPECT_EQ(tokenizer->TokenToId("nothing").status().code(), Code::kNotFound);
  EXPECT_EQ(tokenizer->vocab_size(), 23u);
  EXPECT_EQ(tokenizer->largest_id(), 22);
}

TEST(Tokenizer, WithoutSpecialTokens) {
  EXPECT_EQ(Encoded(*Make(), "hello [SEP]", {.add_special_tokens = false}).ids, (Ids{11, 3}));
}

TEST(Tokenizer, BertProcessingIsATemplate) {
  std::string json = TestTokenizerJson();
  const size_t start = json.find("{\"type\": \"TemplateProcessing\"");
  json.replace(start, json.find(" \"decoder\"") - start,
               "{\"type\": \"BertProcessing\", \"sep\": [\"[SEP]\", 3], \"cls\": [\"[CLS]\", 2]},");
  const auto tokenizer = Make(json);
  EXPECT_EQ(Encoded(*tokenizer, "a").ids, (Ids{2, 4, 3}));
  Encoding out;
  ASSERT_TRUE(tokenizer->EncodePair("a", "b", {}, &out).ok());
  EXPECT_EQ(out.ids, (Ids{2, 4, 3, 5, 3}));
  EXPECT_EQ(out.type_ids, (Ids{0, 0, 0, 1, 1}));
}

TEST(Tokenizer, RefusesWhatIsNotUtf8) {
  Encoding out;
  EXPECT_EQ(Make()->Encode("a\xC3", {}, &out).code(), Code::kUnprocessable);
  EXPECT_EQ(Make()->EncodePair("a", "\xED\xA0\x80", {}, &out).code(), Code::kUnprocessable);
}

TEST(Tokenizer, ALengthNeedsRoomForSpecialTokens) {
  Encoding out;
  EXPECT_EQ(Make()->Encode("a", {.max_length = 1}, &out).code(), Code::kInvalid);
  EXPECT_TRUE(Make()->Encode("a", {.max_length = 2}, &out).ok());
  EXPECT_EQ(out.ids, (Ids{2, 3}));
  EXPECT_TRUE(out.truncated);
}

// Long enough for several pieces, with tokens, marks, Chinese and white space at the seams.
std::string LongText() {
  const char* const parts[] = {"hello, ",       "unaffable", "漢字",    " <left> ",
                               "a\u0301\u302E", "[SEP]",     "\u2000",  "abababababa",
                               "<right>   ",    "b\va",      "a<word>", "İ"};
  std::string text;
  uint32_t state = 1;
  while (text.size() < 20'000) {
    state = state * 1664525u + 1013904223u;
    text += parts[(state >> 16) % std::size(parts)];
  }
  return text;
}

TEST(Tokenizer, TruncatedIsTheWholeCut) {
  const auto tokenizer = Make();
  const std::string text = LongText();
  const Encoding whole =
      Encoded(*tokenizer, text, {.add_special_tokens = false, .with_offsets = true});
  EXPECT_FALSE(whole.truncated);
  for (size_t length = 1; length < whole.ids.size() + 3; length += length < 40 ? 1 : 97) {
    const Encoding cut =
        Encoded(*tokenizer, text,
                {.add_special_tokens = false, .with_offsets = true, .max_length = length});
    const auto kept = static_cast<ptrdiff_t>(std::min(length, whole.ids.size()));
    EXPECT_EQ(cut.ids, Ids(whole.ids.begin(), whole.ids.begin() + kept));
    EXPECT_EQ(cut.offsets, Spans(whole.offsets.begin(), whole.offsets.begin() + kept));
    EXPECT_EQ(cut.truncated, length < whole.ids.size());
  }
}

// The pieces in which a text is worked through leave no trace, wherever their seams fall: the ids
// are those of the parts between spaces, each too short to be cut.
TEST(Tokenizer, PiecesLeaveNoTrace) {
  const auto tokenizer = Make();
  const EncodeOptions options{.add_special_tokens = false};
  for (size_t shift = 0; shift < 40; ++shift) {
    const std::string text = std::string(shift, ',') + LongText() + " ";
    Ids expected;
    for (size_t start = 0; start < text.size();) {
      const size_t end = text.find(' ', start);
      const Encoding part = Encoded(*tokenizer, text.substr(start, end - start), options);
      expected.insert(expected.end(), part.ids.begin(), part.ids.end());
      start = end + 1;
    }
    EXPECT_EQ(Encoded(*tokenizer, text, options).ids, expected) << shift;
  }
}

TEST(Tokenizer, TruncatedOnlyWhenSomethingIsCut) {
  const auto tokenizer = Make();
  EXPECT_FALSE(Encoded(*tokenizer, "a b", {.max_length = 4}).truncated);
  EXPECT_TRUE(Encoded(*tokenizer, "a b", {.max_length = 3}).truncated);
}

TEST(Tokenizer, StopsEarly) {
  const auto tokenizer = Make();
  std::string text;
  while (text.size() < 1'000'000) text += "hello ";
  const Encoding cut = Encoded(*tokenizer, text, {.max_length = 100});
  EXPECT_EQ(cut.ids.size(), 100u);
  EXPECT_TRUE(cut.truncated);
  EXPECT_LT(cut.bytes_read, 5'000u);
  EXPECT_EQ(Encoded(*tokenizer, text).bytes_read, text.size());
}

struct PairCase {
  size_t max_length;
  std::string first;
  std::string second;
  size_t first_kept;
  size_t second_kept;
};

TEST(Tokenizer, PairsAreCutLongestFirst) {
  const auto tokenizer = Make();
  for (const PairCase& c : std::vector<PairCase>{
           {0, "a a a", "b b b", 3, 3},
           {3, "a a", "b", 0, 0},
           {4, "a a a a", "b b", 1, 0},
           {4, "a a a", "b b b", 0, 1},  // equal: the second keeps more
           {6, "a a a a a a", "b b b b b", 2, 1},
           {6, "a a a a a", "b b b b b b", 1, 2},
           {8, "a", "b b b b b", 1, 4},
           {8, "a a a a", "b b", 3, 2},
           {9, "a a a a a", "b b b b b b", 3, 3},
           {10, "a a a a a a", "b b b b b", 4, 3},
           {12, "a a a a a", "b b b b b b", 4, 5},
       }) {
    Encoding out;
    const EncodeOptions options{.with_offsets = true, .max_length = c.max_length};
    ASSERT_TRUE(tokenizer->EncodePair(c.first, c.second, options, &out).ok());
    EXPECT_EQ(std::count(out.ids.begin(), out.ids.end(), 4), c.first_kept) << c.max_length;
    EXPECT_EQ(std::count(out.ids.begin(), out.ids.end(), 5), c.second_kept) << c.max_length;
    EXPECT_EQ(std::count(out.type_ids.begin(), out.type_ids.end(), 0), c.first_kept + 2);
    EXPECT_EQ(std::count(out.type_ids.begin(), out.type_ids.end(), 1), c.second_kept + 1);
    EXPECT_EQ(out.offsets.size(), out.ids.size());
    EXPECT_EQ(out.truncated, c.max_length != 0);
  }
}

TEST(Tokenizer, APairOfLongTextsStopsEarly) {
  const auto tokenizer = Make();
  std::string text;
  while (text.size() < 1'000'000) text += "hello ";
  Encoding out;
  ASSERT_TRUE(tokenizer->EncodePair(text, text, {.max_length = 101}, &out).ok());
  EXPECT_EQ(out.ids.size(), 101u);
  EXPECT_LT(out.bytes_read, 10'000u);
}

// Quadratic work on a megabyte would not end within the test's time limit.
TEST(Tokenizer, NoMegabyteTakesLong) {
  const auto tokenizer = Make();
  for (const std::string& part :
       {std::string("a"), std::string(" "), std::string("\u0301"), std::string("\u302E\u0315"),
        std::string("漢"), std::string("["), std::string("[CLS]"), std::string("<left> "),
        std::string(" <right>"), std::string("ababababab "), std::string("a<word>")}) {
    std::string text;
    while (text.size() < 1'000'000) text += part;
    const Encoding out = Encoded(*tokenizer, text, {.with_offsets = true});
    EXPECT_EQ(out.bytes_read, text.size()) << part;
    EXPECT_EQ(out.offsets.size(), out.ids.size());
  }
}

TEST(Tokenizer, SaysWhatTheFileSays) {
  const auto tokenizer = Make();
  EXPECT_EQ(tokenizer->kind(), "WordPiece");
  EXPECT_EQ(tokenizer->file_max_length(), 64u);
  EXPECT_EQ(tokenizer->pad_id(), 0);
  EXPECT_EQ(tokenizer->added_by_encode(), 2u);
  EXPECT_EQ(tokenizer->added_by_encode_pair(), 3u);
  const auto padded = Make(Replaced(TestTokenizerJson(), "\"pad_id\": 0", "\"pad_id\": 5"));
  EXPECT_EQ(padded->pad_id(), 5);
}

}  // namespace
}  // namespace gimbal::preprocess
