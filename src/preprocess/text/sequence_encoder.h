#pragma once

#include <cstddef>
#include <limits>
#include <string_view>

#include "preprocess/text/added_tokens.h"
#include "preprocess/text/encoding.h"
#include "preprocess/text/normalizer.h"
#include "preprocess/text/word_piece.h"

namespace gimbal::preprocess {

// The parts of a tokenizer that turn one text into tokens, in the order in which a text meets them.
struct SequenceModel {
  AddedTokenMatcher raw_tokens;  // looked for in the text as it came
  Normalizer normalizer;
  AddedTokenMatcher normalized_tokens;  // looked for in what lies between those, normalised
  bool bert_pre_tokenizer;              // words are split at white space and punctuation
  WordPiece word_piece;
};

// Tokenises one text, without special tokens around it, piece by piece from the left so that it can
// stop early. An object serves one text at a time and keeps its buffers; make one a call.
class SequenceEncoder {
 public:
  static constexpr size_t kNoLimit = std::numeric_limits<size_t>::max();

  // `model` must outlive the object.
  SequenceEncoder(const SequenceModel& model, bool with_offsets);

  // Appends the tokens of `text` to out->ids (and out->offsets), adds to out->bytes_read, and
  // returns how many came. Stops once there are more than `limit`: then the return value says no
  // more than that, and the tokens up to `limit` are those of the whole text. REQUIRES: valid UTF-8
  // of less than 4 GiB.
  size_t Run(std::string_view text, size_t limit, Encoding* out);

 private:
  void EncodeRaw(size_t begin, size_t end);
  void EncodeNormalized(size_t begin, size_t end);
  void AppendWord(size_t begin, size_t end);
  void AppendRawToken(const AddedTokenMatcher::Match& match);
  size_t Cut(size_t from) const;
  uint32_t CharacterAt(size_t byte);
  bool Full() const { return out_->ids.size() - first_ > limit_; }

  const SequenceModel& model_;
  const bool with_offsets_;

  // The text at hand.
  std::string_view text_;
  Encoding* out_ = nullptr;
  size_t limit_ = kNoLimit;
  size_t first_ = 0;  // tokens that were in out_ before
  // A place in the text of which both coordinates are known.
  size_t known_byte_ = 0;
  uint32_t known_character_ = 0;

  NormalizedText normalized_;
  WordPiece::Scratch scratch_;
};

}  // namespace gimbal::preprocess
