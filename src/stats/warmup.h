#pragma once

#include <cstddef>
#include <optional>
#include <span>

namespace gimbal::stats {

// How many samples at the start of a series (in order of time) belong to the warm-up, by MSER-5:
// of all multiples of five, the cut that leaves the rest's mean with the smallest standard error.
// None when that cut lies in the second half: the series never settled, and no part of it may be
// reported as the steady state.
std::optional<size_t> WarmUpSamples(std::span<const double> in_order);

}  // namespace gimbal::stats
