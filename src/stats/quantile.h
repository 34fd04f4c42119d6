#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace gimbal::stats {

// Quantiles of samples are nearest-rank everywhere in Gimbal: the q-quantile of n samples is the
// ceil(q·n)-th smallest (the smallest for q = 0), so it is always a value that was measured.
// All samples are finite; empty input gives NaN.
double QuantileOfSorted(std::span<const double> ascending, double q);
double Quantile(std::vector<double> samples, double q);
double Mean(std::span<const double> samples);

// Fewest samples from which the q-quantile may be printed: ten are expected beyond it (1000 for a
// p99, 20 for a median), so that it does not hang on a handful of them.
uint64_t SamplesNeeded(double q);
inline bool MayPrintQuantile(uint64_t samples, double q) { return samples >= SamplesNeeded(q); }

}  // namespace gimbal::stats
