#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "codec/answer.h"
#include "codec/json_reader.h"
#include "model/request.h"

namespace gimbal::codec {

// `where: expected E, got a number`.
Status WrongType(std::string_view where, std::string_view expected, JsonValue got);

// A text within the limits, copied; `where` names it in messages: "inputs[1]".
Result<std::string> DecodeText(JsonValue value, std::string_view where, const DecodeLimits& limits);

// Refuses a list that is empty or longer than the limit.
Status CheckRowCount(size_t rows, std::string_view where, const DecodeLimits& limits);

}  // namespace gimbal::codec
