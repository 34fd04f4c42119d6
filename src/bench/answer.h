#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "bench/target.h"
#include "model/names.h"

namespace gimbal::bench {

// Stages with a duration in a Server-Timing header ("queue;dur=1.5, model;desc=x;dur=3"), in order.
// What is not well formed is left out; `total` too, because it is no stage. Views into `header`.
void ParseServerTiming(std::string_view header, std::vector<StageTime>& stages);

// Why this answer is no success: the `type` of its error body, "http_STATUS" when it tells none,
// "partial" when some of its rows failed, "malformed" when it is not of the protocol; empty: it is
// good.
std::string AnswerError(model::Protocol protocol, int status, std::string_view body);

// `batch_size` of the native answer's cost; 0 when there is none.
double BatchSizeOfCost(std::string_view body);

}  // namespace gimbal::bench
