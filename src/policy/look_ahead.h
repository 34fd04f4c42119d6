#pragma once

#include <span>

namespace gimbal::policy {

// The queue as the look-ahead sees it: rows of equal cost, batches that take fixed + rows ·
// per_row. All times are nanoseconds from now.
struct LookAhead {
  std::span<const double> slack;  // until each waiting row's deadline, ascending
  std::span<const double>
      busy_until;  // of the other instances; fewer than instances - 1: they are idle
  double fixed = 0;
  double per_row = 0;
  double arrival_gap = 0;  // mean time between arrivals; 0: none are expected
  double objective = 0;    // deadline - arrival of the rows to come
  double longest = 0;      // batches take no longer than this, so that the next ones meet theirs
  int max_rows = 1;
  int instances = 1;
};

struct Plan {
  int skip = 0;  // heads to leave behind
  int rows = 1;  // to take after them
  int late = 0;  // rows late or left behind in the imagined future
};

// Which rows to dispatch now so that fewest are late in the end. Imagines the next 2.5 objectives
// with evenly spaced arrivals and the plain rule (as many as the head's deadline allows) for each
// of a few first steps; picks the best. With several instances, waiting is one of them: eager
// instances split the work into small, dear batches. REQUIRES: slack is not empty, its first
// element >= fixed + per_row. At most `budget` imagined batches in all.
Plan PlanAhead(const LookAhead& queue, int budget);

}  // namespace gimbal::policy
