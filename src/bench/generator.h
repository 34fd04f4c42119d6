#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "base/clock.h"
#include "bench/recording.h"
#include "bench/target.h"

namespace gimbal::bench {

// When requests are sent.
struct Schedule {
  // Closed loop when > 0: so many in flight, the next is due when an answer has come.
  int concurrency = 0;
  // Open loop: when each request is due, whatever the answers do.
  std::vector<Duration> arrivals;
  Duration warmup{0};
  Duration duration{0};  // closed loop: sent until warmup + duration
  int64_t requests = 0;  // closed loop: most requests due after `warmup`; 0: no limit
};

// Sends by the schedule and records what becomes of it, on the caller's thread. Ends when
// everything sent has ended, at once when `stop` is set (by a signal handler, say), or when the
// target died: kDeadAfter connections in a row were lost.
inline constexpr int kDeadAfter = 200;
Recording Generate(const Schedule& schedule, Target& target, const Clock& clock,
                   const std::atomic<bool>& stop);

}  // namespace gimbal::bench
