#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "base/clock.h"

namespace gimbal::bench {

inline constexpr int kMaxStages = 12;
// Most requests of a run: all are recorded, about 100 bytes each.
inline constexpr uint64_t kMostRequests = 10'000'000;
inline constexpr Duration kNotYet = Duration::min();

// One request; times since the start of the run.
struct Record {
  Duration scheduled{0};         // when it was due
  Duration sent{0};              // when the generator turned to it
  Duration first_byte{kNotYet};  // kNotYet: none
  Duration done{kNotYet};        // kNotYet: never ended
  float batch_size = 0;          // 0: not told
  uint32_t stages = 0;           // index into Recording::stages_ms; 0: none told
  uint16_t error = 0;            // index into Recording::errors; 0: none
};

enum class RunEnd { kComplete, kInterrupted, kTargetDied, kFull };  // kFull: kMostRequests

// Everything that a run leaves behind; figures are made of it afterwards.
struct Recording {
  // Deques, because they never move what they hold: that would stall a run of millions of requests.
  std::deque<Record> requests;                              // in the order of sending
  std::deque<std::array<float, kMaxStages>> stages_ms{{}};  // NaN: not told; the first is unused
  std::vector<std::string> stage_names;
  std::vector<std::string> errors{""};
  Duration warmup{0};  // requests scheduled before it are not measured
  Duration length{0};  // until the last answer
  Duration generator_cpu{0};
  uint64_t blocked = 0;  // times that a due request found no free connection
  RunEnd end = RunEnd::kComplete;
};

}  // namespace gimbal::bench
