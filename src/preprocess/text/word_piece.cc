#include "preprocess/text/word_piece.h"

#include <algorithm>

#include "preprocess/text/unicode.h"

namespace gimbal::preprocess {
namespace {

struct Piece {
  int32_t id = -1;
  size_t length = 0;
};

// The longest token of `table` that `text` begins with.
Piece LongestPrefix(const TokenTable& table, std::string_view text, WordPiece::Scratch* prefixes) {
  const size_t limit = std::min(text.size(), table.longest());
  uint64_t hash = TokenTable::kEmptyHash;
  prefixes->clear();
  for (size_t i = 0; i < limit; ++i) {
    hash = TokenTable::ExtendHash(hash, text[i]);
    if (i + 1 == text.size() || !IsContinuation(text[i + 1])) prefixes->push_back({i + 1, hash});
  }
  for (size_t i = prefixes->size(); i-- > 0;) {
    const WordPiece::Prefix& prefix = (*prefixes)[i];
    const int32_t id = table.Find(text.substr(0, prefix.length), prefix.hash);
    if (id >= 0) return {id, prefix.length};
  }
  return {};
}

}  // namespace

Result<WordPiece> WordPiece::Create(const Options& options) {
  const std::string& prefix = options.continuing_subword_prefix;
  TokenTable starts(options.vocab.size());
  TokenTable continuations(options.vocab.size());
  std::vector<int32_t> ids;
  for (const auto& [token, id] : options.vocab) {
    if (!starts.Insert(token, id)) return InvalidError("token \"" + token + "\" stands twice");
    if (token.size() > prefix.size() && token.starts_with(prefix)) {
      continuations.Insert(std::string_view(token).substr(prefix.size()), id);
    }
    ids.push_back(id);
  }
  std::sort(ids.begin(), ids.end());
  const auto twice = std::adjacent_find(ids.begin(), ids.end());
  if (twice != ids.end()) return InvalidError("id " + std::to_string(*twice) + " stands twice");
  const int32_t unk_id = starts.Find(options.unk_token);
  if (unk_id < 0) return InvalidError("unk_token \"" + options.unk_token + "\" is missing");
  return WordPiece(std::move(starts), std::move(continuations), unk_id,
                   options.max_input_chars_per_word, ids.back());
}

WordPiece::WordPiece(TokenTable starts, TokenTable continuations, int32_t unk_id, size_t max_chars,
                     int32_t largest_id)
    : starts_(std::move(starts)),
      continuations_(std::move(continuations)),
      unk_id_(unk_id),
      max_chars_(max_chars),
      largest_id_(largest_id) {}

void WordPiece::Append(std::string_view word, Scratch* scratch, Encoding* out) const {
  Run<false>(word, nullptr, scratch, out);
}

void WordPiece::AppendWithOffsets(std::string_view word, const uint32_t* sources, Scratch* scratch,
                                  Encoding* out) const {
  Run<true>(word, sources, scratch, out);
}

template <bool kOffsets>
void WordPiece::Run(std::string_view word, const uint32_t* sources, Scratch* scratch,
                    Encoding* out) const {
  const size_t first = out->ids.size();
  const auto add = [&](int32_t id, size_t begin, size_t end) {
    out->ids.push_back(id);
    if (kOffsets) out->offsets.push_back({sources[begin], sources[end - 1] + 1});
  };
  bool known = word.size() <= max_chars_ || CountCodePoints(word) <= max_chars_;
  for (size_t pos = 0; known && pos < word.size();) {
    const TokenTable& table = pos == 0 ? starts_ : continuations_;
    const Piece piece = LongestPrefix(table, word.substr(pos), scratch);
    known = piece.id >= 0;
    if (known) add(piece.id, pos, pos + piece.length);
    pos += piece.length;
  }
  if (known) return;
  out->ids.resize(first);
  if (kOffsets) out->offsets.resize(first);
  add(unk_id_, 0, word.size());
}

}  // namespace gimbal::preprocess
