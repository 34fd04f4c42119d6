#include "stats/quantile.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace gimbal::stats {
namespace {

size_t Rank(size_t n, double q) {
  // The tiny shift keeps 0.99 · 100 at rank 99 although 0.99 is not a binary fraction.
  const double rank = std::ceil(q * static_cast<double>(n) - 1e-9);
  return static_cast<size_t>(std::clamp(rank, 1., static_cast<double>(n))) - 1;
}

}  // namespace

double QuantileOfSorted(std::span<const double> ascending, double q) {
  if (ascending.empty()) return std::numeric_limits<double>::quiet_NaN();
  return ascending[Rank(ascending.size(), q)];
}

double Quantile(std::vector<double> samples, double q) {
  if (samples.empty()) return std::numeric_limits<double>::quiet_NaN();
  const auto at = samples.begin() + static_cast<std::ptrdiff_t>(Rank(samples.size(), q));
  std::nth_element(samples.begin(), at, samples.end());
  return *at;
}

double Mean(std::span<const double> samples) {
  if (samples.empty()) return std::numeric_limits<double>::quiet_NaN();
  double sum = 0;
  for (const double v : samples) sum += v;
  return sum / static_cast<double>(samples.size());
}

uint64_t SamplesNeeded(double q) {
  const double beyond = std::min(1 - q, q);
  if (beyond <= 0) return 1;
  return static_cast<uint64_t>(std::ceil(10 / beyond - 1e-6));
}

}  // namespace gimbal::stats
