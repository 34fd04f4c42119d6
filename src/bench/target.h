#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/clock.h"

namespace gimbal::bench {

struct StageTime {
  std::string_view name;
  double ms = 0;
};

// How one request ended. Views are valid during the call only.
struct Outcome {
  uint64_t request = 0;
  TimePoint first_byte;               // of the answer; the epoch when there was none
  TimePoint done;                     // the last byte came, or the failure was seen
  std::string_view error;             // its type: "overloaded", "timeout"; empty: answered well
  bool connection_lost = false;       // the error means that nobody answered
  std::span<const StageTime> stages;  // as the target tells them; may be empty
  double batch_size = 0;              // 0: not told
};

// What the measured side has used so far; what is not known is nothing.
struct ServerUsage {
  std::optional<double> cpu_seconds;
  std::optional<double> resident_bytes;
  std::optional<double> peak_bytes;
};

class OutcomeSink {
 public:
  virtual ~OutcomeSink() = default;
  virtual void OnDone(const Outcome& outcome) = 0;  // must not call the target
};

// What is measured: a server, a pipeline in this process, or nothing at all. Knows how to ask
// request number i of a workload, which it was given when made. Owned by the caller of Generate;
// called by the generator's thread alone.
class Target {
 public:
  virtual ~Target() = default;

  // Starts a request and returns at once. False, and nothing started, when no more can be in
  // flight.
  virtual bool Issue(uint64_t request) = 0;

  // Waits until `until`, or less; tells `sink` what has ended. Every request that was started ends
  // exactly once, at the latest by the target's own timeout. Returns soon after `until` even when
  // more is waiting, and after a signal.
  virtual void Poll(TimePoint until, OutcomeSink& sink) = 0;

  // Asked before and after the run; may block. `why_not` says why something is not known.
  virtual ServerUsage Usage(std::string* why_not) {
    *why_not = "this target does not tell what it uses";
    return {};
  }
};

}  // namespace gimbal::bench
