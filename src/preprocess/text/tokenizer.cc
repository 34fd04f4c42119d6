#include "preprocess/text/tokenizer.h"

#include <simdjson.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "preprocess/text/sequence_encoder.h"
#include "preprocess/text/tokenizer_file.h"

namespace gimbal::preprocess {
namespace {

using Kind = TemplatePiece::Kind;

size_t SpecialTokens(const Template& pieces) {
  size_t count = 0;
  for (const TemplatePiece& piece : pieces) count += piece.ids.size();
  return count;
}

Status CheckText(std::string_view text) {
  if (text.size() > std::numeric_limits<uint32_t>::max()) {
    return TooLargeError("a text of 4 GiB or more cannot be tokenised");
  }
  if (!simdjson::validate_utf8(text.data(), text.size())) {
    return UnprocessableError("the text is not valid UTF-8");
  }
  return Status::Ok();
}

// Tokens that are left for the texts; SequenceEncoder::kNoLimit when there is no limit.
Result<size_t> Room(const EncodeOptions& options, const Template& pieces) {
  if (options.max_length == 0) return SequenceEncoder::kNoLimit;
  const size_t special = options.add_special_tokens ? SpecialTokens(pieces) : 0;
  if (options.max_length < special) {
    return InvalidError("a length of " + std::to_string(options.max_length) +
                        " tokens has no room for the " + std::to_string(special) +
                        " special tokens");
  }
  return options.max_length - special;
}

// Tokens of both texts that `room` keeps, where they have `first` and `second`. The longer text is
// cut down to the shorter one, then both alike; of an odd number the longer has one more.
std::pair<size_t, size_t> SharePair(size_t first, size_t second, size_t room) {
  if (first + second <= room) return {first, second};
  const size_t half = room / 2;
  const size_t shorter = std::min(first, second);
  const size_t kept_of_shorter = shorter <= half ? shorter : half;
  const size_t kept_of_longer = room - kept_of_shorter;
  if (first > second) return {kept_of_longer, kept_of_shorter};
  return {kept_of_shorter, kept_of_longer};
}

// The text's tokens stand at the end of *out: gives them their type, and cuts them to `kept`.
void FinishText(size_t start, size_t kept, int32_t type_id, bool with_offsets, Encoding* out) {
  out->ids.resize(start + kept);
  out->type_ids.resize(start + kept, type_id);
  if (with_offsets) out->offsets.resize(start + kept);
}

void AppendSpecial(const TemplatePiece& piece, const EncodeOptions& options, Encoding* out) {
  if (!options.add_special_tokens) return;
  out->ids.insert(out->ids.end(), piece.ids.begin(), piece.ids.end());
  out->type_ids.resize(out->ids.size(), piece.type_id);
  if (options.with_offsets) out->offsets.resize(out->ids.size());
}

// `tokens` cut to `kept`, appended to *out.
void AppendTokens(const Encoding& tokens, size_t kept, int32_t type_id, Encoding* out) {
  const auto count = static_cast<ptrdiff_t>(kept);
  out->ids.insert(out->ids.end(), tokens.ids.begin(), tokens.ids.begin() + count);
  out->type_ids.resize(out->ids.size(), type_id);
  if (tokens.offsets.empty()) return;
  out->offsets.insert(out->offsets.end(), tokens.offsets.begin(), tokens.offsets.begin() + count);
}

// Ids as the library assigns them: a token that the model knows has the model's id, the others are
// numbered behind the vocabulary in the order of the file, whatever id stands there. Of two entries
// for one token the later counts.
Status AssignIds(const WordPiece& model, std::vector<AddedToken>* tokens) {
  std::map<std::string, AddedToken> latest;
  auto next = static_cast<int32_t>(model.vocab_size());
  for (AddedToken& token : *tokens) {
    if (token.content.empty()) continue;
    const auto known = latest.find(token.content);
    const int32_t in_model = model.Find(token.content);
    token.id = known != latest.end() ? known->second.id : in_model >= 0 ? in_model : next++;
    latest[token.content] = token;
  }
  tokens->clear();
  std::set<int32_t> ids;
  for (auto& [content, token] : latest) {
    // Only when the model's ids have gaps: a new number then is an old one of the model's.
    if (!ids.insert(token.id).second) {
      return InvalidError("added token \"" + content + "\" has the id of another one");
    }
    tokens->push_back(std::move(token));
  }
  return Status::Ok();
}

}  // namespace

struct Tokenizer::Parts {
  SequenceModel model;
  std::map<std::string, int32_t, std::less<>> added;  // ids of added tokens
  Template single;
  Template pair;
  std::optional<size_t> max_length;
  int32_t pad_id = 0;
  int32_t pad_type_id = 0;
  size_t vocab_size = 0;
  int32_t largest_id = 0;

  static Result<std::unique_ptr<const Parts>> Create(TokenizerFile file);
};

namespace {

// The matcher for those of `tokens` that are to be looked for in normalised text, or for the
// others.
Result<AddedTokenMatcher> MakeMatcher(const std::vector<AddedToken>& tokens, bool normalized,
                                      const Normalizer& normalizer) {
  std::vector<AddedToken> chosen;
  std::vector<std::string> patterns;
  for (const AddedToken& token : tokens) {
    if (token.normalized != normalized) continue;
    NormalizedText pattern{token.content, {}};
    if (normalized) {
      pattern.Clear();
      normalizer.Append(token.content, &pattern);
    }
    chosen.push_back(token);
    patterns.push_back(std::move(pattern.text));
  }
  return AddedTokenMatcher::Create(std::move(chosen), patterns);
}

}  // namespace

Result<std::unique_ptr<const Tokenizer::Parts>> Tokenizer::Parts::Create(TokenizerFile file) {
  auto word_piece = WordPiece::Create(file.model);
  if (!word_piece.ok()) return word_piece.status().WithContext("model");
  if (Status status = AssignIds(word_piece.value(), &file.added_tokens); !status.ok()) {
    return status.WithContext("added_tokens");
  }
  const Normalizer normalizer(file.normalizer);
  auto raw = MakeMatcher(file.added_tokens, false, normalizer);
  if (!raw.ok()) return raw.status().WithContext("added_tokens");
  auto normalized = MakeMatcher(file.added_tokens, true, normalizer);
  if (!normalized.ok()) return normalized.status().WithContext("added_tokens");

  auto parts = std::make_unique<Parts>(
      Parts{.model = {std::move(raw).value(), normalizer, std::move(normalized).value(),
                      file.bert_pre_tokenizer, std::move(word_piece).value()},
            .added = {},
            .single = std::move(file.single),
            .pair = std::move(file.pair),
            .max_length = file.max_length,
            .pad_type_id = file.pad_type_id});
  const WordPiece& words = parts->model.word_piece;
  parts->vocab_size = words.vocab_size();
  parts->largest_id = words.largest_id();
  for (const AddedToken& token : file.added_tokens) {
    parts->added[token.content] = token.id;
    parts->vocab_size += words.Find(token.content) < 0;
    parts->largest_id = std::max(parts->largest_id, token.id);
  }
  const auto pad = parts->added.find("[PAD]");
  const int32_t pad_token = pad != parts->added.end() ? pad->second : words.Find("[PAD]");
  parts->pad_id = file.pad_id.value_or(std::max(pad_token, 0));
  return std::unique_ptr<const Parts>(std::move(parts));
}

Tokenizer::Tokenizer(std::unique_ptr<const Parts> parts) : parts_(std::move(parts)) {}
Tokenizer::~Tokenizer() = default;

Result<std::unique_ptr<const Tokenizer>> Tokenizer::FromFile(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  const std::string json((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  if (!in.is_open() || in.bad()) return NotFoundError(path + ": cannot be read");
  return FromJson(json, path);
}

Result<std::unique_ptr<const Tokenizer>> Tokenizer::FromJson(std::string_view json,
                                                             std::string_view name) {
  auto file = ParseTokenizerFile(json);
  if (!file.ok()) return file.status().WithContext(name);
  auto parts = Parts::Create(std::move(file).value());
  if (!parts.ok()) return parts.status().WithContext(name);
  return std::unique_ptr<const Tokenizer>(new Tokenizer(std::move(parts).value()));
}

Status Tokenizer::Encode(std::string_view text, const EncodeOptions& options, Encoding* out) const {
  out->Clear();
  RETURN_IF_ERROR(CheckText(text));
  ASSIGN_OR_RETURN(const size_t room, Room(options, parts_->single));
  for (const TemplatePiece& piece : parts_->single) {
    if (piece.kind == Kind::kSpecial) {
      AppendSpecial(piece, options, out);
      continue;
    }
    const size_t start = out->ids.size();
    SequenceEncoder encoder(parts_->model, options.with_offsets);
    const size_t tokens = encoder.Run(text, room, out);
    out->truncated = tokens > room;
    FinishText(start, std::min(tokens, room), piece.type_id, options.with_offsets, out);
  }
  return Status::Ok();
}

Status Tokenizer::EncodePair(std::string_view text, std::string_view pair,
                             const EncodeOptions& options, Encoding* out) const {
  out->Clear();
  RETURN_IF_ERROR(CheckText(text));
  RETURN_IF_ERROR(CheckText(pair));
  ASSIGN_OR_RETURN(const size_t room, Room(options, parts_->pair));
  SequenceEncoder encoder(parts_->model, options.with_offsets);
  Encoding first;
  Encoding second;
  size_t first_tokens = encoder.Run(text, room, &first);
  size_t second_tokens = encoder.Run(pair, room, &second);
  // Both are cut alike, but of an odd number the longer text has one more: which one is it?
  if (first_tokens > room && second_tokens > room && room % 2 == 1) {
    first.Clear();
    second.Clear();
    first_tokens = encoder.Run(text, SequenceEncoder::kNoLimit, &first);
    second_tokens = encoder.Run(pair, SequenceEncoder::kNoLimit, &second);
  }
  const auto [first_kept, second_kept] = SharePair(first_tokens, second_tokens, room);
  for (const TemplatePiece& piece : parts_->pair) {
    switch (piece.kind) {
      case Kind::kSpecial:
        AppendSpecial(piece, options, out);
        break;
      case Kind::kFirst:
        AppendTokens(first, first_kept, piece.type_id, out);
        break;
      case Kind::kSecond:
        AppendTokens(second, second_kept, piece.type_id, out);
        break;
    }
  }
  out->truncated = first_kept < first_tokens || second_kept < second_tokens;
  out->bytes_read = first.bytes_read + second.bytes_read;
  return Status::Ok();
}

std::string_view Tokenizer::kind() const { return "WordPiece"; }
size_t Tokenizer::vocab_size() const { return parts_->vocab_size; }
int32_t Tokenizer::largest_id() const { return parts_->largest_id; }
size_t Tokenizer::added_by_encode() const { return SpecialTokens(parts_->single); }
size_t Tokenizer::added_by_encode_pair() const { return SpecialTokens(parts_->pair); }
std::optional<size_t> Tokenizer::file_max_length() const { return parts_->max_length; }
int32_t Tokenizer::pad_id() const { return parts_->pad_id; }
int32_t Tokenizer::pad_type_id() const { return parts_->pad_type_id; }

Result<int32_t> Tokenizer::TokenToId(std::string_view token) const {
  const auto added = parts_->added.find(token);
  if (added != parts_->added.end()) return added->second;
  const int32_t id = parts_->model.word_piece.Find(token);
  if (id < 0) return NotFoundError("no token \"" + std::string(token) + "\"");
  return id;
}

}  // namespace gimbal::preprocess
