#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace gimbal::codec {

enum class JsonType { kNull, kBool, kNumber, kString, kArray, kObject };

// With its article, for messages: "a number", "null".
std::string_view JsonTypeName(JsonType type);

struct JsonMember;

// A value inside a JsonDocument; valid as long as the document. Copying is free.
class JsonValue {
 public:
  JsonType type() const;
  bool is(JsonType t) const { return type() == t; }

  // REQUIRES: the type fits.
  std::string_view string() const;  // unescaped; valid UTF-8
  bool boolean() const;
  double number() const;
  std::optional<int64_t> integer() const;  // nothing when it is no integer of that range
  size_t size() const;                     // of an array or object; at most 16777215 is told
  std::vector<JsonValue> elements() const;
  std::vector<JsonMember> members() const;  // in order, duplicates included

 private:
  friend class JsonDocument;
  friend struct JsonAccess;
  const void* document_ = nullptr;
  size_t index_ = 0;
};

struct JsonMember {
  std::string_view key;
  JsonValue value;
};

// A parsed JSON text: complete, valid UTF-8, nothing after the value. Immutable after Parse. The
// vendor's parser stays behind this class.
class JsonDocument {
 public:
  // kInvalid, with what is wrong and, for bad UTF-8, where. Nesting over 64 levels, numbers outside
  // double and integers outside 64 bits are refused. `name` is how messages call the text: "body".
  static Result<JsonDocument> Parse(std::string_view text, std::string_view name);

  JsonDocument(JsonDocument&&) noexcept;
  JsonDocument& operator=(JsonDocument&&) noexcept;
  ~JsonDocument();

  JsonValue root() const;

 private:
  struct Impl;
  explicit JsonDocument(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace gimbal::codec
