#include "config/suggest.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace gimbal::config {
namespace {

TEST(SuggestTest, FindsSlipsOfTheHand) {
  const std::vector<std::string_view> names = {"max_rows", "max_tokens", "max_wait", "http"};
  struct Case {
    std::string_view word;
    std::string_view nearest;
  };
  const Case cases[] = {
      {"max_row", "max_rows"},       // one letter left out
      {"max_rowss", "max_rows"},     // one too many
      {"max_rwos", "max_rows"},      // two swapped
      {"mox_tokens", "max_tokens"},  // one wrong
      {"htpt", "http"},              // so does a swap
      {"htp", "http"},               // a short word allows one
      {"ht", ""},                    // but not two
      {"threads", ""},               // something else
      {"", ""},
  };
  for (const Case& c : cases) EXPECT_EQ(Nearest(c.word, names), c.nearest) << c.word;
}

TEST(SuggestTest, LeavesVeryLongWordsAlone) {
  const std::vector<std::string_view> names = {"http"};
  EXPECT_EQ(Nearest(std::string(1 << 20, 'h'), names), "");
}

}  // namespace
}  // namespace gimbal::config
