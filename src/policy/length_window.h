#pragma once

#include <cstdint>
#include <vector>

#include "policy/cost_model.h"

namespace gimbal::policy {

// A row that may join a batch.
struct WindowRow {
  int32_t padded = 1;  // its length, padded
  bool other_lane = false;
  int64_t deadline = 0;  // nanoseconds of the steady clock; orders rows of equal length
  double alone = 0;      // what it would cost in a batch of its own
  uint32_t row = 0;      // index in the snapshot
};

// Reused memory of FindWindow; fill `above` with the rows at least as long as the anchor (without
// it), `below` with the shorter ones.
struct WindowScratch {
  WindowRow anchor;
  std::vector<WindowRow> above, below;
};

struct WindowLimits {
  int rows = 1;
  int64_t cells = 0;  // rows x padded length
  double time = 0;    // nanoseconds that the batch may take
};

enum class WindowBound { kNone, kRows, kCells, kTime };

// Chooses the rows that share a batch with the anchor: rows of neighbouring lengths, within the
// limits, such that (sum of each row's cost alone) / (cost of the padded batch) is largest: the
// work that batching saves, less what padding adds. For rows of one length that is as many as fit.
// Appends the anchor and the chosen rows to `batch`; returns what kept the next row out (kNone: no
// row was left, or padding would cost more than batching saves). The anchor always goes, alone if
// it exceeds the limits. O(n) in the waiting rows, O(limits.rows²) in those near the anchor.
WindowBound FindWindow(const CostModel& cost, const WindowLimits& limits, WindowScratch* scratch,
                       std::vector<uint32_t>* batch);

// Cost law at one padded length; a stand-in of the right shape while the model knows nothing.
CostModel::Line LineAt(const CostModel& cost, int padded);

}  // namespace gimbal::policy
