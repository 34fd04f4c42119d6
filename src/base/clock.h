#pragma once

#include <chrono>

namespace gimbal {

using Duration = std::chrono::nanoseconds;
using TimePoint = std::chrono::time_point<std::chrono::steady_clock, Duration>;

inline constexpr TimePoint kNever = TimePoint::max();

class CondVar;
class Mutex;

// Source of steady time. Passed in wherever time decides something, so that tests hold the hands.
// Any thread may call it.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual TimePoint Now() const = 0;
  // Waits on `cv` until it is notified, `until` has come by this clock (kNever: no limit), or
  // spuriously. REQUIRES: the caller holds `mu`.
  virtual void Wait(CondVar& cv, Mutex& mu, TimePoint until) const = 0;

  // The process's real steady clock.
  static const Clock& Steady();
};

inline double Milliseconds(Duration d) {
  return std::chrono::duration<double, std::milli>(d).count();
}
inline double Seconds(Duration d) { return std::chrono::duration<double>(d).count(); }
inline Duration FromSeconds(double s) {
  return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(s));
}

}  // namespace gimbal
