#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "preprocess/text/added_tokens.h"
#include "preprocess/text/normalizer.h"
#include "preprocess/text/word_piece.h"

namespace gimbal::preprocess {

// Where a text and the special tokens around it go in a model's input.
struct TemplatePiece {
  enum class Kind { kFirst, kSecond, kSpecial };
  Kind kind = Kind::kFirst;
  int32_t type_id = 0;
  std::vector<int32_t> ids;  // of kSpecial
};
using Template = std::vector<TemplatePiece>;

// A tokenizer.json of the BERT family, read and checked but not yet built.
struct TokenizerFile {
  Normalizer::Options normalizer;   // all off when the file has none
  bool bert_pre_tokenizer = false;  // else a text is one word
  WordPiece::Options model;
  std::vector<AddedToken> added_tokens;  // ids are assigned when the tokenizer is built
  Template single;
  Template pair;
  std::optional<size_t> max_length;  // truncation.max_length
  std::optional<int32_t> pad_id;
  int32_t pad_type_id = 0;
};

// Reads a tokenizer.json. A component that we do not have is refused by name, never approximated.
// The error says which part of the file is wrong.
Result<TokenizerFile> ParseTokenizerFile(std::string_view json);

}  // namespace gimbal::preprocess
