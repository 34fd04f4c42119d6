#include "stats/histogram.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/check.h"

namespace gimbal::stats {

// Values below 2^bits have a bucket each; above, each power of two has 2^(bits-1) buckets, so half
// a bucket is at most 2^-bits of the value.
Histogram::Histogram(Precision precision)
    : bits_(precision == Precision::kTenthPercent ? 10 : 7),
      counts_((size_t{1} << bits_) + (size_t{64} - bits_) * (size_t{1} << (bits_ - 1))) {}

size_t Histogram::Index(uint64_t value) const {
  const int width = std::bit_width(value);
  if (width <= bits_) return value;
  const int shift = width - bits_;
  const uint64_t top = value >> shift;  // has bits_ bits, the highest of them set
  const size_t half = size_t{1} << (bits_ - 1);
  return (size_t{1} << bits_) + (static_cast<size_t>(shift) - 1) * half + (top - half);
}

uint64_t Histogram::Middle(size_t index) const {
  const size_t exact = size_t{1} << bits_;
  if (index < exact) return index;
  const size_t half = exact / 2;
  const size_t shift = (index - exact) / half + 1;
  const uint64_t top = half + (index - exact) % half;
  return (top << shift) + ((uint64_t{1} << shift) - 1) / 2;
}

void Histogram::Add(Duration d) {
  d = std::max(d, Duration(0));
  ++counts_[Index(static_cast<uint64_t>(d.count()))];
  ++count_;
  sum_ += static_cast<double>(d.count());
  min_ = std::min(min_, d);
  max_ = std::max(max_, d);
}

void Histogram::Merge(const Histogram& other) {
  CHECK(bits_ == other.bits_, "histograms of one measurement are made alike");
  for (size_t i = 0; i < counts_.size(); ++i) counts_[i] += other.counts_[i];
  count_ += other.count_;
  sum_ += other.sum_;
  min_ = std::min(min_, other.min_);
  max_ = std::max(max_, other.max_);
}

Duration Histogram::mean() const {
  if (count_ == 0) return Duration(0);
  return Duration(std::llround(sum_ / static_cast<double>(count_)));
}

Duration Histogram::Quantile(double q) const {
  if (count_ == 0) return Duration(0);
  const double exact = std::ceil(q * static_cast<double>(count_) - 1e-9);
  const auto rank = static_cast<uint64_t>(std::clamp(exact, 1., static_cast<double>(count_)));
  if (rank == count_) return max_;
  uint64_t seen = 0;
  for (size_t i = 0; i < counts_.size(); ++i) {
    seen += counts_[i];
    if (seen >= rank) return std::clamp(Duration(static_cast<int64_t>(Middle(i))), min_, max_);
  }
  return max_;
}

}  // namespace gimbal::stats
