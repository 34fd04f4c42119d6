#include "bench/null_target.h"

#include <time.h>

namespace gimbal::bench {

bool NullTarget::Issue(uint64_t request) {
  issued_.push_back(request);
  return true;
}

void NullTarget::Poll(TimePoint until, OutcomeSink& sink) {
  const Clock& clock = Clock::Steady();
  if (!issued_.empty()) {
    const TimePoint now = clock.Now();
    for (const uint64_t request : issued_) {
      Outcome outcome;
      outcome.request = request;
      outcome.first_byte = outcome.done = now;
      sink.OnDone(outcome);
    }
    issued_.clear();
    return;
  }
  const Duration sleep = until - clock.Now() - spin_;
  if (sleep > Duration(0)) {
    const auto whole = std::chrono::duration_cast<std::chrono::seconds>(sleep);
    const timespec time{whole.count(), (sleep - whole).count()};
    if (clock_nanosleep(CLOCK_MONOTONIC, 0, &time, nullptr) != 0) return;  // a signal
  }
  while (clock.Now() < until) {
  }
}

}  // namespace gimbal::bench
