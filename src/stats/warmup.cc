#include "stats/warmup.h"

#include <vector>

#include "stats/quantile.h"

namespace gimbal::stats {

std::optional<size_t> WarmUpSamples(std::span<const double> in_order) {
  constexpr size_t kBatch = 5;
  constexpr size_t kLeast = 10;  // batches that must remain; fewer have no meaningful error
  const size_t batches = in_order.size() / kBatch;
  if (batches < kLeast) return 0;
  std::vector<double> means;
  for (size_t b = 0; b < batches; ++b) means.push_back(Mean(in_order.subspan(b * kBatch, kBatch)));

  // From the end, so that each cut's sums extend those of the cut after it. Deviations from the
  // last mean keep the squares small.
  const double origin = means.back();
  double sum = 0, squares = 0, best = 0;
  size_t cut = 0;
  bool found = false;
  for (size_t b = batches; b-- > 0;) {
    const double d = means[b] - origin;
    sum += d;
    squares += d * d;
    const double n = static_cast<double>(batches - b);
    if (batches - b < kLeast) continue;
    const double error = (squares - sum * sum / n) / (n * n);
    if (!found || error <= best) {
      best = error;
      cut = b;
      found = true;
    }
  }
  if (cut > batches / 2) return std::nullopt;
  return cut * kBatch;
}

}  // namespace gimbal::stats
