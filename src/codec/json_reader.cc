#include "codec/json_reader.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <bit>

#include "base/utf8.h"

namespace gimbal::codec {
namespace {

namespace dom = simdjson::dom;

constexpr size_t kMaxDepth = 64;

// simdjson numbers its stages differently from what a client wants to know.
std::string_view Explain(simdjson::error_code error) {
  switch (error) {
    case simdjson::DEPTH_ERROR:
      return "it is nested deeper than 64 levels";
    case simdjson::STRING_ERROR:
      return "a string has an invalid escape (or half of a surrogate pair)";
    case simdjson::T_ATOM_ERROR:
    case simdjson::F_ATOM_ERROR:
    case simdjson::N_ATOM_ERROR:
      return "a bare word is none of true, false and null";
    case simdjson::NUMBER_ERROR:
      return "a number is malformed or out of range";
    case simdjson::EMPTY:
      return "it is empty";
    case simdjson::UNESCAPED_CHARS:
      return "a string holds a control character that is not escaped";
    case simdjson::UNCLOSED_STRING:
      return "a string is not closed";
    case simdjson::CAPACITY:
    case simdjson::MEMALLOC:
      return "it is too large to be parsed";
    default:
      return "its structure is broken (a missing or misplaced bracket, comma or colon)";
  }
}

Status Malformed(std::string_view name, std::string_view why) {
  return InvalidError(fmt::format("{} is not valid JSON: {}", name, why));
}

}  // namespace

// The facade keeps the vendor's element as two plain words, so that the header needs no vendor.
struct JsonAccess {
  static_assert(sizeof(dom::element) == 2 * sizeof(size_t));
  static_assert(std::is_trivially_copyable_v<dom::element>);
  struct Words {
    const void* document;
    size_t index;
  };
  static dom::element Of(const JsonValue& value) {
    return std::bit_cast<dom::element>(Words{value.document_, value.index_});
  }
  static JsonValue Wrap(dom::element element) {
    const auto words = std::bit_cast<Words>(element);
    JsonValue out;
    out.document_ = words.document;
    out.index_ = words.index;
    return out;
  }
};

std::string_view JsonTypeName(JsonType type) {
  switch (type) {
    case JsonType::kNull:
      return "null";
    case JsonType::kBool:
      return "a boolean";
    case JsonType::kNumber:
      return "a number";
    case JsonType::kString:
      return "a string";
    case JsonType::kArray:
      return "a list";
    case JsonType::kObject:
      return "an object";
  }
  return "";
}

JsonType JsonValue::type() const {
  switch (JsonAccess::Of(*this).type()) {
    case dom::element_type::ARRAY:
      return JsonType::kArray;
    case dom::element_type::OBJECT:
      return JsonType::kObject;
    case dom::element_type::INT64:
    case dom::element_type::UINT64:
    case dom::element_type::DOUBLE:
      return JsonType::kNumber;
    case dom::element_type::STRING:
      return JsonType::kString;
    case dom::element_type::BOOL:
      return JsonType::kBool;
    case dom::element_type::NULL_VALUE:
      break;
  }
  return JsonType::kNull;
}

std::string_view JsonValue::string() const {
  std::string_view out;
  CHECK(!JsonAccess::Of(*this).get_string().get(out), "the caller has looked at the type");
  return out;
}

bool JsonValue::boolean() const {
  bool out = false;
  CHECK(!JsonAccess::Of(*this).get_bool().get(out), "the caller has looked at the type");
  return out;
}

double JsonValue::number() const {
  double out = 0;
  CHECK(!JsonAccess::Of(*this).get_double().get(out), "the caller has looked at the type");
  return out;
}

std::optional<int64_t> JsonValue::integer() const {
  int64_t out = 0;
  if (JsonAccess::Of(*this).get_int64().get(out)) return std::nullopt;
  return out;
}

size_t JsonValue::size() const {
  const dom::element element = JsonAccess::Of(*this);
  if (dom::array array; !element.get_array().get(array)) return array.size();
  if (dom::object object; !element.get_object().get(object)) return object.size();
  return 0;
}

std::vector<JsonValue> JsonValue::elements() const {
  dom::array array;
  CHECK(!JsonAccess::Of(*this).get_array().get(array), "the caller has looked at the type");
  std::vector<JsonValue> out;
  out.reserve(array.size());
  for (const dom::element element : array) out.push_back(JsonAccess::Wrap(element));
  return out;
}

std::vector<JsonMember> JsonValue::members() const {
  dom::object object;
  CHECK(!JsonAccess::Of(*this).get_object().get(object), "the caller has looked at the type");
  std::vector<JsonMember> out;
  out.reserve(object.size());
  for (const auto& [key, value] : object) out.push_back({key, JsonAccess::Wrap(value)});
  return out;
}

struct JsonDocument::Impl {
  dom::parser parser;
  dom::element root;
};

JsonDocument::JsonDocument(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
JsonDocument::JsonDocument(JsonDocument&&) noexcept = default;
JsonDocument& JsonDocument::operator=(JsonDocument&&) noexcept = default;
JsonDocument::~JsonDocument() = default;

JsonValue JsonDocument::root() const { return JsonAccess::Wrap(impl_->root); }

Result<JsonDocument> JsonDocument::Parse(std::string_view text, std::string_view name) {
  auto impl = std::make_unique<Impl>();
  // allocate() is what sets the depth; parse() keeps it as long as the capacity is enough.
  simdjson::error_code error = impl->parser.allocate(std::max<size_t>(text.size(), 32), kMaxDepth);
  if (!error) error = impl->parser.parse(text.data(), text.size(), true).get(impl->root);
  if (error) {
    // The parser reports broken structure before broken UTF-8, which is the more precise answer.
    if (const size_t valid = ValidUtf8Prefix(text); valid < text.size()) {
      return InvalidError(fmt::format("{} is not valid UTF-8 at byte {}", name, valid));
    }
    return Malformed(name, Explain(error));
  }
  return JsonDocument(std::move(impl));
}

}  // namespace gimbal::codec
