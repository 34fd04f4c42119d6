#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "policy/cost_model.h"
#include "policy/lane.h"
#include "policy/length_window.h"
#include "policy/scenario.h"

namespace gimbal::policy {

// Why a batch holds these rows and no more; the label of gimbal_batches_total.
enum class CloseReason {
  kFull,      // max_rows or max_tokens reached
  kDeadline,  // one more row would be late, or would make others late
  kWait,      // the bounded wait for more rows is over
  kMemory,    // the memory plan allows no more (edge: its row and token budget)
  kIdle,      // an instance was idle and no other waiting row made the batch better
};
inline constexpr int kCloseReasonCount = static_cast<int>(CloseReason::kIdle) + 1;
std::string_view CloseReasonName(CloseReason reason);

struct QueuedRow {
  uint64_t id = 0;
  TimePoint arrival;
  TimePoint deadline = kNever;  // kNever: none
  int32_t length = 1;           // tokens; 1 for fixed-size models
  Lane lane = Lane::kInteractive;
};

struct BatchLimits {
  Scenario scenario = Scenario::kOnline;
  int max_rows = 32;          // > 0
  int64_t max_tokens = 8192;  // rows x padded length; a single longer row goes alone
  int64_t memory_tokens = 0;  // the same, as the memory plan allows; 0: no limit
  // For more rows while an instance idles (batch scenario); 0: never.
  Duration max_wait = std::chrono::milliseconds(2);
  Duration target{0};               // latency objective of rows without deadline; 0: none
  int instances = 1;                // > 0
  bool equal_lengths_only = false;  // the model must not see padding
  int length_bucket = 8;            // padded lengths are multiples of it; <= 1: no rounding
  int max_length = 0;               // padded lengths stop here; 0: no limit
  double bulk_share = 0.125;        // of the computed tokens, guaranteed to the bulk lane; 0..0.9
};

// Length that a row is computed at when it is the longest of its batch.
int PaddedLength(const BatchLimits& limits, int length);

struct Snapshot {
  std::span<const QueuedRow> rows;  // in order of arrival
  int idle_instances = 0;
  std::span<const TimePoint> busy_until;  // predicted ends of running batches; may be empty
  const CostModel& cost;
  double arrivals_per_s = 0;  // ArrivalRate (arrival_rate.h); 0: unknown
  double mean_length = 1;     // of recent rows, padded
  const BatchLimits& limits;
};

struct Action {
  std::vector<uint32_t>
      batch;  // indices into rows, to dispatch now on one idle instance; may be empty
  CloseReason reason = CloseReason::kIdle;  // of `batch`
  std::vector<uint32_t> expired;  // can no longer meet their deadline: answer at once; ascending
  TimePoint wake = kNever;  // look again then at the latest; kNever: only an event can change it
};

// What the policy remembers from one decision to the next, and its reused scratch memory. One per
// queue, owned by the batcher; opaque to it. With equal states, equal arguments give equal actions.
class BatchState {
 public:
  bool overloaded() const { return overloaded_; }

 private:
  friend class BatchDecision;
  // Memory
  bool overloaded_ = false;       // offered load is above what deadlines allow (with hysteresis)
  double bulk_owed_ = 0;          // tokens that the bulk lane has to its credit
  double interactive_slack_ = 0;  // smoothed deadline - arrival of interactive rows, ns; 0: unknown
  TimePoint interactive_seen_{};  // when an interactive row waited last

  // Scratch, without meaning between calls
  std::vector<uint32_t> live_;
  std::vector<double> slack_, busy_;
  WindowScratch window_;
};

// What to do now: a pure function of its arguments (see BatchState). Call it when
//   - a row arrives or leaves while an instance is idle, or an instance becomes idle; again after
//   each
//     returned batch while an instance is idle and rows wait;
//   - the clock reaches `wake`, also with idle_instances == 0: deadlines pass on time though all
//     instances are busy;
//   - a row with a deadline arrives while all instances are busy, to learn its `wake`.
// The caller removes the rows of `batch` and `expired` from its queue. A row is in at most one of
// them. A batch is only returned when idle_instances > 0, and never holds a row that is expected to
// miss its own deadline while it could still be met.
//
// online  Earliest deadline first, over-due rows without deadline in order of arrival. Among the
//         windows of neighbouring lengths around the earliest deadline that meet it, the one that
//         saves most work over computing its rows alone. Fixed-size rows: a short look ahead
//         decides how many to take and which heads to leave behind so that fewest are late in the
//         end; heads left behind expire only when they cannot be met any more. An idle instance
//         never waits: in simulation no wait paid, given the ends of the other instances' batches.
// batch   The window of neighbouring lengths around the row that waited longest that saves most
// work,
//         as online; while it could still grow, it waits up to max_wait.
// edge    The fewest rows in a batch that keep up with arrivals and backlog.
//
// Bounded waits: within a lane no row without a deadline waits behind rows that came `target`
// (or 1 s) later, and the bulk lane gets bulk_share of the computed tokens while both lanes wait.
// wait_bounds_test.h makes a number of it. Two exceptions: in the batch scenario, rows that two
// full batches would make late go before age for as long as they come; and bulk rows that fill up
// interactive batches use the bulk share, so one of an odd length may wait behind later ones.
void Decide(const Snapshot& snapshot, TimePoint now, BatchState* state, Action* action);

}  // namespace gimbal::policy
