#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace gimbal {

// Appends JSON to a string, with commas and escapes in the right places. The only JSON writer:
// logs, answers and reports use it. Numbers that JSON cannot hold (NaN, infinities) become null.
//
//   JsonWriter w;
//   w.BeginObject().Key("rows").Int(3).Key("texts").BeginArray().String("a").EndArray().EndObject();
//   w.str()  // {"rows": 3 ...} without spaces
//
// REQUIRES: calls that nest properly; text may be any bytes (invalid UTF-8 becomes U+FFFD).
class JsonWriter {
 public:
  JsonWriter& BeginObject() { return Open('{'); }
  JsonWriter& EndObject() { return Close('}'); }
  JsonWriter& BeginArray() { return Open('['); }
  JsonWriter& EndArray() { return Close(']'); }
  JsonWriter& Key(std::string_view key);
  JsonWriter& String(std::string_view text);
  JsonWriter& Int(int64_t value);
  JsonWriter& Uint(uint64_t value);
  JsonWriter& Float(float value);    // shortest form that reads back as the same float
  JsonWriter& Double(double value);  // shortest form that reads back as the same double
  JsonWriter& Fixed(double value, int decimals);  // for figures read by people
  JsonWriter& Bool(bool value);
  JsonWriter& Null();
  JsonWriter& Raw(std::string_view json);  // REQUIRES: one valid JSON value

  const std::string& str() const { return out_; }
  std::string Take() && { return std::move(out_); }
  void Reserve(size_t bytes) { out_.reserve(bytes); }

 private:
  JsonWriter& Open(char c);
  JsonWriter& Close(char c);
  void Separate();

  std::string out_;
  bool need_comma_ = false;
};

}  // namespace gimbal
