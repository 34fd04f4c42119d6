#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "net/http_message.h"

namespace gimbal::frontend {

// The client's X-Request-Id when it is fit to be echoed and logged (1 to 128 printable ASCII
// characters without spaces), else nothing.
std::optional<std::string> RequestIdOf(const net::RequestHead& head);

// X-Timeout-Ms: nothing when absent, kInvalid when it is no positive number.
Result<std::optional<Duration>> TimeoutOf(const net::RequestHead& head);

// kUnsupportedMedia unless the body is JSON in UTF-8 without encoding. No Content-Type is taken as
// JSON.
Status CheckJsonBody(const net::RequestHead& head);

}  // namespace gimbal::frontend
