#include "stats/rng.h"

#include <bit>
#include <cmath>
#include <numbers>

namespace gimbal::stats {

Rng::Rng(uint64_t seed) {
  for (uint64_t& word : state_) {
    seed += 0x9e3779b97f4a7c15;
    uint64_t z = seed;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    word = z ^ (z >> 31);
  }
}

uint64_t Rng::Next() {
  auto& s = state_;
  const uint64_t result = std::rotl(s[0] + s[3], 23) + s[0];
  const uint64_t t = s[1] << 17;
  s[2] ^= s[0];
  s[3] ^= s[1];
  s[1] ^= s[2];
  s[0] ^= s[3];
  s[2] ^= t;
  s[3] = std::rotl(s[3], 45);
  return result;
}

double Rng::Uniform() { return static_cast<double>(Next() >> 11) * 0x1p-53; }

double Rng::Exponential(double mean) { return -mean * std::log1p(-Uniform()); }

double Rng::Normal() {
  const double radius = std::sqrt(-2 * std::log1p(-Uniform()));
  return radius * std::cos(2 * std::numbers::pi * Uniform());
}

double Rng::LogNormalFactor(double deviation) {
  if (deviation <= 0) return 1;
  const double variance = std::log1p(deviation * deviation);
  return std::exp(std::sqrt(variance) * Normal() - variance / 2);
}

uint64_t Rng::Below(uint64_t n) {
  const uint64_t unfair = (0 - n) % n;  // draws below it would favour small results
  uint64_t draw = Next();
  while (draw < unfair) draw = Next();
  return draw % n;
}

}  // namespace gimbal::stats
