#include "codec/row_decode.h"

#include <fmt/format.h>

namespace gimbal::codec {

Status WrongType(std::string_view where, std::string_view expected, JsonValue got) {
  return InvalidError(
      fmt::format("{}: expected {}, got {}", where, expected, JsonTypeName(got.type())));
}

Result<std::string> DecodeText(JsonValue value, std::string_view where,
                               const DecodeLimits& limits) {
  if (!value.is(JsonType::kString)) return WrongType(where, "a string", value);
  const std::string_view text = value.string();
  if (text.empty()) return InvalidError(fmt::format("{}: the text is empty", where));
  if (std::cmp_greater(text.size(), limits.max_text.value)) {
    return TooLargeError(fmt::format("{}: the text has {} bytes, the limit is {} (limits.max_text)",
                                     where, text.size(), FormatBytes(limits.max_text)));
  }
  return std::string(text);
}

Status CheckRowCount(size_t rows, std::string_view where, const DecodeLimits& limits) {
  if (rows == 0) {
    return InvalidError(fmt::format("{}: expected at least one row, got an empty list", where));
  }
  if (rows > limits.max_rows) {
    return TooLargeError(fmt::format("{}: {} rows, the limit is {} (limits.max_rows_per_request)",
                                     where, rows, limits.max_rows));
  }
  return Status::Ok();
}

}  // namespace gimbal::codec
