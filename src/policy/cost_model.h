#pragma once

#include <cstdint>

#include "base/clock.h"
#include "stats/least_squares.h"

namespace gimbal::policy {

// How long a batch of `rows` rows padded to `length` tokens computes:
//
//   L(rows, length) = batch + rows · (row + token · length + token² · length²)
//
// with coefficients >= 0 fitted to measured batches, old ones forgotten (memory of about 100
// batches). Start-up profile points (`Seed`) count like a few batches for ever, so that the shape
// of the law survives when traffic shows one batch size only. A rare stall moves the fit little; a
// lasting change is taken over within some ten batches.
//
// One per model version and kind of instance. Copyable; not thread-safe: the batcher guards it.
class CostModel {
 public:
  // One measured point of the start-up profile; fixed-size models have length 1.
  // REQUIRES: rows >= 1, length >= 1 (here and below). A duration <= 0 is ignored.
  void Seed(int rows, int length, Duration took);
  void Observe(int rows, int length, Duration took);

  // Enough was seen (two profile points or three batches) to predict.
  bool known() const { return seeds_ >= 2 || observed_ >= 3; }
  // 0 while unknown; then > 0, and growing in both arguments.
  Duration Predict(int rows, int length) const;
  // Standard deviation of measured / predicted: the noise that a plan should leave room for.
  double sigma() const { return sigma_; }

  // The law at one length, L(n) = fixed + n · per_row, in nanoseconds; both 0 while unknown.
  struct Line {
    double fixed = 0;
    double per_row = 0;
    double At(double rows) const { return fixed + rows * per_row; }
  };
  Line At(double length) const;

  uint64_t observed() const { return observed_; }

 private:
  void Fit();

  // Nanoseconds; the order is the order of the terms of the fit.
  double token_ = 0, row_ = 0, batch_ = 0, token2_ = 0;
  double sigma_ = 0.02;
  uint64_t seeds_ = 0;
  uint64_t observed_ = 0;
  int outliers_in_a_row_ = 0;
  double profile_weight_ = 5;  // batches
  stats::LeastSquares profile_{4, 1.0};
  stats::LeastSquares recent_{4, 0.99};
};

}  // namespace gimbal::policy
