#pragma once

#include <chrono>
#include <span>
#include <string>
#include <string_view>

#include "codec/answer.h"
#include "model/names.h"

namespace gimbal::codec {

// The failure of a whole request in the protocol's shape:
//   native  {"id"?, "status": "error", "type", "reason", "retry_after_ms"?}
//   openai  {"error": {"message", "type", "param", "code", "retry_after_ms"?}}   (code: our `type`)
//   kserve  {"error", "retry_after_ms"?}
// `label` is the client's id (native) or the field at fault (openai); empty: left out or null.
// REQUIRES: !status.ok().
Answer EncodeError(model::Protocol protocol, const Status& status, std::string_view label);

// Value of Retry-After: whole seconds, rounded up, at least 1.
std::string RetryAfterSeconds(std::chrono::milliseconds after);

// `, did you mean "text"?` when one of `known` is close to `word`, else empty.
std::string DidYouMean(std::string_view word, std::span<const std::string_view> known);

}  // namespace gimbal::codec
