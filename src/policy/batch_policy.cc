#include "policy/batch_policy.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "policy/look_ahead.h"

namespace gimbal::policy {

constexpr double kDefaultTarget = 1e9;  // ns; order of rows without deadline and objective
constexpr double kForget = 0.95;        // of the smoothed interactive slack, each row
constexpr Duration kInteractiveMemory = std::chrono::seconds(10);
constexpr double kOverloadOn = 1.1, kOverloadOff = 1.0;  // offered / bearable load
constexpr double kUnlimited = std::numeric_limits<double>::infinity();
constexpr double kPlanShare = 0.02;    // of the shortest batch's time, for one look-ahead
constexpr double kLongestPlan = 50e3;  // ns, of one look-ahead: it runs under the queue's lock
constexpr double kPlanStep = 12;       // ns of one imagined batch, measured

constexpr int64_t kRounding = 100;  // ns, so that a batch closed by its deadline still meets it

int PaddedLength(const BatchLimits& limits, int length) {
  if (limits.equal_lengths_only || limits.length_bucket <= 1 || length <= 1) return length;
  const int padded =
      (length + limits.length_bucket - 1) / limits.length_bucket * limits.length_bucket;
  return limits.max_length > 0 ? std::max(length, std::min(padded, limits.max_length)) : padded;
}

// One call of Decide: its arguments and what it works out on the way.
class BatchDecision {
 public:
  BatchDecision(const Snapshot& snapshot, TimePoint now, BatchState* state, Action* action)
      : in_(snapshot),
        limits_(snapshot.limits),
        now_(now),
        state_(*state),
        out_(*action),
        margin_(1 + snapshot.cost.sigma()) {}

  void Run() {
    out_.batch.clear();
    out_.expired.clear();
    out_.wake = kNever;
    out_.reason = CloseReason::kIdle;
    ExpireDoomed();
    if (state_.live_.empty() || in_.idle_instances <= 0) return;
    const Lane lane = PickLane();
    switch (limits_.scenario) {
      case Scenario::kOnline:
        Online(lane);
        break;
      case Scenario::kBatch:
        Batch(lane);
        break;
      case Scenario::kEdge:
        Edge(lane);
        break;
    }
    if (!out_.batch.empty()) Account();
  }

 private:
  struct Head {
    uint32_t row = 0;
    double deadline = kUnlimited;  // ns from now, effective
  };

  const QueuedRow& Row(uint32_t i) const { return in_.rows[i]; }
  int Padded(uint32_t i) const { return PaddedLength(limits_, Row(i).length); }
  static bool Hard(const QueuedRow& row) { return row.deadline != kNever; }
  double Target() const {
    return limits_.target > Duration(0) ? static_cast<double>(limits_.target.count())
                                        : kDefaultTarget;
  }
  double FromNow(TimePoint t) const { return static_cast<double>((t - now_).count()); }
  // Until the deadline, or for rows without one until they are over-due and go by age; ns.
  double Slack(const QueuedRow& row) const {
    return Hard(row) ? FromNow(row.deadline) : FromNow(row.arrival) + Target();
  }
  double Objective(const QueuedRow& row) const {
    return Hard(row) ? std::max(1., static_cast<double>((row.deadline - row.arrival).count()))
                     : Target();
  }
  double Alone(int padded) const { return in_.cost.At(padded).At(1); }

  void ExpireDoomed();
  Lane PickLane();
  Head Earliest(Lane lane, double not_before) const;
  Head EarliestHard(Lane lane) const;
  Head Oldest(Lane lane) const;
  void Online(Lane lane);
  double LongestBatch(Lane lane, const QueuedRow& head) const;
  bool Overloaded(double objective, const CostModel::Line& line);
  bool CanLookAhead(Lane lane, const QueuedRow& head) const;
  Head LookFurther(Lane lane, Head head, double longest, double* time);
  void Batch(Lane lane);
  void WaitForMore(const QueuedRow& oldest);
  void Edge(Lane lane);
  WindowBound Fill(const Head& anchor, WindowLimits window);
  bool KeepBulkShare();
  double BatchTime() const;
  bool DropLate();
  WindowLimits Limits() const;
  CloseReason Reason(WindowBound bound) const;
  void Wake(TimePoint at) { out_.wake = std::min(out_.wake, at); }
  void Account();

  const Snapshot& in_;
  const BatchLimits& limits_;
  const TimePoint now_;
  BatchState& state_;
  Action& out_;
  const double margin_;
  bool bulk_waits_ = false;
  bool interactive_waits_ = false;
};

void BatchDecision::ExpireDoomed() {
  state_.live_.clear();
  for (uint32_t i = 0; i < in_.rows.size(); ++i) {
    const QueuedRow& row = Row(i);
    if (Hard(row)) {
      const Duration needs(static_cast<int64_t>(Alone(Padded(i)) * margin_));
      const TimePoint doomed = row.deadline - needs;
      if (now_ > doomed || now_ >= row.deadline) {
        out_.expired.push_back(i);
        continue;
      }
      Wake(std::min(doomed + Duration(1), row.deadline));
    }
    (row.lane == Lane::kBulk ? bulk_waits_ : interactive_waits_) = true;
    state_.live_.push_back(i);
  }
}

// Bulk goes first when it is owed tokens, else interactive; what the other lane adds to fill the
// batch counts too (Account).
Lane BatchDecision::PickLane() {
  if (interactive_waits_) {
    state_.interactive_seen_ = now_;
  }
  if (!bulk_waits_ || !interactive_waits_) {
    state_.bulk_owed_ = 0;
    return bulk_waits_ ? Lane::kBulk : Lane::kInteractive;
  }
  return state_.bulk_owed_ > 0 ? Lane::kBulk : Lane::kInteractive;
}

void BatchDecision::Account() {
  int longest = 1;
  int bulk = 0;
  for (const uint32_t i : out_.batch) {
    const QueuedRow& row = Row(i);
    longest = std::max(longest, Padded(i));
    if (row.lane == Lane::kBulk) {
      ++bulk;
    } else if (Hard(row) || limits_.target > Duration(0)) {
      double& slack = state_.interactive_slack_;
      slack = slack == 0 ? Objective(row) : kForget * slack + (1 - kForget) * Objective(row);
    }
  }
  if (!bulk_waits_ || !interactive_waits_) return;
  const double rows = static_cast<double>(out_.batch.size());
  const double limit = static_cast<double>(limits_.max_tokens);
  state_.bulk_owed_ += longest * (limits_.bulk_share * rows - bulk);
  state_.bulk_owed_ = std::clamp(state_.bulk_owed_, -limit, limit);
}

BatchDecision::Head BatchDecision::Earliest(Lane lane, double not_before) const {
  Head head;
  for (const uint32_t i : state_.live_) {
    if (Row(i).lane != lane) continue;
    const double slack = Slack(Row(i));
    if (slack >= not_before && slack < head.deadline) head = {i, slack};
  }
  return head;
}

BatchDecision::Head BatchDecision::EarliestHard(Lane lane) const {
  Head head;
  for (const uint32_t i : state_.live_) {
    if (Row(i).lane != lane || !Hard(Row(i))) continue;
    const double slack = Slack(Row(i));
    if (slack < head.deadline) head = {i, slack};
  }
  return head;
}

BatchDecision::Head BatchDecision::Oldest(Lane lane) const {
  for (const uint32_t i : state_.live_) {
    if (Row(i).lane == lane) return {i, Slack(Row(i))};
  }
  return {};
}

WindowLimits BatchDecision::Limits() const {
  WindowLimits window;
  window.rows = limits_.max_rows;
  window.cells = limits_.max_tokens;
  if (limits_.memory_tokens > 0) window.cells = std::min(window.cells, limits_.memory_tokens);
  window.time = kUnlimited;
  return window;
}

CloseReason BatchDecision::Reason(WindowBound bound) const {
  switch (bound) {
    case WindowBound::kNone:
      return CloseReason::kIdle;
    case WindowBound::kTime:
      return CloseReason::kDeadline;
    case WindowBound::kRows:
      break;
    case WindowBound::kCells:
      if (limits_.memory_tokens > 0 && limits_.memory_tokens < limits_.max_tokens) {
        return CloseReason::kMemory;
      }
      break;
  }
  return limits_.scenario == Scenario::kEdge ? CloseReason::kMemory : CloseReason::kFull;
}

// Fills out_.batch around the anchor with rows that are due no earlier than it, and that end in
// time.
WindowBound BatchDecision::Fill(const Head& anchor, WindowLimits window) {
  WindowScratch& scratch = state_.window_;
  scratch.above.clear();
  scratch.below.clear();
  const Lane lane = Row(anchor.row).lane;
  const auto candidate = [&](uint32_t i, double slack) {
    const int padded = Padded(i);
    return WindowRow{padded, Row(i).lane != lane, static_cast<int64_t>(slack),
                     LineAt(in_.cost, padded).At(1), i};
  };
  scratch.anchor = candidate(anchor.row, anchor.deadline);
  const double ends = window.time * margin_;
  for (const uint32_t i : state_.live_) {
    if (i == anchor.row) continue;
    const QueuedRow& row = Row(i);
    const double slack = Slack(row);
    // What is due before the anchor and this batch's end was left behind on purpose.
    if (Hard(row) && slack < anchor.deadline && slack < ends && ends < kUnlimited) continue;
    const WindowRow c = candidate(i, slack);
    if (c.padded >= scratch.anchor.padded) {
      if (!limits_.equal_lengths_only || c.padded == scratch.anchor.padded)
        scratch.above.push_back(c);
    } else if (!limits_.equal_lengths_only) {
      scratch.below.push_back(c);
    }
  }
  WindowBound bound = FindWindow(in_.cost, window, &scratch, &out_.batch);
  if (lane == Lane::kBulk && interactive_waits_ && KeepBulkShare()) bound = WindowBound::kNone;
  return DropLate() ? WindowBound::kTime : bound;
}

// In a batch that the bulk lane was owed, bulk rows have at least twice their share, so the debt
// falls.
bool BatchDecision::KeepBulkShare() {
  const auto bulk = [&](uint32_t i) { return Row(i).lane == Lane::kBulk; };
  const auto rows = std::count_if(out_.batch.begin(), out_.batch.end(), bulk);
  auto room = static_cast<int64_t>(static_cast<double>(rows) / (2 * limits_.bulk_share)) - rows;
  return std::erase_if(out_.batch, [&](uint32_t i) { return !bulk(i) && --room < 0; }) > 0;
}

double BatchDecision::BatchTime() const {
  int longest = 1;
  for (const uint32_t i : out_.batch) longest = std::max(longest, Padded(i));
  return margin_ * in_.cost.At(longest).At(static_cast<double>(out_.batch.size()));
}

// Takes rows out of the batch that would miss their deadline in it but need not alone.
bool BatchDecision::DropLate() {
  const double ends = BatchTime();
  return std::erase_if(out_.batch, [&](uint32_t i) {
           return Hard(Row(i)) && i != out_.batch.front() && Slack(Row(i)) < ends;
         }) > 0;
}

// The longest batch after which the rows that arrive meanwhile can still meet their own deadline:
// they wait for it (1/m of it, with m instances), then compute with all that came with them.
double BatchDecision::LongestBatch(Lane lane, const QueuedRow& head) const {
  double objective = Objective(head);
  if (lane == Lane::kBulk && state_.interactive_slack_ > 0 &&
      now_ - state_.interactive_seen_ < kInteractiveMemory) {
    objective = std::min(objective, state_.interactive_slack_);
  }
  const CostModel::Line line = in_.cost.At(std::max(1., in_.mean_length));
  const double per_ns = in_.arrivals_per_s * 1e-9;
  const double m = limits_.instances;
  // A burst (the rows of one request arrive in no time) is not a rate that lasts: no more load is
  // planned for than the instances can bear.
  const double load = std::min(m, per_ns * line.per_row);
  return std::max(0., m * (objective - line.fixed) / (1 + load));
}

// Whether more arrives than can be served in time at all; with hysteresis.
bool BatchDecision::Overloaded(double objective, const CostModel::Line& line) {
  const double m = limits_.instances;
  const double time = objective / (1 + 1 / m);
  const double rows =
      std::min<double>(limits_.max_rows, (time - line.fixed) / std::max(1e-3, line.per_row));
  const double bearable = rows < 1 ? 0 : m * rows / line.At(rows);  // rows per ns
  const double load = in_.arrivals_per_s * 1e-9 / std::max(1e-18, bearable);
  state_.overloaded_ = load > (state_.overloaded_ ? kOverloadOff : kOverloadOn);
  return state_.overloaded_;
}

bool BatchDecision::CanLookAhead(Lane lane, const QueuedRow& head) const {
  if (!in_.cost.known() || !Hard(head)) return false;
  for (const uint32_t i : state_.live_) {
    if (Row(i).lane == lane && (!Hard(Row(i)) || Row(i).length != head.length)) return false;
  }
  return true;
}

// Moves the anchor behind heads that are better left, and bounds the batch's time.
BatchDecision::Head BatchDecision::LookFurther(Lane lane, Head head, double longest, double* time) {
  std::vector<double>& slack = state_.slack_;
  slack.clear();
  for (const uint32_t i : state_.live_) {
    if (Row(i).lane == lane) slack.push_back(Slack(Row(i)));
  }
  if (!std::is_sorted(slack.begin(), slack.end())) std::sort(slack.begin(), slack.end());
  const CostModel::Line line = in_.cost.At(Padded(head.row));
  const double objective = Objective(Row(head.row));
  const int queued = static_cast<int>(slack.size());
  Plan plan;
  const double most = std::min<double>(
      limits_.max_rows, std::max(1., (objective / (1 + 1. / limits_.instances) - line.fixed) /
                                         std::max(1e-3, line.per_row)));
  if (Overloaded(objective, line) && queued > most) {
    const double needs = line.At(std::floor(std::min<double>(queued, most))) * margin_;
    while (plan.skip < queued - 1 && slack[plan.skip] < needs) ++plan.skip;
    plan.rows = static_cast<int>(most);
  } else {
    LookAhead look;
    look.slack = slack;
    look.fixed = line.fixed * margin_;
    look.per_row = line.per_row * margin_;
    look.arrival_gap = in_.arrivals_per_s > 0 ? 1e9 / in_.arrivals_per_s : 0;
    look.objective = objective;
    look.longest = longest;
    look.max_rows = limits_.max_rows;
    look.instances = limits_.instances;
    state_.busy_.clear();
    for (const TimePoint t : in_.busy_until) state_.busy_.push_back(FromNow(t));
    look.busy_until = state_.busy_;
    const double time_to_plan = std::min(kPlanShare * line.At(1), kLongestPlan);
    plan = PlanAhead(look, static_cast<int>(time_to_plan / kPlanStep));
  }
  // The other lane may fill what this one leaves of the longest batch.
  const bool others = lane == Lane::kBulk ? interactive_waits_ : bulk_waits_;
  *time = std::max(line.At(plan.rows + 0.5), others ? *time : 0);
  return plan.skip == 0 ? head : Earliest(lane, slack[plan.skip]);
}

void BatchDecision::Online(Lane lane) {
  Head head = Earliest(lane, -kUnlimited);
  WindowLimits window = Limits();
  if (in_.cost.known()) {
    const double longest = LongestBatch(lane, Row(head.row));
    double time = longest;
    if (CanLookAhead(lane, Row(head.row))) head = LookFurther(lane, head, longest, &time);
    const double alone = Alone(Padded(head.row));
    const double due = head.deadline / margin_;
    // An over-due row without deadline has nothing to lose, and goes with as many as pay.
    if (due >= alone) time = std::min(time, due);
    window.time = std::max(time, alone);
  }
  out_.reason = Reason(Fill(head, window));
}

void BatchDecision::Batch(Lane lane) {
  Head head = Oldest(lane);
  WindowLimits window = Limits();
  if (in_.cost.known()) {
    // A deadline that two more full batches would miss goes before age.
    const Head due = EarliestHard(lane);
    const double full = in_.cost.At(Padded(due.row)).At(window.rows);
    if (due.deadline < 2 * margin_ * full) head = due;
    if (Hard(Row(head.row))) {
      window.time = std::max(head.deadline / margin_, Alone(Padded(head.row)));
    }
  }
  const WindowBound bound = Fill(head, window);
  out_.reason = Reason(bound);
  // What the other lane may not fill is no reason to wait: there are rows enough.
  const bool alone = !bulk_waits_ || !interactive_waits_;
  if (bound == WindowBound::kNone && (alone || lane == Lane::kInteractive))
    WaitForMore(Row(Oldest(lane).row));
}

// Puts the batch off while the wait promised to the oldest row lasts and every deadline in it
// holds.
void BatchDecision::WaitForMore(const QueuedRow& oldest) {
  TimePoint until = oldest.arrival + limits_.max_wait;
  CloseReason over = limits_.max_wait > Duration(0) ? CloseReason::kWait : CloseReason::kIdle;
  const Duration needs(static_cast<int64_t>(BatchTime()) + kRounding);
  for (const uint32_t i : out_.batch) {
    const QueuedRow& row = Row(i);
    if (!Hard(row)) continue;
    // Without a prediction, half of the time that the row has is left for its batch.
    const TimePoint latest =
        in_.cost.known() ? row.deadline - needs : row.arrival + (row.deadline - row.arrival) / 2;
    if (latest < until) {
      until = latest;
      over = CloseReason::kDeadline;
    }
  }
  if (now_ < until) {
    out_.batch.clear();
    Wake(until);
  } else {
    out_.reason = over;
  }
}

void BatchDecision::Edge(Lane lane) {
  const Head head = Earliest(lane, -kUnlimited);
  WindowLimits window = Limits();
  const CostModel::Line line = in_.cost.At(Padded(head.row));
  if (in_.cost.known()) {
    // The backlog counts as if it came within one target: it should be gone by then.
    const double backlog = static_cast<double>(state_.live_.size()) / Target();
    const double rate = 1.1 * (in_.arrivals_per_s * 1e-9 + backlog) / limits_.instances;
    const double spare = 1 - rate * line.per_row;
    const double rows = spare > 0 ? std::ceil(rate * line.fixed / spare) : kUnlimited;
    window.rows = static_cast<int>(std::clamp<double>(rows, 1, limits_.max_rows));
    if (head.deadline / margin_ >= line.At(1)) window.time = head.deadline / margin_;
  }
  out_.reason = Reason(Fill(head, window));
}

void Decide(const Snapshot& snapshot, TimePoint now, BatchState* state, Action* action) {
  BatchDecision(snapshot, now, state, action).Run();
}

}  // namespace gimbal::policy
