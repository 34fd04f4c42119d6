#pragma once

#include <array>
#include <cstdint>

#include "base/clock.h"

namespace gimbal::policy {

// Rate and mean padded length of the last 200 arrivals. A pause counts: the rate falls while
// nothing comes. Copyable; not thread-safe: the batcher guards it.
class ArrivalRate {
 public:
  void Arrived(TimePoint at, int padded_length);
  double PerSecond(TimePoint now) const;  // 0 until two rows came
  double mean_length() const;             // 1 until a row came

 private:
  static constexpr uint64_t kWindow = 200;
  struct Arrival {
    TimePoint at;
    int32_t length;
  };
  std::array<Arrival, kWindow> last_{};
  uint64_t count_ = 0;
  int64_t length_sum_ = 0;
};

}  // namespace gimbal::policy
