#include "policy/wait_bounds_test.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>

namespace gimbal::policy {

namespace {

double Ns(Duration d) { return static_cast<double>(d.count()); }

}  // namespace

WaitBounds::WaitBounds(const SimulationSpec& spec)
    : spec_(spec), limits_(spec.batch), rows_(spec.rows.size()) {}

void WaitBounds::Decided(const Snapshot& s, TimePoint now, const Action& a) {
  std::array<size_t, kLaneCount> waiting{};
  for (const QueuedRow& q : s.rows) {
    ++waiting[static_cast<size_t>(q.lane)];
    Row& row = rows_[q.id];
    if (row.seen) continue;
    row.seen = true;
    row.owed = owed_;
    row.batches_before = static_cast<int>(batches_.size());
  }
  for (const uint32_t i : a.expired) --waiting[static_cast<size_t>(s.rows[i].lane)];
  const bool both = waiting[0] > 0 && waiting[1] > 0;
  if (s.idle_instances > 0 && !both && waiting[0] + waiting[1] > 0) owed_ = 0;
  if (!a.batch.empty()) Start(s, now, a, both);
}

void WaitBounds::Start(const Snapshot& s, TimePoint now, const Action& a, bool both) {
  Batch b;
  b.started = b.ended = now;
  b.rows = static_cast<int>(a.batch.size());
  for (const uint32_t i : a.batch) {
    const QueuedRow& q = s.rows[i];
    b.padded = std::max(b.padded, PaddedLength(limits_, q.length));
    if (q.lane == Lane::kBulk) ++b.bulk;
    rows_[q.id].batch = static_cast<int>(batches_.size());
    rows_[q.id].gone = now;
  }
  const QueuedRow& first = s.rows[a.batch.front()];
  b.led_by = first.lane;
  if (limits_.scenario == Scenario::kBatch && first.deadline != kNever) {
    const Duration full = s.cost.Predict(limits_.max_rows, PaddedLength(limits_, first.length));
    b.urgent = Ns(first.deadline - now) < 2 * (1 + s.cost.sigma()) * Ns(full);
  }
  batches_.push_back(b);
  if (!both) return;
  const double most = static_cast<double>(limits_.max_tokens);
  owed_ = std::clamp(owed_ + b.padded * (limits_.bulk_share * b.rows - b.bulk), -most, most);
}

void WaitBounds::Answered(uint64_t row, RowFate fate, TimePoint at) {
  Row& r = rows_[row];
  r.fate = fate;
  if (r.batch >= 0)
    batches_[static_cast<size_t>(r.batch)].ended = at;
  else
    r.gone = at;
}

double WaitBounds::Took(const Batch& b) const { return Ns(b.ended - b.started); }

void WaitBounds::SetPrices() {
  double noise = 1;
  for (const Batch& b : batches_) {
    noise = std::max(noise, Took(b) / Ns(spec_.law.Mean(b.rows, b.padded)));
  }
  std::set<int> lengths;
  for (const SimulatedRow& row : spec_.rows) lengths.insert(PaddedLength(limits_, row.length));
  int64_t cells = limits_.max_tokens;
  if (limits_.memory_tokens > 0) cells = std::min(cells, limits_.memory_tokens);
  for (const int padded : lengths) {
    const auto rows = std::clamp<int64_t>(cells / padded, 1, limits_.max_rows);
    const Duration longest = spec_.law.Mean(static_cast<int>(rows), padded);
    prices_.longest = std::max(prices_.longest, noise * Ns(longest));
    prices_.token = std::max(prices_.token, noise * Ns(spec_.law.Mean(1, padded)) / padded);
    const double one = Ns(spec_.law.per_row + padded * spec_.law.per_token);
    // One bulk row with as many others as KeepBulkShare allows pays off at least half of its
    // tokens.
    const double batch = Ns(spec_.law.fixed) + one * std::max(1., 0.5 / limits_.bulk_share);
    prices_.debt = std::max(prices_.debt, noise * batch / (0.5 * padded));
  }
}

bool WaitBounds::GoesBefore(uint64_t row, uint64_t other) const {
  const SimulatedRow& r = spec_.rows[row];
  const SimulatedRow& o = spec_.rows[other];
  if (o.lane != r.lane || other == row) return false;
  if (other < row && (o.deadline == kNever || limits_.scenario == Scenario::kBatch)) return true;
  const Duration target =
      limits_.target > Duration(0) ? limits_.target : Duration(std::chrono::seconds(1));
  return o.deadline != kNever && o.deadline <= r.arrival + target;
}

WaitBounds::Own WaitBounds::OwnBatches(uint64_t row) {
  Own own;
  const size_t from = static_cast<size_t>(rows_[row].batches_before);
  counted_.assign(batches_.size(), 0);
  for (uint64_t other = 0; other < rows_.size(); ++other) {
    if (rows_[other].batch >= 0 && GoesBefore(row, other))
      counted_[static_cast<size_t>(rows_[other].batch)] = 1;
  }
  for (size_t i = from; i < batches_.size(); ++i) {
    const Batch& b = batches_[i];
    const bool before_r = b.started < rows_[row].gone;
    if (b.urgent && b.led_by == spec_.rows[row].lane && before_r) counted_[i] = 1;
    if (counted_[i] || before_r) own.bulk_tokens += double{1} * b.padded * b.bulk;
    if (!counted_[i]) continue;
    ++own.batches;
    own.time += Took(b);
    own.tokens += double{1} * b.padded * b.rows;
  }
  return own;
}

int WaitBounds::GaveUp(uint64_t row) const {
  int gave_up = 0;
  for (uint64_t other = 0; other < rows_.size(); ++other) {
    const Row& o = rows_[other];
    gave_up += o.batch < 0 && o.fate != RowFate::kRefused && o.gone <= rows_[row].gone &&
               o.gone >= spec_.rows[row].arrival && spec_.rows[other].lane == Lane::kInteractive;
  }
  return gave_up;
}

double WaitBounds::Bound(uint64_t row) {
  const SimulatedRow& r = spec_.rows[row];
  const double m = limits_.instances;
  const double patience = limits_.scenario == Scenario::kBatch ? Ns(limits_.max_wait) : 0;
  double running = 0;
  for (int i = 0; i < rows_[row].batches_before; ++i) {
    running += std::max(0., Ns(batches_[static_cast<size_t>(i)].ended - r.arrival));
  }
  const Own own = OwnBatches(row);
  double other = 0, idle = patience;
  const double owed = rows_[row].owed;
  if (r.lane == Lane::kInteractive) {
    other = prices_.debt * (std::max(0., owed) + limits_.bulk_share * own.tokens) +
            (own.batches + 1) * prices_.longest;
  } else {
    const double price = prices_.token + m * patience;
    other = price * (std::max(0., -owed) + own.bulk_tokens) / limits_.bulk_share +
            (own.batches + 2) * (prices_.longest + m * patience);
    if (patience > 0) idle += patience * GaveUp(row);
  }
  bool lanes[2] = {};
  for (const SimulatedRow& q : spec_.rows) lanes[static_cast<size_t>(q.lane)] = true;
  if (!lanes[0] || !lanes[1]) other = 0;
  return (running + own.time + other) / m + idle;
}

std::string WaitBounds::Broken() {
  SetPrices();
  for (uint64_t i = 0; i < rows_.size(); ++i) {
    const SimulatedRow& r = spec_.rows[i];
    if (r.deadline != kNever) {
      if (rows_[i].gone <= r.deadline) continue;
      return "row " + std::to_string(i) + " was answered after its deadline";
    }
    if (!rows_[i].seen) continue;  // refused at once
    const double wait = Ns(rows_[i].gone - r.arrival);
    const double bound = Bound(i);
    if (bound > 0) largest_share_ = std::max(largest_share_, wait / bound);
    if (wait <= bound + 1000) continue;
    return "row " + std::to_string(i) + " waited " + std::to_string(wait * 1e-6) +
           " ms, its bound is " + std::to_string(bound * 1e-6) + " ms";
  }
  return "";
}

}  // namespace gimbal::policy
