#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "preprocess/text/encoding.h"
#include "preprocess/text/token_table.h"

namespace gimbal::preprocess {

// The WordPiece model: a word is the longest tokens that fit, from the left; a word that does not
// come out even, or is too long, is one unknown token. Immutable; any thread may call it.
class WordPiece {
 public:
  struct Options {
    std::vector<std::pair<std::string, int32_t>> vocab;  // token → id, ids >= 0
    std::string unk_token;
    std::string continuing_subword_prefix;  // stands before tokens that continue a word
    size_t max_input_chars_per_word = 0;    // Unicode characters
  };
  // Refuses tokens or ids that stand twice, and a vocabulary without unk_token.
  static Result<WordPiece> Create(const Options& options);

  // A prefix of a word and its hash.
  struct Prefix {
    size_t length;
    uint64_t hash;
  };
  using Scratch = std::vector<Prefix>;

  // Appends the tokens of `word` to out->ids. REQUIRES: word is not empty, valid UTF-8.
  void Append(std::string_view word, Scratch* scratch, Encoding* out) const;
  // The same, and the tokens' spans; sources[i] is the original character of word's i-th byte.
  void AppendWithOffsets(std::string_view word, const uint32_t* sources, Scratch* scratch,
                         Encoding* out) const;

  int32_t Find(std::string_view token) const { return starts_.Find(token); }  // -1: none
  size_t vocab_size() const { return starts_.size(); }
  int32_t largest_id() const { return largest_id_; }

 private:
  WordPiece(TokenTable starts, TokenTable continuations, int32_t unk_id, size_t max_chars,
            int32_t largest_id);
  template <bool kOffsets>
  void Run(std::string_view word, const uint32_t* sources, Scratch* scratch, Encoding* out) const;

  TokenTable starts_;         // all tokens
  TokenTable continuations_;  // those that begin with the prefix, without it
  int32_t unk_id_;
  size_t max_chars_;
  int32_t largest_id_;
};

}  // namespace gimbal::preprocess
