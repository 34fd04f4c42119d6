#include "stats/least_squares.h"

#include <bit>
#include <cmath>

namespace gimbal::stats {
namespace {

constexpr int kN = LeastSquares::kMaxTerms;
using Matrix = std::array<LeastSquares::Row, kN>;

// Solves m·x = v for a symmetric m of size n by Cholesky; false when m is (nearly) singular.
bool SolveSymmetric(Matrix m, LeastSquares::Row v, int n, LeastSquares::Row* x) {
  constexpr double kSingular = 1e-10;  // of the diagonal: below it two terms are the same line
  for (int j = 0; j < n; ++j) {
    const double diagonal = m[j][j];
    for (int k = 0; k < j; ++k) m[j][j] -= m[j][k] * m[j][k];
    if (!(m[j][j] > kSingular * diagonal)) return false;
    m[j][j] = std::sqrt(m[j][j]);
    for (int i = j + 1; i < n; ++i) {
      for (int k = 0; k < j; ++k) m[i][j] -= m[i][k] * m[j][k];
      m[i][j] /= m[j][j];
    }
  }
  for (int i = 0; i < n; ++i) {
    for (int k = 0; k < i; ++k) v[i] -= m[i][k] * v[k];
    v[i] /= m[i][i];
  }
  for (int i = n - 1; i >= 0; --i) {
    for (int k = i + 1; k < n; ++k) v[i] -= m[k][i] * v[k];
    v[i] /= m[i][i];
  }
  *x = v;
  return true;
}

}  // namespace

void LeastSquares::Add(const Row& x, double y, double weight) {
  Forget(forgetting_);
  weight_ += weight;
  yy_ += weight * y * y;
  for (int i = 0; i < terms_; ++i) {
    xy_[i] += weight * x[i] * y;
    for (int j = 0; j < terms_; ++j) xx_[i][j] += weight * x[i] * x[j];
  }
}

void LeastSquares::Forget(double factor) {
  if (factor == 1) return;
  weight_ *= factor;
  yy_ *= factor;
  for (int i = 0; i < terms_; ++i) {
    xy_[i] *= factor;
    for (int j = 0; j < terms_; ++j) xx_[i][j] *= factor;
  }
}

void LeastSquares::AddAll(const LeastSquares& other, double weight) {
  if (other.weight_ <= 0) return;
  const double scale = weight / other.weight_;
  weight_ += weight;
  yy_ += scale * other.yy_;
  for (int i = 0; i < terms_; ++i) {
    xy_[i] += scale * other.xy_[i];
    for (int j = 0; j < terms_; ++j) xx_[i][j] += scale * other.xx_[i][j];
  }
}

bool LeastSquares::SolveOn(std::span<const int> support, Row* coefficients,
                           double* explained) const {
  Matrix m{};
  Row v{};
  const int n = static_cast<int>(support.size());
  for (int i = 0; i < n; ++i) {
    v[i] = xy_[support[i]];
    for (int j = 0; j < n; ++j) m[i][j] = xx_[support[i]][support[j]];
  }
  Row x{};
  if (!SolveSymmetric(m, v, n, &x)) return false;
  *coefficients = Row{};
  *explained = 0;
  for (int i = 0; i < n; ++i) {
    if (!(x[i] >= 0)) return false;
    (*coefficients)[support[i]] = x[i];
    *explained += x[i] * v[i];
  }
  return true;
}

// The optimum under x >= 0 is the free optimum on its own support, so the best of all supports
// whose free optimum is >= 0 is exact; with four terms there are fifteen.
LeastSquares::Row LeastSquares::Solve() const {
  constexpr double kWorthATerm =
      1e-9;  // share of the sum of squares that one more term must explain
  Row best{};
  double best_explained = 0;
  for (int size = 1; size <= terms_; ++size) {
    for (unsigned mask = 1; mask < (1u << terms_); ++mask) {
      if (std::popcount(mask) != size) continue;
      std::array<int, kN> support{};
      int n = 0;
      for (int i = 0; i < terms_; ++i) {
        if (mask & (1u << i)) support[n++] = i;
      }
      Row candidate;
      double explained;
      if (!SolveOn({support.data(), static_cast<size_t>(n)}, &candidate, &explained)) continue;
      if (explained > best_explained + kWorthATerm * yy_) {
        best = candidate;
        best_explained = explained;
      }
    }
  }
  return best;
}

}  // namespace gimbal::stats
