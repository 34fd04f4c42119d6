#include "preprocess/text/normalizer.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace gimbal::preprocess {
namespace {

constexpr Normalizer::Options kClean{.clean_text = true};
constexpr Normalizer::Options kChinese{.handle_chinese_chars = true};
constexpr Normalizer::Options kStrip{.strip_accents = true};
constexpr Normalizer::Options kLower{.lowercase = true};
constexpr Normalizer::Options kAll{true, true, true, true};

std::string Normalized(Normalizer::Options options, std::string_view text) {
  NormalizedText out;
  Normalizer(options).Append(text, &out);
  EXPECT_TRUE(out.sources.empty());
  return out.text;
}

struct Case {
  Normalizer::Options options;
  std::string text;
  std::string expected;
  std::vector<uint32_t> sources;  // of each byte of `expected`
};

TEST(Normalizer, SaysWhatTheLibrarySays) {
  using std::string_literals::operator""s;
  for (const Case& c : std::vector<Case>{
           {{}, "É\t", "É\t", {0, 0, 1}},
           {kClean, "a\0\tb\u00A0\uFFFD\vc\u200D"s, "a b c", {0, 2, 3, 4, 7}},
           {kChinese, "a漢b", "a 漢 b", {0, 1, 1, 1, 1, 1, 2}},
           {kStrip, "éẞ", "eẞ", {0, 1, 1, 1}},
           {kStrip, "가", "\u1100\u1161", {0, 0, 0, 0, 0, 0}},
           {kLower, "İΣ", "i\u0307σ", {0, 0, 0, 1, 1}},
           {{.strip_accents = true, .lowercase = true}, "İé", "ie", {0, 1}},
           // Class 216 goes before class 224; the sources stay in the order of the text.
           {kStrip, "a\u302E\U0001D165b", "a\U0001D165\u302Eb", {0, 1, 1, 1, 1, 2, 2, 2, 3}},
           {kStrip, "\u1B44\u0334\u0300", "\u1B44", {1, 1, 1}},  // 0334 (class 1) took source 0
           {kAll, "\u0301", "", {}},
       }) {
    EXPECT_EQ(Normalized(c.options, c.text), c.expected);
    NormalizedText out;
    Normalizer(c.options).AppendWithSources(c.text, 0, &out);
    EXPECT_EQ(out.text, c.expected);
    EXPECT_EQ(out.sources, c.sources) << c.expected;
  }
}

TEST(Normalizer, AppendsBehindWhatIsThere) {
  NormalizedText out;
  const Normalizer normalizer(kAll);
  normalizer.AppendWithSources("A", 5, &out);
  normalizer.AppendWithSources("é", 9, &out);
  EXPECT_EQ(out.text, "ae");
  EXPECT_EQ(out.sources, (std::vector<uint32_t>{5, 9}));
}

// A removed character does not end the marks that are put in order.
TEST(Normalizer, MarksAreOrderedAcrossRemovedCharacters) {
  EXPECT_EQ(Normalized(kAll, "a\u302E\x01\U0001D165"), "a\U0001D165\u302E");
}

TEST(Normalizer, CutsBeforeWhatSettlesTheText) {
  const Normalizer all(kAll);
  EXPECT_EQ(all.FindCut("ab cd", 0), 2u);
  EXPECT_EQ(all.FindCut("ab,cd", 1), 2u);
  EXPECT_EQ(all.FindCut("ab漢", 0), 2u);
  EXPECT_EQ(all.FindCut("a漢b", 2), 5u);    // from within a character
  EXPECT_EQ(all.FindCut("ab\vcd", 0), 5u);  // removed: joins the words
  EXPECT_EQ(all.FindCut("abcd", 2), 4u);
  EXPECT_EQ(Normalizer(kClean).FindCut("ab漢", 0), 5u);
}

// Reversed pairs of marks that stay, so that nothing but sorting can be slow; quadratic work on
// this much text would not end within the test's time limit.
TEST(Normalizer, AMegabyteOfMarksTakesLinearTime) {
  std::string text = "a";
  for (int i = 0; i < 200'000; ++i) text += "\u302E\U0001D165";
  NormalizedText out;
  Normalizer(kAll).AppendWithSources(text, 0, &out);
  EXPECT_EQ(out.text.size(), text.size());
  EXPECT_EQ(out.text.substr(1, 4), "\U0001D165");
  EXPECT_TRUE(out.text.ends_with("\u302E\u302E"));
  EXPECT_TRUE(std::is_sorted(out.sources.begin(), out.sources.end()));
}

}  // namespace
}  // namespace gimbal::preprocess
