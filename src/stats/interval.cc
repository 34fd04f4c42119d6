#include "stats/interval.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "stats/quantile.h"

namespace gimbal::stats {
namespace {

// Batches this many autocorrelation times long are nearly independent of each other.
constexpr double kTimesPerBatch = 20;
constexpr size_t kFewestBatches = 8;
// More batches would only shorten them; Student's factor at 20 is within 7 % of the normal one.
constexpr size_t kMostBatches = 20;

std::vector<double> BatchMeans(std::span<const double> series, size_t batches) {
  std::vector<double> means;
  const size_t length = series.size() / batches;
  const size_t skipped =
      series.size() - length * batches;  // from the front, nearest to the warm-up
  for (size_t b = 0; b < batches; ++b)
    means.push_back(Mean(series.subspan(skipped + b * length, length)));
  return means;
}

double Variance(std::span<const double> values) {
  const double mean = Mean(values);
  double sum = 0;
  for (const double v : values) sum += (v - mean) * (v - mean);
  return sum / static_cast<double>(values.size() - 1);
}

}  // namespace

double NormalQuantile(double p) {
  // Bisection start from a logistic approximation, then Newton on the exact distribution function.
  double x = std::log(p / (1 - p)) / 1.702;
  for (int i = 0; i < 30; ++i) {
    const double cdf = 0.5 * std::erfc(-x / std::sqrt(2.0));
    const double density = std::exp(-x * x / 2) / std::sqrt(2 * M_PI);
    const double step = std::clamp((cdf - p) / std::max(density, 1e-300), -0.5, 0.5);
    x -= step;
    if (std::abs(step) < 1e-13) break;
  }
  return x;
}

double StudentQuantile(double p, double freedom) {
  // Cornish-Fisher expansion around the normal quantile (Abramowitz and Stegun 26.7.5).
  const double z = NormalQuantile(p);
  const double z2 = z * z;
  const double g1 = (z2 + 1) * z / 4;
  const double g2 = ((5 * z2 + 16) * z2 + 3) * z / 96;
  const double g3 = (((3 * z2 + 19) * z2 + 17) * z2 - 15) * z / 384;
  const double g4 = ((((79 * z2 + 776) * z2 + 1482) * z2 - 1920) * z2 - 945) * z / 92160;
  const double v = freedom;
  return z + g1 / v + g2 / (v * v) + g3 / (v * v * v) + g4 / (v * v * v * v);
}

double AutocorrelationTime(std::span<const double> series) {
  // Sokal's rule: sum correlations up to a lag of six times the sum so far, where noise takes over.
  constexpr double kWindow = 6;
  const size_t n = series.size();
  if (n < 4) return 1;
  const double mean = Mean(series);
  const double variance = Variance(series);
  if (variance <= 0) return 1;
  double time = 1;
  for (size_t lag = 1; lag < n / 4; ++lag) {
    double sum = 0;
    for (size_t i = 0; i + lag < n; ++i) sum += (series[i] - mean) * (series[i + lag] - mean);
    time += 2 * sum / (static_cast<double>(n) * variance);
    if (static_cast<double>(lag) >= kWindow * time) break;
  }
  return std::max(1., time);
}

std::optional<Interval> QuantileInterval(std::span<const double> in_order, double q,
                                         double confidence) {
  const size_t n = in_order.size();
  if (!MayPrintQuantile(n, q)) return std::nullopt;
  std::vector<double> sorted(in_order.begin(), in_order.end());
  std::sort(sorted.begin(), sorted.end());
  const double at = QuantileOfSorted(sorted, q);
  std::vector<double> within(n);
  for (size_t i = 0; i < n; ++i) within[i] = in_order[i] <= at ? 1 : 0;

  const double fits = static_cast<double>(n) / (kTimesPerBatch * AutocorrelationTime(within));
  if (fits < static_cast<double>(kFewestBatches)) return std::nullopt;
  const size_t batches = std::min(kMostBatches, static_cast<size_t>(fits));
  const std::vector<double> means = BatchMeans(within, batches);
  const double error = std::sqrt(Variance(means) / static_cast<double>(batches));
  const double reach =
      StudentQuantile(0.5 + confidence / 2, static_cast<double>(batches - 1)) * error;
  const double low = QuantileOfSorted(sorted, std::max(0., q - reach));
  // Beyond the largest sample nothing is known; an interval that reaches it has no honest upper
  // end.
  if (q + reach >= 1) return std::nullopt;
  return Interval{low, QuantileOfSorted(sorted, q + reach)};
}

}  // namespace gimbal::stats
