#include "policy/cost_model.h"

#include <algorithm>
#include <cmath>

namespace gimbal::policy {
namespace {

constexpr double kSigmaMemory = 0.98;  // of one batch to the next
constexpr double kSigmaFloor = 1e-3;
constexpr double kOutlier = 0.5;        // a residual above this (and 4 sigma, or 1) is a stall...
constexpr int kShiftAfter = 5;          // ...unless that many come in a row
constexpr double kTokenUnit = 1. / 64;  // keeps the terms of the fit of similar size

stats::LeastSquares::Row Terms(double rows, double length) {
  const double s = length * kTokenUnit;
  return {rows * s, rows, 1, rows * s * s};
}

// Relative errors count, not nanoseconds: noise grows with the time, and small batches matter too.
void AddRelative(int rows, int length, double took, double scale, stats::LeastSquares* fit) {
  stats::LeastSquares::Row x = Terms(rows, length);
  for (double& v : x) v /= scale;
  fit->Add(x, took / scale);
}

}  // namespace

CostModel::Line CostModel::At(double length) const {
  if (!known()) return {};
  return {batch_, row_ + length * (token_ + length * token2_)};
}

Duration CostModel::Predict(int rows, int length) const {
  if (!known()) return Duration(0);
  return Duration(std::max<int64_t>(1, std::llround(At(length).At(rows))));
}

void CostModel::Seed(int rows, int length, Duration took) {
  if (took <= Duration(0)) return;
  const double y = static_cast<double>(took.count());
  ++seeds_;
  AddRelative(rows, length, y, y, &profile_);
  Fit();
}

void CostModel::Observe(int rows, int length, Duration took) {
  if (took <= Duration(0)) return;
  double y = static_cast<double>(took.count());
  double scale = y;
  if (known()) {
    scale = std::max(1., At(length).At(rows));
    double residual = y / scale - 1;
    const double limit = std::clamp(4 * sigma_, kOutlier, 1.);
    outliers_in_a_row_ = std::abs(residual) > limit ? outliers_in_a_row_ + 1 : 0;
    residual = std::clamp(residual, -limit, limit);
    if (outliers_in_a_row_ >= kShiftAfter) {
      recent_.Forget(0.5);  // the law itself has moved, and the profile's with it
      profile_weight_ *= 0.7;
      scale = y;
    } else {
      y = scale * (1 + residual);
    }
    const double variance =
        kSigmaMemory * sigma_ * sigma_ + (1 - kSigmaMemory) * residual * residual;
    sigma_ = std::max(kSigmaFloor, std::min(1., std::sqrt(variance)));
  }
  ++observed_;
  AddRelative(rows, length, y, scale, &recent_);
  Fit();
}

void CostModel::Fit() {
  stats::LeastSquares all = recent_;
  all.AddAll(profile_, profile_weight_);
  const stats::LeastSquares::Row w = all.Solve();
  token_ = w[0] * kTokenUnit;
  row_ = w[1];
  batch_ = w[2];
  token2_ = w[3] * kTokenUnit * kTokenUnit;
}

}  // namespace gimbal::policy
