#include "policy/length_window.h"

#include <algorithm>
#include <cstddef>

namespace gimbal::policy {
namespace {

// Keeps the `keep` rows nearest to the anchor in length, nearest first.
template <typename Before>
void KeepNearest(std::vector<WindowRow>* rows, size_t keep, Before before) {
  const size_t kept = std::min(keep, rows->size());
  std::partial_sort(rows->begin(), rows->begin() + static_cast<ptrdiff_t>(kept), rows->end(),
                    before);
  rows->resize(kept);
}

bool Sooner(const WindowRow& a, const WindowRow& b) {
  if (a.other_lane != b.other_lane) return b.other_lane;
  if (a.deadline != b.deadline) return a.deadline < b.deadline;
  return a.row < b.row;
}

struct Best {
  double score = 0;
  size_t above = 0;
  size_t below = 0;
};

class Search {
 public:
  Search(const CostModel& cost, const WindowLimits& limits, const WindowScratch& s)
      : cost_(cost), limits_(limits), s_(s) {}

  Best Run() {
    double sum = s_.anchor.alone;
    for (size_t up = 0;; ++up) {
      const int padded = LengthWith(up);
      const CostModel::Line line = LineAt(cost_, padded);
      if (up > 0 && !Fits(up + 1, padded, line)) break;
      // Within one length more rows are always better: only the last that fits is a candidate.
      const bool more = up < s_.above.size();
      const bool same = more && s_.above[up].padded == padded && Fits(up + 2, padded, line);
      if (!same) TryBelow(up, sum, padded, line);
      if (!more) break;
      sum += s_.above[up].alone;
    }
    return best_;
  }

  WindowBound Bound(const Best& best) const {
    const size_t rows = 1 + best.above + best.below;
    WindowBound bound = WindowBound::kNone;
    const auto consider = [&](int padded) {
      const CostModel::Line line = LineAt(cost_, padded);
      if (Fits(rows + 1, padded, line)) return;
      if (rows >= static_cast<size_t>(limits_.rows))
        bound = WindowBound::kRows;
      else if (Cells(rows + 1, padded) > limits_.cells)
        bound = WindowBound::kCells;
      else
        bound = WindowBound::kTime;
    };
    if (best.above < s_.above.size()) consider(s_.above[best.above].padded);
    if (bound == WindowBound::kNone && best.below < s_.below.size())
      consider(LengthWith(best.above));
    if (rows >= static_cast<size_t>(limits_.rows)) bound = WindowBound::kRows;
    return bound;
  }

 private:
  int LengthWith(size_t above) const {
    return above == 0 ? s_.anchor.padded : s_.above[above - 1].padded;
  }
  static int64_t Cells(size_t rows, int padded) { return static_cast<int64_t>(rows) * padded; }
  bool Fits(size_t rows, int padded, const CostModel::Line& line) const {
    return rows <= static_cast<size_t>(limits_.rows) && Cells(rows, padded) <= limits_.cells &&
           line.At(static_cast<double>(rows)) <= limits_.time;
  }

  // Grows the window downwards; rows get shorter, so once one does not pay, none after it does.
  void TryBelow(size_t up, double sum, int padded, const CostModel::Line& line) {
    size_t rows = up + 1;
    double score = sum / line.At(static_cast<double>(rows));
    size_t down = 0;
    while (down < s_.below.size() && Fits(rows + 1, padded, line)) {
      const double longer = sum + s_.below[down].alone;
      const double next = longer / line.At(static_cast<double>(rows + 1));
      if (next <= score) break;
      sum = longer;
      score = next;
      ++rows;
      ++down;
    }
    if (score > best_.score) best_ = {score, up, down};
  }

  const CostModel& cost_;
  const WindowLimits& limits_;
  const WindowScratch& s_;
  Best best_;
};

}  // namespace

CostModel::Line LineAt(const CostModel& cost, int padded) {
  if (cost.known()) return cost.At(padded);
  return {64, static_cast<double>(padded)};  // a batch costs about as much as 64 tokens
}

WindowBound FindWindow(const CostModel& cost, const WindowLimits& limits, WindowScratch* scratch,
                       std::vector<uint32_t>* batch) {
  const size_t keep = static_cast<size_t>(std::max(1, limits.rows));  // one more than can be used
  KeepNearest(&scratch->above, keep, [](const WindowRow& a, const WindowRow& b) {
    return a.padded != b.padded ? a.padded < b.padded : Sooner(a, b);
  });
  KeepNearest(&scratch->below, keep, [](const WindowRow& a, const WindowRow& b) {
    return a.padded != b.padded ? a.padded > b.padded : Sooner(a, b);
  });
  Search search(cost, limits, *scratch);
  const Best best = search.Run();
  batch->push_back(scratch->anchor.row);
  for (size_t i = 0; i < best.above; ++i) batch->push_back(scratch->above[i].row);
  for (size_t i = 0; i < best.below; ++i) batch->push_back(scratch->below[i].row);
  return search.Bound(best);
}

}  // namespace gimbal::policy
