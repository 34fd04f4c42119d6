#pragma once

#include <cstdint>
#include <string_view>

#include "base/units.h"
#include "policy/batch_policy.h"

namespace gimbal::policy {

// Whether a request may queue. Queues are bounded by default; a refusal says when to come back.
struct AdmissionLimits {
  int64_t max_queue_rows = 1024;    // 0: no limit
  Bytes max_queue_bytes = MiB(64);  // 0: no limit
  Duration max_wait =
      std::chrono::seconds(10);  // predicted, until the first row would start; 0: no limit
};

enum class RefuseReason { kNone, kRows, kBytes, kWait, kDeadline };
std::string_view RefuseReasonName(RefuseReason reason);  // "rows" | "bytes" | "wait" | "deadline"

struct QueueLoad {
  int64_t rows = 0;
  int64_t tokens = 0;  // sum of padded lengths
  Bytes bytes;
  int idle_instances = 0;
  TimePoint next_idle{};  // predicted end of the running batch that ends first; past: unknown
  int64_t ahead = -1;     // of `rows`, those that go before the new ones; < 0: all
};

struct NewRows {
  int rows = 1;        // admitted together or not at all
  int64_t tokens = 1;  // sum of padded lengths; 1 a row for fixed-size models
  int shortest = 1;    // padded length of the shortest row
  Bytes bytes;
  TimePoint deadline = kNever;
};

struct AdmissionDecision {
  RefuseReason reason = RefuseReason::kNone;  // kNone: admitted
  Duration retry_after{0};     // computed from the drain rate, >= 1 ms; 0 when admitted
  Duration predicted_wait{0};  // in order of arrival, behind all that is queued; 0 while unknown
  bool admitted() const { return reason == RefuseReason::kNone; }
};

// Rows with a deadline are refused only when even an immediate start would be too late, not when
// the queue is long: the batch policy serves by deadline, not by arrival. Requests larger than an
// empty queue's limits are refused with the reason, and should be turned down as too large
// beforehand. The caller adds jitter to retry_after.
AdmissionDecision Admit(const QueueLoad& queue, const NewRows& request, const CostModel& cost,
                        const BatchLimits& batch, const AdmissionLimits& limits, TimePoint now);

// Rows per second that all instances together finish on full batches of this mean length; 0:
// unknown.
double DrainRate(const CostModel& cost, const BatchLimits& batch, double mean_length);

}  // namespace gimbal::policy
