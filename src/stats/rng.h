#pragma once

#include <array>
#include <cstdint>

namespace gimbal::stats {

// Random numbers from a recorded seed (xoshiro256++, seeded by splitmix64), the same on every
// platform and library: the standard's distributions are not. Copyable; one thread at a time.
class Rng {
 public:
  explicit Rng(uint64_t seed);

  uint64_t Next();
  double Uniform();                 // [0, 1)
  double Exponential(double mean);  // gaps of Poisson arrivals
  double Normal();                  // mean 0, deviation 1
  // A factor with mean 1 and this relative standard deviation; 1 when it is 0.
  double LogNormalFactor(double deviation);
  uint64_t Below(uint64_t n);  // 0..n-1 without bias; REQUIRES: n > 0

 private:
  std::array<uint64_t, 4> state_;
};

}  // namespace gimbal::stats
