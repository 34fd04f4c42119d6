#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "policy/admission_policy.h"
#include "policy/batch_policy.h"

namespace gimbal::policy {

enum class SimulatedPolicy {
  kGimbal,  // Admit and Decide, the code that serves
  kFixed,   // first come first served; waits until max_rows rows or max_wait, never drops
  kEager,   // the same without waiting
};

struct SimulatedRow {
  TimePoint arrival;
  int length = 1;
  Lane lane = Lane::kInteractive;
  TimePoint deadline = kNever;  // what the policy sees, and what counts as on time
  TimePoint leaves = kNever;    // its client gives up then if it still waits
};

// The time that a batch takes: (fixed + rows · (per_row + per_token · padded length)) · noise.
struct LatencyLaw {
  Duration fixed{0};
  Duration per_row{0};
  Duration per_token{0};
  double noise = 0;  // relative standard deviation of a log-normal factor on each batch

  Duration Mean(int rows, int length) const {
    return fixed + rows * (per_row + static_cast<int64_t>(length) * per_token);
  }
};

enum class RowFate { kOnTime, kLate, kExpired, kRefused, kLeft };

// What tests watch; all optional. Rows are known by their index in `rows` (QueuedRow::id).
struct SimulationHooks {
  std::function<void(const Snapshot&, TimePoint now, const Action&)>
      decided;  // before it is acted on
  std::function<void(uint64_t row, RowFate, TimePoint at)> answered;
};

struct SimulationSpec {
  std::span<const SimulatedRow> rows;  // by arrival; must outlive the call
  LatencyLaw law;
  BatchLimits batch;  // instances and max_rows count for every policy
  AdmissionLimits admission{0, Bytes{0}, Duration(0)};  // only kGimbal
  SimulatedPolicy policy = SimulatedPolicy::kGimbal;
  Duration fixed_wait{0};    // kFixed
  int fixed_rows = 32;       // kFixed and kEager
  int64_t fixed_tokens = 0;  // kFixed and kEager: padded tokens of a batch; 0: no limit
  uint64_t seed = 1;         // of the noise
  bool profiled = true;      // the cost model starts from a start-up profile
  SimulationHooks hooks;
};

struct SimulationResult {
  uint64_t on_time = 0;
  uint64_t late = 0;
  uint64_t dropped = 0;  // expired or refused
  uint64_t left = 0;
  uint64_t batches = 0;
  double goodput_per_s = 0;  // on time / (first arrival to last answer)
  double batch_mean = 0;
  Duration wait_p50{0}, wait_p99{0};  // arrival to dispatch, of dispatched rows

  double MissShare() const;  // (late + dropped) / all but left
};

// Runs the workload in virtual time. Deterministic: equal specs give equal results on any machine.
SimulationResult Simulate(const SimulationSpec& spec);

}  // namespace gimbal::policy
