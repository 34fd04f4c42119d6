#include "policy/look_ahead.h"

#include <algorithm>
#include <array>
#include <limits>

namespace gimbal::policy {
namespace {

constexpr int kMaxSkip = 12;
constexpr int kMaxInstances = 16;  // more are imagined as that many
constexpr double kHorizon = 2.5;   // objectives
constexpr int kInfinite = std::numeric_limits<int>::max();

class Imagination {
 public:
  Imagination(const LookAhead& q, int* budget)
      : q_(q), budget_(*budget), cap_(std::max(1, std::min(q.max_rows, RowsWithin(q.longest)))) {}

  int cap() const { return cap_; }
  int RowsWithin(double time) const {
    const double rows = (time - q_.fixed) / std::max(1e-3, q_.per_row);
    return rows < 1 ? 0 : rows > 1e6 ? 1000000 : static_cast<int>(rows + 1e-9);
  }

  // Rows that end late when `rows` rows after `skip` heads go first; stops counting at `enough`.
  int Late(int skip, int rows, int enough) {
    Busy();
    free_[0] = q_.fixed + q_.per_row * rows;
    return Continue(skip + rows, skip, enough);
  }

 private:
  static constexpr double kNoArrival = 1e300;

  int instances() const { return std::min(q_.instances, kMaxInstances); }

  void Busy() {
    free_.fill(0);
    for (int i = 1; i < instances() && i <= static_cast<int>(q_.busy_until.size()); ++i) {
      free_[i] = std::max(0., q_.busy_until[i - 1]);
    }
  }

  int Continue(int head, int late, int enough) {
    const double horizon = kHorizon * q_.objective;
    while (late < enough && budget_ > 0) {
      --budget_;
      double* instance = std::min_element(free_.begin(), free_.begin() + instances());
      const double t = std::max(*instance, Arrival(head));
      if (t >= horizon) break;
      const int waiting = Arrived(t);
      while (head < waiting && t + q_.fixed + q_.per_row > Deadline(head)) ++head, ++late;
      if (head >= waiting) {
        *instance = t;
        if (Arrival(head) == kNoArrival) break;
        continue;
      }
      const int n = std::max(1, std::min({waiting - head, cap_, RowsWithin(Deadline(head) - t)}));
      head += n;
      *instance = t + q_.fixed + q_.per_row * n;
    }
    return late;
  }

  int queued() const { return static_cast<int>(q_.slack.size()); }
  double Arrival(int i) const {
    if (i < queued()) return 0;
    return q_.arrival_gap > 0 ? (i - queued() + 1) * q_.arrival_gap : kNoArrival;
  }
  double Deadline(int i) const { return i < queued() ? q_.slack[i] : Arrival(i) + q_.objective; }
  int Arrived(double t) const {
    return q_.arrival_gap > 0 ? queued() + static_cast<int>(t / q_.arrival_gap + 1e-9) : queued();
  }

  const LookAhead& q_;
  int& budget_;
  int cap_;
  std::array<double, kMaxInstances> free_{};
};

}  // namespace

Plan PlanAhead(const LookAhead& q, int budget) {
  Imagination imagine(q, &budget);
  const int queued = static_cast<int>(q.slack.size());
  Plan best{0, 1, kInfinite};
  for (int skip = 0; skip <= std::min(kMaxSkip, queued - 1) && skip < best.late; ++skip) {
    const int behind = queued - skip;
    const int feasible =
        std::max(1, std::min({behind, q.max_rows, imagine.RowsWithin(q.slack[skip])}));
    const std::array<int, 3> choices = {feasible, std::min(feasible, imagine.cap()),
                                        std::min(feasible, (behind + 1) / 2)};
    for (size_t i = 0; i < choices.size(); ++i) {
      const int rows = choices[i];
      if (std::find(choices.begin(), choices.begin() + i, rows) != choices.begin() + i) continue;
      const int late = imagine.Late(skip, rows, best.late == kInfinite ? kInfinite : best.late + 1);
      if (late < best.late || (late == best.late && rows > best.rows)) best = {skip, rows, late};
    }
    if (budget <= 0) break;
  }
  return best;
}

}  // namespace gimbal::policy
