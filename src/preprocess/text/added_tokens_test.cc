#include "preprocess/text/added_tokens.h"

#include <gtest/gtest.h>

namespace gimbal::preprocess {
namespace {

Result<AddedTokenMatcher> Make(std::vector<AddedToken> tokens) {
  std::vector<std::string> patterns;
  for (const AddedToken& token : tokens) patterns.push_back(token.content);
  return AddedTokenMatcher::Create(std::move(tokens), patterns);
}

// "content@begin-end" of all matches, searched in steps of `step` bytes.
std::string Matches(const AddedTokenMatcher& matcher, std::string_view text, size_t step) {
  std::string out;
  AddedTokenMatcher::Cursor cursor;
  AddedTokenMatcher::Match match;
  for (size_t until = step; until < text.size() + step; until += step) {
    while (matcher.Next(text, until, &cursor, &match)) {
      out += match.token->content + "@" + std::to_string(match.begin) + "-" +
             std::to_string(match.end) + " ";
    }
  }
  return out;
}

void ExpectMatches(const std::vector<AddedToken>& tokens, std::string_view text,
                   const std::string& expected) {
  const auto matcher = Make(tokens);
  ASSERT_TRUE(matcher.ok()) << matcher.status().message();
  EXPECT_EQ(Matches(*matcher, text, 1000), expected) << text;
  EXPECT_EQ(Matches(*matcher, text, 1), expected) << text << " byte by byte";
}

TEST(AddedTokens, TheLeftmostAndThenTheLongest) {
  const std::vector<AddedToken> tokens{{.content = "ab"}, {.content = "abcd"}, {.content = "bc"}};
  ExpectMatches(tokens, "abcd", "abcd@0-4 ");
  ExpectMatches(tokens, "abc", "ab@0-2 ");
  ExpectMatches(tokens, "xbcab", "bc@1-3 ab@3-5 ");
  ExpectMatches(tokens, "", "");
  ExpectMatches({}, "abc", "");
}

TEST(AddedTokens, SingleWordsAreNotTouchedByWordCharacters) {
  const std::vector<AddedToken> tokens{{.content = "<m>", .single_word = true}};
  ExpectMatches(tokens, "<m>, <m>-", "<m>@0-3 <m>@5-8 ");
  ExpectMatches(tokens, "a<m> <m>b \u0330<m>", "");
  // Discarded, and yet consumed: the shorter token inside is not found.
  ExpectMatches({{.content = "<m>", .single_word = true}, {.content = "m"}}, "a<m>", "");
}

TEST(AddedTokens, StripTakesWhiteSpaceAlong) {
  const std::vector<AddedToken> tokens{{.content = "<l>", .lstrip = true},
                                       {.content = "<r>", .rstrip = true}};
  ExpectMatches(tokens, "a \u2000<l> <r>\t <l>", "<l>@1-8 <r>@9-14 <l>@14-17 ");
  ExpectMatches(tokens, " <l>", "<l>@0-4 ");
  ExpectMatches(tokens, "<r> ", "<r>@0-4 ");
}

TEST(AddedTokens, RefusesWhatHasNoCertainAnswer) {
  EXPECT_FALSE(Make({{.content = ""}}).ok());
  EXPECT_FALSE(Make({{.content = "a"}, {.content = "a"}}).ok());
  EXPECT_TRUE(Make({{.content = " a"}, {.content = "b"}}).ok());
  EXPECT_FALSE(Make({{.content = " a"}, {.content = "b", .rstrip = true}}).ok());
}

}  // namespace
}  // namespace gimbal::preprocess
