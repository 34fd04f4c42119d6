#pragma once

#include <span>
#include <string_view>

#include "base/clock.h"
#include "codec/answer.h"
#include "model/request.h"

namespace gimbal::codec {

// A native request, and whether it was a list (`inputs`), on which the answer's form depends.
struct NativeRequest {
  model::InferRequest request;
  bool many = false;
};

// Body of POST /v1/infer/{model}. A row that is at fault carries its own error; an error of the
// request as a whole is returned (`out.request.id` then still holds the id, when it could be read).
// Unknown and repeated fields are refused.
Status DecodeNative(std::string_view body, const DecodeLimits& limits, NativeRequest& out);

// The `cost` object: how long each stage took. Names come from the caller, in order.
struct StageCost {
  std::string_view name;  // "receive" -> "receive_ms"
  Duration time;
};
struct NativeCost {
  std::span<const StageCost> stages;
  Duration total;
};

// The answer to one row, or to a list. A single row that failed is a whole failure.
Answer EncodeNative(std::string_view id, bool many, const model::InferResponse& response,
                    const NativeCost& cost);

}  // namespace gimbal::codec
