#include "policy/workload.h"

#include <algorithm>
#include <cmath>

#include "stats/rng.h"

namespace gimbal::policy {
namespace {

constexpr TimePoint kStart{std::chrono::seconds(1)};

SimulatedRow RowAt(double seconds, size_t i, Duration limit, std::span<const int> lengths) {
  SimulatedRow row;
  row.arrival = kStart + FromSeconds(seconds);
  row.length = lengths.empty() ? 1 : lengths[i % lengths.size()];
  row.deadline = row.arrival + limit;
  return row;
}

}  // namespace

std::vector<SimulatedRow> PoissonRows(double per_s, int count, uint64_t seed, Duration limit,
                                      std::span<const int> lengths) {
  stats::Rng rng(seed);
  std::vector<SimulatedRow> rows;
  rows.reserve(static_cast<size_t>(count));
  double at = 0;
  for (int i = 0; i < count; ++i) {
    at += rng.Exponential(1) / per_s;
    rows.push_back(RowAt(at, rows.size(), limit, lengths));
  }
  return rows;
}

std::vector<SimulatedRow> MmppRows(const Mmpp& mmpp, int count, uint64_t seed, Duration limit,
                                   std::span<const int> lengths) {
  stats::Rng gaps(seed);
  stats::Rng stays(seed ^ 0x5bd1e995);
  std::vector<SimulatedRow> rows;
  rows.reserve(static_cast<size_t>(count));
  bool high = false;
  double at = 0;
  double changes = stays.Exponential(Seconds(mmpp.period) / 2);
  while (static_cast<int>(rows.size()) < count) {
    double work = gaps.Exponential(1);  // spent at the rate of whatever state holds
    for (;;) {
      const double rate = high ? mmpp.high_per_s : mmpp.low_per_s;
      if (at + work / rate <= changes) {
        at += work / rate;
        break;
      }
      work -= (changes - at) * rate;
      at = changes;
      changes += stays.Exponential(Seconds(mmpp.period) / 2);
      high = !high;
    }
    rows.push_back(RowAt(at, rows.size(), limit, lengths));
  }
  return rows;
}

std::vector<int> LogNormalLengths(int count, uint64_t seed, double mean, double variation,
                                  int least, int most) {
  stats::Rng rng(seed);
  std::vector<int> lengths;
  lengths.reserve(static_cast<size_t>(count));
  for (int i = 0; i < count; ++i) {
    const int length = static_cast<int>(std::lround(mean * rng.LogNormalFactor(variation)));
    lengths.push_back(std::clamp(length, least, most));
  }
  return lengths;
}

double FindRate(double guess, double allowed, const std::function<double(double)>& misses) {
  constexpr double kPrecision = 1.002;
  constexpr int kMostDoublings = 40;
  double low = guess;
  double high = guess;
  if (misses(guess) <= allowed) {
    for (int i = 0; i < kMostDoublings && misses(high *= 2) <= allowed; ++i) low = high;
  } else {
    int i = 0;
    while (i < kMostDoublings && misses(low /= 2) > allowed) high = low, ++i;
    if (i == kMostDoublings) return 0;
  }
  while (high > low * kPrecision) {
    const double middle = std::sqrt(low * high);
    (misses(middle) <= allowed ? low : high) = middle;
  }
  return low;
}

}  // namespace gimbal::policy
