#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "preprocess/text/encoding.h"

namespace gimbal::preprocess {

struct EncodeOptions {
  bool add_special_tokens = true;
  bool with_offsets = false;  // costs time: leave it off where nobody reads them
  // Tokens of the result at most, special ones included; 0: no limit. The rest is cut off on the
  // right (of a pair: of the longer text first), `truncated` is set, and the part of a text that
  // cannot change the result is not tokenised. This is also the cheap way to learn that a text is
  // too long.
  size_t max_length = 0;
};

// Turns text into the ids that a model was trained on, exactly as the Hugging Face `tokenizers`
// library does for the same tokenizer.json: same ids, same offsets, on any input. What it cannot do
// exactly it refuses when the file is read. Special tokens that occur in the text count as such, as
// they do there. The file's own truncation and padding are not applied.
//
// Immutable: any thread may call it. Owned by the model version whose file it is.
//
//   ASSIGN_OR_RETURN(auto tokenizer, Tokenizer::FromFile(dir + "/tokenizer.json"));
//   Encoding encoding;
//   RETURN_IF_ERROR(tokenizer->Encode(text, {.max_length = 256}, &encoding));
class Tokenizer {
 public:
  // Errors name the file and the component of it that is wrong or unsupported.
  static Result<std::unique_ptr<const Tokenizer>> FromFile(const std::string& path);
  // The same from memory; `name` stands for the file in errors.
  static Result<std::unique_ptr<const Tokenizer>> FromJson(std::string_view json,
                                                           std::string_view name);
  ~Tokenizer();

  // Replaces *out, whose buffers are reused. Errors: kUnprocessable when the text is not valid
  // UTF-8; kTooLarge from 4 GiB; kInvalid when max_length has no room for the special tokens.
  Status Encode(std::string_view text, const EncodeOptions& options, Encoding* out) const;
  // Two texts in one input, as for cross-encoders.
  Status EncodePair(std::string_view text, std::string_view pair, const EncodeOptions& options,
                    Encoding* out) const;

  std::string_view kind() const;  // "WordPiece"
  size_t vocab_size() const;      // tokens, added ones included
  int32_t largest_id() const;     // of all tokens: an embedding table needs one row more
  // Special tokens that Encode and EncodePair add.
  size_t added_by_encode() const;
  size_t added_by_encode_pair() const;
  // kNotFound when there is no such token.
  Result<int32_t> TokenToId(std::string_view token) const;

  // What the file says about limits and padding, for the batcher.
  std::optional<size_t> file_max_length() const;  // truncation.max_length
  int32_t pad_id() const;                         // padding.pad_id, else the id of "[PAD]", else 0
  int32_t pad_type_id() const;

 private:
  struct Parts;
  explicit Tokenizer(std::unique_ptr<const Parts> parts);

  const std::unique_ptr<const Parts> parts_;
};

}  // namespace gimbal::preprocess
