#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "base/status.h"
#include "base/units.h"

namespace gimbal::codec {

// What a client may send at most. The setting's name is part of each refusal.
struct DecodeLimits {
  size_t max_rows = 512;    // limits.max_rows_per_request
  Bytes max_text = MiB(1);  // of one text; limits.max_text
};

// An encoded answer, ready for any transport.
struct Answer {
  int http_status = 200;
  Code code = Code::kOk;  // of the request as a whole
  std::string body;
  std::optional<std::chrono::milliseconds> retry_after;
};

}  // namespace gimbal::codec
