#pragma once

#include <optional>
#include <span>

namespace gimbal::stats {

struct Interval {
  double low = 0;
  double high = 0;
};

double NormalQuantile(double p);                   // 0 < p < 1
double StudentQuantile(double p, double freedom);  // 0 < p < 1, freedom >= 3; error below 0.2 %

// Integrated autocorrelation time of a series in samples (1: independent): how many successive
// samples hold the information of one independent sample.
double AutocorrelationTime(std::span<const double> series);

// Confidence interval of the q-quantile of a stationary series in order of time, whose neighbours
// may depend on each other, as latencies of one queue do. The share of samples at most the quantile
// is averaged over batches much longer than the autocorrelation time; Student's interval of that
// share is read back through the order statistics, so ends are measured values and may be
// asymmetric. None when the series is too short for the quantile, or for its own autocorrelation:
// then a percentile is "not resolved", and no interval would be honest.
std::optional<Interval> QuantileInterval(std::span<const double> in_order, double q,
                                         double confidence = 0.95);

}  // namespace gimbal::stats
