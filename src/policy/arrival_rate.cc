#include "policy/arrival_rate.h"

#include <algorithm>

namespace gimbal::policy {

void ArrivalRate::Arrived(TimePoint at, int padded_length) {
  Arrival& slot = last_[count_ % kWindow];
  if (count_ >= kWindow) length_sum_ -= slot.length;
  slot = {at, padded_length};
  length_sum_ += padded_length;
  ++count_;
}

double ArrivalRate::PerSecond(TimePoint now) const {
  if (count_ < 2) return 0;
  const uint64_t n = std::min(count_, kWindow);
  const TimePoint oldest = last_[(count_ - n) % kWindow].at;
  const TimePoint newest = last_[(count_ - 1) % kWindow].at;
  const double gaps = static_cast<double>(n - 1);
  const Duration span = newest - oldest;
  const Duration gap = span / static_cast<int64_t>(n - 1);
  // A silence longer than the mean gap is news: the next arrival is already late.
  const Duration silence = std::max(Duration(0), now - newest - gap);
  return gaps / std::max(1e-6, Seconds(span + silence));
}

double ArrivalRate::mean_length() const {
  const uint64_t n = std::min(count_, kWindow);
  return n == 0 ? 1. : static_cast<double>(length_sum_) / static_cast<double>(n);
}

}  // namespace gimbal::policy
