#include "preprocess/text/tokenizer_file.h"

#include <simdjson.h>

#include <limits>
#include <utility>

namespace gimbal::preprocess {
namespace {

using simdjson::dom::array;
using simdjson::dom::element;
using simdjson::dom::object;

template <typename T>
constexpr const char* kTypeName = "";
template <>
constexpr const char* kTypeName<bool> = "true or false";
template <>
constexpr const char* kTypeName<std::string_view> = "a string";
template <>
constexpr const char* kTypeName<uint64_t> = "a whole number";
template <>
constexpr const char* kTypeName<object> = "an object";
template <>
constexpr const char* kTypeName<array> = "an array";

// A value and its path in the file, for errors.
struct Node {
  element value;
  std::string path;

  bool IsNull() const { return value.is_null(); }

  template <typename T>
  Result<T> As() const {
    T out;
    if (value.get(out) != simdjson::SUCCESS) {
      return InvalidError(path + " is not " + kTypeName<T>);
    }
    return out;
  }

  // The member `key`, or nothing when it is missing or null. REQUIRES: *this is an object.
  std::optional<Node> Find(std::string_view key) const {
    element member;
    if (value[key].get(member) != simdjson::SUCCESS || member.is_null()) return std::nullopt;
    return Node{member, (path.empty() ? "" : path + ".") + std::string(key)};
  }

  Result<Node> Member(std::string_view key) const {
    if (!value.is_object()) return InvalidError(path + " is not an object");
    if (const std::optional<Node> member = Find(key)) return *member;
    return InvalidError((path.empty() ? "" : path + ".") + std::string(key) + " is missing");
  }

  template <typename T>
  Result<T> MemberAs(std::string_view key) const {
    ASSIGN_OR_RETURN(const Node member, Member(key));
    return member.As<T>();
  }
};

Result<int32_t> AsId(const Node& node) {
  ASSIGN_OR_RETURN(const uint64_t id, node.As<uint64_t>());
  if (id > std::numeric_limits<int32_t>::max()) return InvalidError(node.path + " is too large");
  return static_cast<int32_t>(id);
}

Result<int32_t> MemberId(const Node& node, std::string_view key) {
  ASSIGN_OR_RETURN(const Node member, node.Member(key));
  return AsId(member);
}

// The elements of an array, each with its path.
Result<std::vector<Node>> Elements(const Node& node) {
  ASSIGN_OR_RETURN(const array values, node.As<array>());
  std::vector<Node> out;
  for (const element value : values) {
    out.push_back({value, node.path + "[" + std::to_string(out.size()) + "]"});
  }
  return out;
}

Result<std::string_view> TypeOf(const Node& node) {
  return node.MemberAs<std::string_view>("type");
}

Status Unsupported(const Node& node, std::string_view type) {
  return InvalidError("unsupported " + node.path + " \"" + std::string(type) + "\"");
}

Status ReadNormalizer(const Node& root, Normalizer::Options* out) {
  const std::optional<Node> node = root.Find("normalizer");
  if (!node) return Status::Ok();
  ASSIGN_OR_RETURN(const std::string_view type, TypeOf(*node));
  if (type != "BertNormalizer") return Unsupported(*node, type);
  ASSIGN_OR_RETURN(out->clean_text, node->MemberAs<bool>("clean_text"));
  ASSIGN_OR_RETURN(out->handle_chinese_chars, node->MemberAs<bool>("handle_chinese_chars"));
  ASSIGN_OR_RETURN(out->lowercase, node->MemberAs<bool>("lowercase"));
  out->strip_accents = out->lowercase;  // null means: with lowercase
  if (node->Find("strip_accents")) {
    ASSIGN_OR_RETURN(out->strip_accents, node->MemberAs<bool>("strip_accents"));
  }
  return Status::Ok();
}

Status ReadPreTokenizer(const Node& root, bool* bert) {
  const std::optional<Node> node = root.Find("pre_tokenizer");
  *bert = node.has_value();
  if (!node) return Status::Ok();
  ASSIGN_OR_RETURN(const std::string_view type, TypeOf(*node));
  if (type != "BertPreTokenizer") return Unsupported(*node, type);
  return Status::Ok();
}

Status ReadModel(const Node& root, WordPiece::Options* out) {
  ASSIGN_OR_RETURN(const Node node, root.Member("model"));
  // Files of old versions have no type, but no other model has these members.
  const bool typed = !node.value.is_object() || node.Find("type") || !node.Find("unk_token") ||
                     !node.Find("max_input_chars_per_word");
  if (typed) {
    ASSIGN_OR_RETURN(const std::string_view type, TypeOf(node));
    if (type != "WordPiece") return Unsupported(node, type);
  }
  ASSIGN_OR_RETURN(out->unk_token, node.MemberAs<std::string_view>("unk_token"));
  ASSIGN_OR_RETURN(out->continuing_subword_prefix,
                   node.MemberAs<std::string_view>("continuing_subword_prefix"));
  ASSIGN_OR_RETURN(out->max_input_chars_per_word,
                   node.MemberAs<uint64_t>("max_input_chars_per_word"));
  ASSIGN_OR_RETURN(const object vocab, node.MemberAs<object>("vocab"));
  out->vocab.reserve(vocab.size());
  for (const auto& [token, id] : vocab) {
    const std::string path = "model.vocab[\"" + std::string(token) + "\"]";
    ASSIGN_OR_RETURN(const int32_t number, AsId({id, path}));
    out->vocab.emplace_back(token, number);
  }
  return Status::Ok();
}

Status ReadAddedTokens(const Node& root, std::vector<AddedToken>* out) {
  const std::optional<Node> node = root.Find("added_tokens");
  if (!node) return Status::Ok();
  ASSIGN_OR_RETURN(const std::vector<Node> entries, Elements(*node));
  for (const Node& entry : entries) {
    AddedToken token;
    ASSIGN_OR_RETURN(token.id, MemberId(entry, "id"));
    ASSIGN_OR_RETURN(token.content, entry.MemberAs<std::string_view>("content"));
    ASSIGN_OR_RETURN(token.single_word, entry.MemberAs<bool>("single_word"));
    ASSIGN_OR_RETURN(token.lstrip, entry.MemberAs<bool>("lstrip"));
    ASSIGN_OR_RETURN(token.rstrip, entry.MemberAs<bool>("rstrip"));
    ASSIGN_OR_RETURN(token.normalized, entry.MemberAs<bool>("normalized"));
    ASSIGN_OR_RETURN(token.special, entry.MemberAs<bool>("special"));
    out->push_back(std::move(token));
  }
  return Status::Ok();
}

// [token, id], as BertProcessing has them.
Result<TemplatePiece> TokenAndId(const Node& processor, std::string_view key, int32_t type_id) {
  ASSIGN_OR_RETURN(const Node node, processor.Member(key));
  ASSIGN_OR_RETURN(const std::vector<Node> both, Elements(node));
  if (both.size() != 2) return InvalidError(node.path + " is not a token and its id");
  ASSIGN_OR_RETURN(const int32_t id, AsId(both[1]));
  return TemplatePiece{TemplatePiece::Kind::kSpecial, type_id, {id}};
}

Status ReadBertProcessing(const Node& node, TokenizerFile* out) {
  ASSIGN_OR_RETURN(const TemplatePiece cls, TokenAndId(node, "cls", 0));
  ASSIGN_OR_RETURN(const TemplatePiece sep, TokenAndId(node, "sep", 0));
  ASSIGN_OR_RETURN(const TemplatePiece last, TokenAndId(node, "sep", 1));
  const TemplatePiece first{TemplatePiece::Kind::kFirst, 0, {}};
  const TemplatePiece second{TemplatePiece::Kind::kSecond, 1, {}};
  out->single = {cls, first, sep};
  out->pair = {cls, first, sep, second, last};
  return Status::Ok();
}

Result<TemplatePiece> ReadSequencePiece(const Node& node) {
  TemplatePiece piece;
  ASSIGN_OR_RETURN(const std::string_view id, node.MemberAs<std::string_view>("id"));
  if (id != "A" && id != "B") return InvalidError(node.path + ".id is neither \"A\" nor \"B\"");
  piece.kind = id == "A" ? TemplatePiece::Kind::kFirst : TemplatePiece::Kind::kSecond;
  ASSIGN_OR_RETURN(piece.type_id, MemberId(node, "type_id"));
  return piece;
}

Result<TemplatePiece> ReadSpecialPiece(const Node& node, const Node& special_tokens) {
  TemplatePiece piece{TemplatePiece::Kind::kSpecial, 0, {}};
  ASSIGN_OR_RETURN(piece.type_id, MemberId(node, "type_id"));
  ASSIGN_OR_RETURN(const std::string_view name, node.MemberAs<std::string_view>("id"));
  ASSIGN_OR_RETURN(const Node token, special_tokens.Member(name));
  ASSIGN_OR_RETURN(const Node ids, token.Member("ids"));
  ASSIGN_OR_RETURN(const std::vector<Node> values, Elements(ids));
  for (const Node& value : values) {
    ASSIGN_OR_RETURN(const int32_t id, AsId(value));
    piece.ids.push_back(id);
  }
  return piece;
}

Status ReadTemplate(const Node& processor, std::string_view key, Template* out) {
  ASSIGN_OR_RETURN(const Node special_tokens, processor.Member("special_tokens"));
  ASSIGN_OR_RETURN(const Node node, processor.Member(key));
  ASSIGN_OR_RETURN(const std::vector<Node> entries, Elements(node));
  for (const Node& entry : entries) {
    if (!entry.value.is_object()) return InvalidError(entry.path + " is not an object");
    if (const std::optional<Node> sequence = entry.Find("Sequence")) {
      ASSIGN_OR_RETURN(TemplatePiece piece, ReadSequencePiece(*sequence));
      out->push_back(std::move(piece));
    } else {
      ASSIGN_OR_RETURN(const Node special, entry.Member("SpecialToken"));
      ASSIGN_OR_RETURN(TemplatePiece piece, ReadSpecialPiece(special, special_tokens));
      out->push_back(std::move(piece));
    }
  }
  return Status::Ok();
}

int CountOf(const Template& pieces, TemplatePiece::Kind kind) {
  int count = 0;
  for (const TemplatePiece& piece : pieces) count += piece.kind == kind;
  return count;
}

Status ReadTemplateProcessing(const Node& node, TokenizerFile* out) {
  RETURN_IF_ERROR(ReadTemplate(node, "single", &out->single));
  RETURN_IF_ERROR(ReadTemplate(node, "pair", &out->pair));
  using Kind = TemplatePiece::Kind;
  // Each text stands once, so that a length can be kept by cutting the texts.
  if (CountOf(out->single, Kind::kFirst) != 1 || CountOf(out->single, Kind::kSecond) != 0) {
    return InvalidError(node.path + ".single does not have sequence A once and no B");
  }
  if (CountOf(out->pair, Kind::kFirst) != 1 || CountOf(out->pair, Kind::kSecond) != 1) {
    return InvalidError(node.path + ".pair does not have each of the sequences A and B once");
  }
  return Status::Ok();
}

Status ReadPostProcessor(const Node& root, TokenizerFile* out) {
  const std::optional<Node> node = root.Find("post_processor");
  if (!node) {
    out->single = {{TemplatePiece::Kind::kFirst, 0, {}}};
    out->pair = {{TemplatePiece::Kind::kFirst, 0, {}}, {TemplatePiece::Kind::kSecond, 1, {}}};
    return Status::Ok();
  }
  ASSIGN_OR_RETURN(const std::string_view type, TypeOf(*node));
  if (type == "BertProcessing") return ReadBertProcessing(*node, out);
  if (type == "TemplateProcessing") return ReadTemplateProcessing(*node, out);
  return Unsupported(*node, type);
}

Status ReadLimits(const Node& root, TokenizerFile* out) {
  if (const std::optional<Node> truncation = root.Find("truncation")) {
    ASSIGN_OR_RETURN(const uint64_t max_length, truncation->MemberAs<uint64_t>("max_length"));
    out->max_length = max_length;
    if (truncation->Find("direction")) {
      ASSIGN_OR_RETURN(const Node direction, truncation->Member("direction"));
      ASSIGN_OR_RETURN(const std::string_view side, direction.As<std::string_view>());
      if (side != "Right") return Unsupported(direction, side);
    }
  }
  if (const std::optional<Node> padding = root.Find("padding")) {
    ASSIGN_OR_RETURN(out->pad_id, MemberId(*padding, "pad_id"));
    ASSIGN_OR_RETURN(out->pad_type_id, MemberId(*padding, "pad_type_id"));
  }
  return Status::Ok();
}

}  // namespace

Result<TokenizerFile> ParseTokenizerFile(std::string_view json) {
  simdjson::dom::parser parser;
  Node root;
  if (const auto error = parser.parse(json.data(), json.size()).get(root.value)) {
    return InvalidError(std::string("not JSON: ") + simdjson::error_message(error));
  }
  if (!root.value.is_object()) return InvalidError("not a JSON object");
  TokenizerFile file;
  if (const std::optional<Node> version = root.Find("version")) {
    ASSIGN_OR_RETURN(const std::string_view name, version->As<std::string_view>());
    if (name != "1.0") return Unsupported(*version, name);
  }
  RETURN_IF_ERROR(ReadNormalizer(root, &file.normalizer));
  RETURN_IF_ERROR(ReadPreTokenizer(root, &file.bert_pre_tokenizer));
  RETURN_IF_ERROR(ReadModel(root, &file.model));
  RETURN_IF_ERROR(ReadAddedTokens(root, &file.added_tokens));
  RETURN_IF_ERROR(ReadPostProcessor(root, &file));
  RETURN_IF_ERROR(ReadLimits(root, &file));
  return file;
}

}  // namespace gimbal::preprocess
