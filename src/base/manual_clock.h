#pragma once

#include <atomic>

#include "base/clock.h"

namespace gimbal {

// A clock that stands still until someone moves it; for tests and the simulator. Whoever advances it
// must also wake the threads that wait for a time.
class ManualClock : public Clock {
 public:
  explicit ManualClock(TimePoint start = TimePoint(std::chrono::seconds(1))) : now_(start) {}
  TimePoint Now() const override { return now_.load(); }
  void Advance(Duration by) { now_.store(now_.load() + by); }
  void Set(TimePoint to) { now_.store(to); }

 private:
  std::atomic<TimePoint> now_;
};

}  // namespace gimbal
