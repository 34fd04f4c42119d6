#include "preprocess/text/sequence_encoder.h"

#include <array>

#include "preprocess/text/unicode.h"

namespace gimbal::preprocess {
namespace {

// Text is normalised in pieces of about this many bytes: they stay in the nearest cache, and little
// is done in vain when the limit stops us.
constexpr size_t kPieceBytes = 2048;

enum class Split : uint8_t { kInWord, kSpace, kAlone, kLookUp };

Split SplitOf(char32_t cp) {
  const uint8_t flags = RecordOf(cp).flags;
  if (flags & kSpace) return Split::kSpace;
  return flags & kPunctuation ? Split::kAlone : Split::kInWord;
}

// What a byte that starts a code point means to the splitter.
std::array<Split, 256> MakeSplits() {
  std::array<Split, 256> splits;
  splits.fill(Split::kLookUp);
  for (size_t c = 0; c < 128; ++c) splits[c] = SplitOf(static_cast<char32_t>(c));
  return splits;
}

Split NextSplit(std::string_view text, size_t* pos) {
  static const std::array<Split, 256> kSplits = MakeSplits();
  const Split split = kSplits[static_cast<uint8_t>(text[*pos])];
  if (split == Split::kLookUp) return SplitOf(NextCodePoint(text, pos));
  ++*pos;
  return split;
}

}  // namespace

SequenceEncoder::SequenceEncoder(const SequenceModel& model, bool with_offsets)
    : model_(model), with_offsets_(with_offsets) {}

size_t SequenceEncoder::Run(std::string_view text, size_t limit, Encoding* out) {
  text_ = text;
  out_ = out;
  limit_ = limit;
  first_ = out->ids.size();
  known_byte_ = 0;
  known_character_ = 0;
  AddedTokenMatcher::Cursor cursor;
  size_t pos = 0;
  size_t cut = 0;
  while (pos < text.size() && !Full()) {
    if (pos >= cut) cut = Cut(pos);
    AddedTokenMatcher::Match match;
    const bool found = model_.raw_tokens.Next(text, cut, &cursor, &match);
    // White space before a token (lstrip) may have been passed already: it made no tokens.
    EncodeRaw(pos, found ? match.begin : cut);
    if (found && !Full()) AppendRawToken(match);
    pos = found ? match.end : cut;
  }
  out->bytes_read += pos;
  return out->ids.size() - first_;
}

// Where to end the piece that starts at `from`. Without words there is no place to cut at, and
// tokens to be found in normalised text may lie across any.
size_t SequenceEncoder::Cut(size_t from) const {
  if (!model_.bert_pre_tokenizer || !model_.normalized_tokens.empty() ||
      text_.size() - from <= kPieceBytes) {
    return text_.size();
  }
  return model_.normalizer.FindCut(text_, from + kPieceBytes);
}

void SequenceEncoder::EncodeRaw(size_t begin, size_t end) {
  if (begin >= end) return;
  normalized_.Clear();
  const std::string_view piece = text_.substr(begin, end - begin);
  if (with_offsets_) {
    model_.normalizer.AppendWithSources(piece, CharacterAt(begin), &normalized_);
  } else {
    model_.normalizer.Append(piece, &normalized_);
  }
  const std::string_view text = normalized_.text;
  AddedTokenMatcher::Cursor cursor;
  AddedTokenMatcher::Match match;
  size_t pos = 0;
  while (!Full() && model_.normalized_tokens.Next(text, text.size(), &cursor, &match)) {
    EncodeNormalized(pos, match.begin);
    if (Full()) return;
    out_->ids.push_back(match.token->id);
    if (with_offsets_) {
      out_->offsets.push_back(
          {normalized_.sources[match.begin], normalized_.sources[match.end - 1] + 1});
    }
    pos = match.end;
  }
  EncodeNormalized(pos, text.size());
}

void SequenceEncoder::EncodeNormalized(size_t begin, size_t end) {
  if (!model_.bert_pre_tokenizer) return AppendWord(begin, end);
  const std::string_view text = std::string_view(normalized_.text).substr(0, end);
  size_t word = begin;
  for (size_t pos = begin; pos < end && !Full();) {
    const size_t start = pos;
    const Split split = NextSplit(text, &pos);
    if (split == Split::kInWord) continue;
    AppendWord(word, start);
    if (split == Split::kAlone) AppendWord(start, pos);
    word = pos;
  }
  if (!Full()) AppendWord(word, end);
}

void SequenceEncoder::AppendWord(size_t begin, size_t end) {
  if (begin >= end) return;
  const std::string_view word = std::string_view(normalized_.text).substr(begin, end - begin);
  if (with_offsets_) {
    model_.word_piece.AppendWithOffsets(word, normalized_.sources.data() + begin, &scratch_, out_);
  } else {
    model_.word_piece.Append(word, &scratch_, out_);
  }
}

void SequenceEncoder::AppendRawToken(const AddedTokenMatcher::Match& match) {
  out_->ids.push_back(match.token->id);
  if (!with_offsets_) return;
  const uint32_t begin = CharacterAt(match.begin);
  out_->offsets.push_back({begin, CharacterAt(match.end)});
}

// Goes from the place asked for last: each byte of the text is passed a few times at most.
uint32_t SequenceEncoder::CharacterAt(size_t byte) {
  if (byte >= known_byte_) {
    known_character_ +=
        static_cast<uint32_t>(CountCodePoints(text_.substr(known_byte_, byte - known_byte_)));
  } else {
    known_character_ -=
        static_cast<uint32_t>(CountCodePoints(text_.substr(byte, known_byte_ - byte)));
  }
  known_byte_ = byte;
  return known_character_;
}

}  // namespace gimbal::preprocess
