#include "base/clock.h"

#include "base/mutex.h"

namespace gimbal {
namespace {

class SteadyClock : public Clock {
 public:
  TimePoint Now() const override { return std::chrono::steady_clock::now(); }
  void Wait(CondVar& cv, Mutex& mu, TimePoint until) const override NO_THREAD_SAFETY_ANALYSIS {
    cv.WaitUntil(mu, until);
  }
};

}  // namespace

const Clock& Clock::Steady() {
  static const SteadyClock clock;
  return clock;
}

}  // namespace gimbal
