#include "policy/simulator.h"

#include <algorithm>
#include <set>
#include <utility>

#include "policy/arrival_rate.h"
#include "stats/quantile.h"
#include "stats/rng.h"

namespace gimbal::policy {
namespace {

class Simulation {
 public:
  explicit Simulation(const SimulationSpec& spec) : spec_(spec), noise_(spec.seed) {
    if (spec.profiled) Profile();
    for (size_t i = 0; i < spec.rows.size(); ++i) {
      if (spec.rows[i].leaves != kNever) leaving_.emplace(spec.rows[i].leaves, i);
    }
  }

  SimulationResult Run() {
    while (true) {
      const TimePoint next = NextEvent();
      if (next == kNever) break;
      now_ = next;
      Finish();
      Leave();
      Arrive();
      if (spec_.policy == SimulatedPolicy::kGimbal) {
        FollowPolicy();
      } else {
        FollowWindow();
      }
    }
    return Result();
  }

 private:
  struct Running {
    TimePoint ends;
    TimePoint predicted;
    TimePoint started;
    int length;
    std::vector<uint64_t> rows;
  };

  int Idle() const { return spec_.batch.instances - static_cast<int>(running_.size()); }

  TimePoint NextEvent() const {
    TimePoint next = wake_;
    if (arrived_ < spec_.rows.size()) next = std::min(next, spec_.rows[arrived_].arrival);
    for (const Running& r : running_) next = std::min(next, r.ends);
    if (!leaving_.empty() && !queue_.empty()) next = std::min(next, leaving_.begin()->first);
    return next == kNever ? next : std::max(next, now_);
  }

  void Profile() {
    int longest = 1;
    for (const SimulatedRow& row : spec_.rows) longest = std::max(longest, row.length);
    for (const int rows : {1, 2, 4, 8, 16, 32}) {
      for (int length = longest; length >= 1; length /= 4) {
        cost_.Seed(rows, length, spec_.law.Mean(rows, length));
      }
    }
  }

  void Answer(uint64_t row, RowFate fate) {
    switch (fate) {
      case RowFate::kOnTime:
        ++result_.on_time;
        break;
      case RowFate::kLate:
        ++result_.late;
        break;
      case RowFate::kExpired:
      case RowFate::kRefused:
        ++result_.dropped;
        break;
      case RowFate::kLeft:
        ++result_.left;
        break;
    }
    last_answer_ = now_;
    if (spec_.hooks.answered) spec_.hooks.answered(row, fate, now_);
  }

  void Finish() {
    for (size_t i = 0; i < running_.size();) {
      Running& r = running_[i];
      if (r.ends > now_) {
        ++i;
        continue;
      }
      cost_.Observe(static_cast<int>(r.rows.size()), r.length, r.ends - r.started);
      for (const uint64_t row : r.rows) {
        Answer(row, now_ <= spec_.rows[row].deadline ? RowFate::kOnTime : RowFate::kLate);
      }
      std::swap(r, running_.back());
      running_.pop_back();
    }
  }

  void Leave() {
    while (!leaving_.empty() && leaving_.begin()->first <= now_) {
      const uint64_t row = leaving_.begin()->second;
      leaving_.erase(leaving_.begin());
      const auto at = std::find_if(queue_.begin(), queue_.end(),
                                   [row](const QueuedRow& q) { return q.id == row; });
      if (at == queue_.end()) continue;
      queue_.erase(at);
      Answer(row, RowFate::kLeft);
    }
  }

  void Arrive() {
    for (; arrived_ < spec_.rows.size() && spec_.rows[arrived_].arrival <= now_; ++arrived_) {
      const SimulatedRow& row = spec_.rows[arrived_];
      const int padded = PaddedLength(spec_.batch, row.length);
      rate_.Arrived(row.arrival, padded);
      if (!Admitted(row, padded)) {
        Answer(arrived_, RowFate::kRefused);
        continue;
      }
      queue_.push_back({arrived_, row.arrival, row.deadline, row.length, row.lane});
    }
  }

  bool Admitted(const SimulatedRow& row, int padded) const {
    if (spec_.policy != SimulatedPolicy::kGimbal) return true;
    QueueLoad load;
    load.rows = static_cast<int64_t>(queue_.size());
    for (const QueuedRow& q : queue_) load.tokens += PaddedLength(spec_.batch, q.length);
    load.idle_instances = Idle();
    load.next_idle = kNever;
    for (const Running& r : running_) load.next_idle = std::min(load.next_idle, r.predicted);
    if (running_.empty()) load.next_idle = now_;
    const NewRows request{1, padded, padded, Bytes{0}, row.deadline};
    return Admit(load, request, cost_, spec_.batch, spec_.admission, now_).admitted();
  }

  void FollowPolicy() {
    for (;;) {
      busy_until_.clear();
      for (const Running& r : running_) busy_until_.push_back(r.predicted);
      const Snapshot snapshot{
          queue_,     Idle(), busy_until_, cost_, rate_.PerSecond(now_), rate_.mean_length(),
          spec_.batch};
      Decide(snapshot, now_, &state_, &action_);
      if (spec_.hooks.decided) spec_.hooks.decided(snapshot, now_, action_);
      wake_ = queue_.empty() ? kNever : std::max(action_.wake, now_ + Duration(1));
      if (action_.batch.empty() && action_.expired.empty()) return;
      taken_.assign(queue_.size(), false);
      for (const uint32_t i : action_.expired) {
        taken_[i] = true;
        Answer(queue_[i].id, RowFate::kExpired);
      }
      for (const uint32_t i : action_.batch) taken_[i] = true;
      if (!action_.batch.empty()) Dispatch(action_.batch);
      size_t kept = 0;
      for (size_t i = 0; i < queue_.size(); ++i) {
        if (!taken_[i]) queue_[kept++] = queue_[i];
      }
      queue_.resize(kept);
      if (action_.batch.empty()) return;
    }
  }

  // How many rows from the front of the queue the limits allow in one batch; at least one.
  size_t WindowRows() const {
    const size_t most = std::min(queue_.size(), static_cast<size_t>(spec_.fixed_rows));
    if (spec_.fixed_tokens <= 0) return most;
    int64_t longest = 0;
    size_t rows = 0;
    for (; rows < most; ++rows) {
      longest = std::max<int64_t>(longest, PaddedLength(spec_.batch, queue_[rows].length));
      if (longest * static_cast<int64_t>(rows + 1) > spec_.fixed_tokens) break;
    }
    return std::max<size_t>(1, rows);
  }

  void FollowWindow() {
    wake_ = kNever;
    const bool waits = spec_.policy == SimulatedPolicy::kFixed;
    while (Idle() > 0 && !queue_.empty()) {
      const size_t rows = WindowRows();
      const TimePoint patience = queue_.front().arrival + spec_.fixed_wait;
      if (waits && rows == queue_.size() && rows < static_cast<size_t>(spec_.fixed_rows) &&
          now_ < patience) {
        wake_ = patience;
        return;
      }
      window_.clear();
      for (uint32_t i = 0; i < rows; ++i) window_.push_back(i);
      Dispatch(window_);
      queue_.erase(queue_.begin(), queue_.begin() + static_cast<std::ptrdiff_t>(rows));
    }
  }

  void Dispatch(const std::vector<uint32_t>& batch) {
    Running r;
    r.length = 1;
    for (const uint32_t i : batch) {
      r.length = std::max(r.length, PaddedLength(spec_.batch, queue_[i].length));
      r.rows.push_back(queue_[i].id);
      waits_.push_back(static_cast<double>((now_ - queue_[i].arrival).count()));
    }
    const int rows = static_cast<int>(batch.size());
    const double factor = noise_.LogNormalFactor(spec_.law.noise);
    const double took = static_cast<double>(spec_.law.Mean(rows, r.length).count()) * factor;
    r.started = now_;
    r.ends = now_ + std::max(Duration(1), Duration(static_cast<int64_t>(took)));
    r.predicted = now_ + cost_.Predict(rows, r.length);
    running_.push_back(std::move(r));
    ++result_.batches;
  }

  SimulationResult Result() {
    std::sort(waits_.begin(), waits_.end());
    if (!waits_.empty()) {
      result_.batch_mean =
          static_cast<double>(waits_.size()) / static_cast<double>(result_.batches);
      result_.wait_p50 = Duration(static_cast<int64_t>(stats::QuantileOfSorted(waits_, 0.5)));
      result_.wait_p99 = Duration(static_cast<int64_t>(stats::QuantileOfSorted(waits_, 0.99)));
    }
    if (!spec_.rows.empty() && last_answer_ > spec_.rows[0].arrival) {
      result_.goodput_per_s =
          static_cast<double>(result_.on_time) / Seconds(last_answer_ - spec_.rows[0].arrival);
    }
    return result_;
  }

  const SimulationSpec& spec_;
  stats::Rng noise_;
  CostModel cost_;
  ArrivalRate rate_;
  BatchState state_;
  Action action_;
  TimePoint now_{};
  TimePoint wake_ = kNever;
  TimePoint last_answer_{};
  size_t arrived_ = 0;
  std::vector<QueuedRow> queue_;
  std::vector<Running> running_;
  std::set<std::pair<TimePoint, uint64_t>> leaving_;
  std::vector<TimePoint> busy_until_;
  std::vector<bool> taken_;
  std::vector<uint32_t> window_;
  std::vector<double> waits_;
  SimulationResult result_;
};

}  // namespace

double SimulationResult::MissShare() const {
  const double counted = static_cast<double>(on_time + late + dropped);
  return counted == 0 ? 0 : static_cast<double>(late + dropped) / counted;
}

SimulationResult Simulate(const SimulationSpec& spec) { return Simulation(spec).Run(); }

}  // namespace gimbal::policy
