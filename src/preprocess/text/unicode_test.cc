#include "preprocess/text/unicode.h"

#include <gtest/gtest.h>

#include <vector>

namespace gimbal::preprocess {
namespace {

std::u32string Decomposed(char32_t cp) {
  char32_t out[kMaxMapping];
  return {out, Decompose(cp, out)};
}

std::u32string Lowered(char32_t cp) {
  char32_t out[kMaxMapping];
  return {out, Lowercase(cp, out)};
}

// All code points are compared with the library by tests/exactness/compare.py --full.
TEST(Unicode, Records) {
  struct Case {
    char32_t cp;
    int flags;
    int combining_class;
  };
  for (const Case& c : std::vector<Case>{
           {U'a', kWord, 0},
           {U'A', kWord | kLowers, 0},
           {U' ', kSpace, 0},
           {U'$', kPunctuation, 0},  // ASCII symbols count as punctuation
           {U'\u20AC', 0, 0},        // others do not
           {U'\v', kSpace | kRemoved, 0},
           {U'\u200D', kRemoved | kWord, 0},  // zero-width joiner
           {U'\u0378', 0, 0},                 // unassigned
           {U'\uFFFD', kRemoved, 0},
           {U'\u0301', kNonspacing | kWord, 230},
           {U'\u6F22', kCjk | kWord, 0},
           {U'\uF900', kCjk | kWord | kDecomposes, 0},
           {U'\uAC00', kDecomposes | kWord, 0},
           {U'\U0010FFFF', 0, 0},
       }) {
    EXPECT_EQ(RecordOf(c.cp).flags, c.flags) << std::hex << static_cast<uint32_t>(c.cp);
    EXPECT_EQ(RecordOf(c.cp).combining_class, c.combining_class)
        << std::hex << static_cast<uint32_t>(c.cp);
  }
}

TEST(Unicode, Mappings) {
  EXPECT_EQ(Decomposed(U'\u00E9'), U"e\u0301");
  EXPECT_EQ(Decomposed(U'\u1F82'), U"\u03B1\u0313\u0300\u0345");  // the longest there is
  EXPECT_EQ(Decomposed(U'\uAC00'), U"\u1100\u1161");
  EXPECT_EQ(Decomposed(U'\uD7A3'), U"\u1112\u1175\u11C2");
  EXPECT_EQ(Lowered(U'\u0130'), U"i\u0307");
  EXPECT_EQ(Lowered(U'\u03A3'), U"\u03C3");
}

TEST(Unicode, Utf8) {
  for (const char32_t cp : {0x00, 0x7F, 0x80, 0x7FF, 0x800, 0xFFFF, 0x10000, 0x10FFFF}) {
    char bytes[4];
    const std::string_view text(bytes, EncodeUtf8(cp, bytes));
    size_t pos = 0;
    EXPECT_EQ(NextCodePoint(text, &pos), cp);
    EXPECT_EQ(pos, text.size());
    EXPECT_EQ(PreviousCodePoint(text, &pos), cp);
    EXPECT_EQ(pos, 0u);
    EXPECT_EQ(CountCodePoints(text), 1u);
  }
}

}  // namespace
}  // namespace gimbal::preprocess
