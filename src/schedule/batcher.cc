#include "schedule/batcher.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/worker_pool.h"

namespace gimbal::schedule {
namespace {

// Clients that were refused together should not come back together: up to a tenth later, by a hash
// of how many were refused before.
Duration Jittered(Duration after, uint64_t seed) {
  const uint64_t mixed = (seed + 1) * 0x9E3779B97F4A7C15u >> 40;
  return after + after / 10 * static_cast<int64_t>(mixed % 1000) / 1000;
}

std::chrono::milliseconds RoundUp(Duration d) {
  return std::chrono::ceil<std::chrono::milliseconds>(d);
}

}  // namespace

Batcher::Batcher(Options options, const Clock& clock, BatchSink& sink, policy::CostModel cost)
    : options_(std::move(options)), clock_(clock), sink_(sink), cost_(std::move(cost)) {
  busy_until_.resize(static_cast<size_t>(options_.limits.instances), kNever);
  for (int i = 0; i < options_.limits.instances; ++i) {
    threads_.emplace_back([this, i] {
      SetThreadName(fmt::format("run-{}-{}", i, options_.name));
      RunInstance(i);
    });
  }
  threads_.emplace_back([this] {
    SetThreadName("timer-" + options_.name);
    RunTimer();
  });
}

Batcher::~Batcher() { Stop(); }

Status Batcher::Admit(int rows, model::Lane lane) {
  MutexLock lock(mu_);
  policy::NewRows request;
  request.rows = rows;
  request.tokens = static_cast<int64_t>(arrivals_.mean_length() * rows);
  return AdmitLocked(request, lane, clock_.Now());
}

// Interactive rows go before bulk ones, which get their share of the computed tokens all the same.
int64_t Batcher::RowsAhead(model::Lane lane) const {
  const auto all = static_cast<int64_t>(rows_.size());
  if (lane == model::Lane::kBulk) return all;
  const auto interactive = depth_->rows[static_cast<size_t>(model::Lane::kInteractive)].load();
  const double own_share = 1 - options_.limits.bulk_share;
  return std::min(all, static_cast<int64_t>(static_cast<double>(interactive) / own_share));
}

Status Batcher::AdmitLocked(const policy::NewRows& request, model::Lane lane, TimePoint now) {
  if (stopping_) return UnavailableError("the server is stopping");
  if (request.rows > options_.queue.max_queue_rows && options_.queue.max_queue_rows > 0) {
    return TooLargeError(fmt::format(
        "the request has {} rows, the queue of model {} holds at most {} (--queue-rows)",
        request.rows, options_.name, options_.queue.max_queue_rows));
  }
  if (options_.queue.max_queue_bytes > Bytes{0} && request.bytes > options_.queue.max_queue_bytes) {
    return TooLargeError(fmt::format(
        "the request's rows hold {} bytes, the queue of model {} at most {} (--queue-bytes)",
        request.bytes.value, options_.name, options_.queue.max_queue_bytes.value));
  }
  policy::QueueLoad load;
  load.rows = static_cast<int64_t>(rows_.size());
  load.ahead = RowsAhead(lane);
  load.tokens = queued_tokens_;
  load.bytes = queued_bytes_;
  load.idle_instances = idle_;
  const TimePoint next = *std::min_element(busy_until_.begin(), busy_until_.end());
  load.next_idle = next == kNever ? TimePoint() : next;
  const policy::AdmissionDecision decision =
      policy::Admit(load, request, cost_, options_.limits, options_.queue, now);
  if (decision.admitted()) return Status::Ok();
  if (decision.reason == policy::RefuseReason::kDeadline) {
    return DeadlineError("the deadline is too near for even an immediate start");
  }
  const auto retry = RoundUp(Jittered(decision.retry_after, refused_++));
  return Status(Code::kOverloaded,
                fmt::format("the queue of model {} is full by {}: {} rows wait, about {} ms of "
                            "work; try again in {} ms",
                            options_.name, RefuseReasonName(decision.reason), load.rows,
                            RoundUp(decision.predicted_wait).count(), retry.count()))
      .WithRetryAfter(retry);
}

Status Batcher::Submit(std::vector<std::unique_ptr<Row>>& rows) {
  if (rows.empty()) return Status::Ok();
  const TimePoint now = clock_.Now();
  bool wake_timer = false;
  {
    MutexLock lock(mu_);
    policy::NewRows request;
    request.rows = static_cast<int>(rows.size());
    request.tokens = 0;
    request.shortest = policy::PaddedLength(options_.limits, rows.front()->length);
    for (const auto& row : rows) {
      const int padded = policy::PaddedLength(options_.limits, row->length);
      request.tokens += padded;
      request.shortest = std::min(request.shortest, padded);
      request.bytes += row->bytes;
      request.deadline = std::min(request.deadline, row->deadline);
    }
    RETURN_IF_ERROR(AdmitLocked(request, rows.front()->lane, now));
    for (auto& row : rows) {
      row->arrival = now;
      const int padded = policy::PaddedLength(options_.limits, row->length);
      infos_.push_back({next_id_++, now, row->deadline, row->length, row->lane});
      arrivals_.Arrived(now, padded);
      queued_tokens_ += padded;
      queued_bytes_ += row->bytes;
      depth_->rows[static_cast<size_t>(row->lane)].fetch_add(1, std::memory_order_relaxed);
      if (row->deadline != kNever && row->deadline - cost_.Predict(1, padded) < timer_wake_)
        wake_timer = true;
      rows_.push_back(std::move(row));
    }
  }
  work_.NotifyOne();
  if (wake_timer) timer_.NotifyOne();
  return Status::Ok();
}

void Batcher::Stop() {
  {
    MutexLock lock(mu_);
    stopping_ = true;
  }
  work_.NotifyAll();
  timer_.NotifyAll();
  for (std::thread& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
}

void Batcher::RunInstance(int instance) {
  while (true) {
    Step step = NextStep(instance);
    for (auto& [row, status] : step.failed) row->Fail(status);
    if (step.stop) return;
    if (!step.batch) continue;
    const int padded_length = step.batch->padded_length;
    const int rows = static_cast<int>(step.batch->rows.size());
    const Duration took = sink_.Run(instance, std::move(*step.batch));
    Finished(instance, rows, padded_length, took);
  }
}

Batcher::Step Batcher::NextStep(int instance) {
  Step step;
  MutexLock lock(mu_);
  ++idle_;
  while (true) {
    DropCancelled(&step);
    TimePoint wake = kNever;
    if (!rows_.empty()) {
      const TimePoint now = clock_.Now();
      Decide(idle_, now);
      wake = action_.wake;
      if (!action_.batch.empty()) {
        step.batch = TakeBatch(now);
        const Duration predicted =
            cost_.Predict(static_cast<int>(step.batch->rows.size()), step.batch->padded_length);
        busy_until_[static_cast<size_t>(instance)] = now + predicted;
      }
      TakeExpired(&step);
      Compact();
    } else if (stopping_) {
      step.stop = true;
    }
    if (step.batch || step.stop || !step.failed.empty()) break;
    clock_.Wait(work_, mu_, wake);
  }
  --idle_;
  // Rows that are left may be another idle instance's work.
  if (idle_ > 0 && !rows_.empty()) work_.NotifyOne();
  WakeToStop();
  return step;
}

void Batcher::Finished(int instance, int rows, int padded_length, Duration took) {
  MutexLock lock(mu_);
  busy_until_[static_cast<size_t>(instance)] = kNever;
  if (took > Duration::zero()) cost_.Observe(rows, padded_length, took);
}

void Batcher::RunTimer() {
  while (true) {
    Step step = NextTimerStep();
    for (auto& [row, status] : step.failed) row->Fail(status);
    if (step.stop) return;
  }
}

Batcher::Step Batcher::NextTimerStep() {
  Step step;
  MutexLock lock(mu_);
  while (true) {
    timer_wake_ = kNever;
    DropCancelled(&step);
    if (!rows_.empty()) {
      // No instance is offered: this thread only lets deadlines pass.
      Decide(0, clock_.Now());
      timer_wake_ = action_.wake;
      TakeExpired(&step);
      Compact();
    } else if (stopping_) {
      step.stop = true;
    }
    if (step.stop || !step.failed.empty()) break;
    clock_.Wait(timer_, mu_, timer_wake_);
  }
  WakeToStop();
  return step;
}

// Whoever waits for the queue to run empty before it stops must hear of the last row's leaving.
void Batcher::WakeToStop() {
  if (!stopping_ || !rows_.empty()) return;
  work_.NotifyAll();
  timer_.NotifyAll();
}

void Batcher::Decide(int idle, TimePoint now) {
  running_.clear();
  for (const TimePoint end : busy_until_) {
    if (end != kNever) running_.push_back(end);
  }
  const policy::Snapshot snapshot{.rows = infos_,
                                  .idle_instances = idle,
                                  .busy_until = running_,
                                  .cost = cost_,
                                  .arrivals_per_s = arrivals_.PerSecond(now),
                                  .mean_length = arrivals_.mean_length(),
                                  .limits = options_.limits};
  policy::Decide(snapshot, now, &state_, &action_);
}

void Batcher::DropCancelled(Step* step) {
  bool any = false;
  for (size_t i = 0; i < rows_.size(); ++i) {
    if (!rows_[i]->cancel || !rows_[i]->cancel->cancelled()) continue;
    step->failed.emplace_back(Take(i), CancelledError("the client left"));
    any = true;
  }
  if (any) Compact();
}

void Batcher::TakeExpired(Step* step) {
  for (const uint32_t index : action_.expired) {
    step->failed.emplace_back(Take(index),
                              DeadlineError("the deadline passed, or could no longer be met, while "
                                            "the row waited for a batch"));
  }
}

Batch Batcher::TakeBatch(TimePoint now) {
  Batch batch;
  batch.reason = action_.reason;
  batch.closed_at = now;
  for (const uint32_t index : action_.batch) {
    batch.rows.push_back(Take(index));
    batch.padded_length = std::max(
        batch.padded_length, policy::PaddedLength(options_.limits, batch.rows.back()->length));
  }
  return batch;
}

// Leaves a hole in rows_ that Compact() closes.
std::unique_ptr<Row> Batcher::Take(size_t index) {
  std::unique_ptr<Row> row = std::move(rows_[index]);
  queued_tokens_ -= policy::PaddedLength(options_.limits, row->length);
  queued_bytes_ -= row->bytes;
  depth_->rows[static_cast<size_t>(row->lane)].fetch_sub(1, std::memory_order_relaxed);
  return row;
}

void Batcher::Compact() {
  size_t kept = 0;
  for (size_t i = 0; i < rows_.size(); ++i) {
    if (!rows_[i]) continue;
    if (kept != i) {
      rows_[kept] = std::move(rows_[i]);
      infos_[kept] = infos_[i];
    }
    ++kept;
  }
  rows_.resize(kept);
  infos_.resize(kept);
}

}  // namespace gimbal::schedule
