#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace gimbal::preprocess {

// An entry of `added_tokens` in tokenizer.json: a token that is found in the text itself.
struct AddedToken {
  std::string content;
  int32_t id = 0;
  bool single_word = false;  // only where no word character touches it
  bool lstrip = false;       // takes the white space on its left with it
  bool rstrip = false;
  bool normalized = false;  // looked for in the normalised text, and normalised itself
  bool special = false;
};

// Finds added tokens in a text: the leftmost, and of those that start there the longest, as an
// Aho-Corasick automaton of that kind does. A trie that is walked from each position serves better
// here: few positions start like a token. Immutable; any thread may call it.
class AddedTokenMatcher {
 public:
  // `patterns[i]` is what to look for instead of tokens[i].content (its normal form, say). Refuses
  // what the library refuses or answers at random: empty patterns, two equal ones, and white space
  // at the start of one where another may already have swallowed it (rstrip).
  static Result<AddedTokenMatcher> Create(std::vector<AddedToken> tokens,
                                          const std::vector<std::string>& patterns);

  bool empty() const { return tokens_.empty(); }

  struct Match {
    size_t begin = 0;  // bytes, with the white space taken along
    size_t end = 0;
    const AddedToken* token = nullptr;
  };
  // How far a text was searched. Start with {}; one per text.
  struct Cursor {
    size_t next = 0;   // where the next token may start
    size_t taken = 0;  // end of the last match
  };
  // Finds the next match of which the token itself starts before `until`. False when there is none;
  // the search can then go on with a larger `until`.
  bool Next(std::string_view text, size_t until, Cursor* cursor, Match* match) const;

 private:
  struct Edge {
    uint8_t byte;
    uint32_t node;
  };
  struct Node {
    std::vector<Edge> edges;
    int32_t token = -1;  // index of the token that ends here
  };

  explicit AddedTokenMatcher(std::vector<AddedToken> tokens);
  uint32_t Child(uint32_t node, uint8_t byte) const;  // 0: none
  int32_t* EndOf(std::string_view pattern);           // makes the path
  // The longest token at `pos`, or -1; its end in *end.
  int32_t LongestAt(std::string_view text, size_t pos, size_t* end) const;

  std::vector<AddedToken> tokens_;
  std::vector<Node> nodes_;            // node 0 is the root
  std::array<bool, 256> starts_ = {};  // bytes that a pattern starts with
};

}  // namespace gimbal::preprocess
