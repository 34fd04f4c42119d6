#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "policy/simulator.h"

namespace gimbal::policy {

// Arrivals for the simulator, from a seed: the same gaps, scaled, at every rate, so that policies
// and rates are compared on common random numbers. Row i has lengths[i % size] (1 when empty) and
// is due `limit` after its arrival. REQUIRES: rates > 0.
std::vector<SimulatedRow> PoissonRows(double per_s, int count, uint64_t seed, Duration limit,
                                      std::span<const int> lengths = {});

// Two Poisson rates that alternate after exponential stays with mean period / 2 each.
struct Mmpp {
  double low_per_s = 0;
  double high_per_s = 0;
  Duration period{0};
};
std::vector<SimulatedRow> MmppRows(const Mmpp& mmpp, int count, uint64_t seed, Duration limit,
                                   std::span<const int> lengths = {});

// `count` log-normal lengths in [least, most] with this mean and coefficient of variation before
// they are clamped.
std::vector<int> LogNormalLengths(int count, uint64_t seed, double mean, double variation,
                                  int least, int most);

// The highest rate at which `misses(rate)` (a share) stays within `allowed`, by doubling from
// `guess` and bisection to 0.2 %. 0 when no rate does.
double FindRate(double guess, double allowed, const std::function<double(double)>& misses);

}  // namespace gimbal::policy
