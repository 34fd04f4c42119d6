#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/status.h"
#include "policy/admission_policy.h"
#include "policy/arrival_rate.h"
#include "policy/batch_policy.h"
#include "policy/cost_model.h"
#include "schedule/row.h"

namespace gimbal::schedule {

// How much waits, for metrics: kept by the batcher, may outlive it.
struct Depth {
  std::array<std::atomic<int64_t>, model::kLaneCount> rows{};
};

// The queue of one model and the threads around it: one an instance, which takes a batch when the
// policy closes one, and a timer for deadlines. Owned by the model's pipeline; any thread may call
// Admit and Submit, neither of which waits for a batch.
//
// Invariant: a row that was taken is answered exactly once, by the sink or by Fail().
class Batcher {
 public:
  struct Options {
    std::string name;            // in messages and thread names
    policy::BatchLimits limits;  // limits.instances threads run batches
    policy::AdmissionLimits queue;
  };
  // Starts the threads. `clock` and `sink` outlive the batcher.
  Batcher(Options options, const Clock& clock, BatchSink& sink, policy::CostModel cost);
  ~Batcher();  // Stop()

  // Whether a request of so many rows would enter now; looked at before they are tokenised.
  // kTooLarge when it can never, kOverloaded with a computed retry_after, kUnavailable when
  // stopped.
  Status Admit(int rows, model::Lane lane);

  // Takes the rows, all or none: moved from iff OK, untouched otherwise. Errors as Admit, and
  // kDeadline when the deadline of a row cannot be met even by an immediate start.
  Status Submit(std::vector<std::unique_ptr<Row>>& rows);

  // Refuses new rows, runs what is queued, joins. Idempotent; called by one thread.
  void Stop();

  std::shared_ptr<const Depth> depth() const { return depth_; }

 private:
  // What a thread does outside the lock after it has looked at the queue.
  struct Step {
    std::vector<std::pair<std::unique_ptr<Row>, Status>> failed;
    std::optional<Batch> batch;
    bool stop = false;
  };
  void RunInstance(int instance);
  void RunTimer();
  Step NextStep(int instance);
  Step NextTimerStep();
  void Finished(int instance, int rows, int padded_length, Duration took);

  void Decide(int idle, TimePoint now) REQUIRES(mu_);
  void DropCancelled(Step* step) REQUIRES(mu_);
  void TakeExpired(Step* step) REQUIRES(mu_);
  Batch TakeBatch(TimePoint now) REQUIRES(mu_);
  std::unique_ptr<Row> Take(size_t index) REQUIRES(mu_);
  void Compact() REQUIRES(mu_);
  void WakeToStop() REQUIRES(mu_);
  Status AdmitLocked(const policy::NewRows& rows, model::Lane lane, TimePoint now) REQUIRES(mu_);
  int64_t RowsAhead(model::Lane lane) const REQUIRES(mu_);

  // Constant after construction.
  const Options options_;
  const Clock& clock_;
  BatchSink& sink_;
  const std::shared_ptr<Depth> depth_ = std::make_shared<Depth>();

  Mutex mu_;
  CondVar work_;   // instances wait here for rows
  CondVar timer_;  // the timer waits here for an earlier deadline
  // Two vectors in order of arrival, index by index: what the policy sees, and the rows themselves.
  std::vector<policy::QueuedRow> infos_ GUARDED_BY(mu_);
  std::vector<std::unique_ptr<Row>> rows_ GUARDED_BY(mu_);
  int64_t queued_tokens_ GUARDED_BY(mu_) = 0;
  Bytes queued_bytes_ GUARDED_BY(mu_);
  policy::CostModel cost_ GUARDED_BY(mu_);
  policy::ArrivalRate arrivals_ GUARDED_BY(mu_);
  policy::BatchState state_ GUARDED_BY(mu_);
  policy::Action action_ GUARDED_BY(mu_);              // reused
  std::vector<TimePoint> busy_until_ GUARDED_BY(mu_);  // one an instance; kNever while it is idle
  std::vector<TimePoint> running_ GUARDED_BY(mu_);     // reused: those of busy_until_ that run
  int idle_ GUARDED_BY(mu_) = 0;
  TimePoint timer_wake_ GUARDED_BY(mu_) = kNever;
  uint64_t next_id_ GUARDED_BY(mu_) = 0;
  uint64_t refused_ GUARDED_BY(mu_) = 0;
  bool stopping_ GUARDED_BY(mu_) = false;

  std::vector<std::thread> threads_;  // joined by Stop
};

}  // namespace gimbal::schedule
