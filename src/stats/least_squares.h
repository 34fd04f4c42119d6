#pragma once

#include <array>
#include <span>

namespace gimbal::stats {

// Least squares with coefficients >= 0 that forgets old observations: after n newer ones, an
// observation counts forgetting^n times its weight. Equals recursive least squares with forgetting,
// kept as normal equations so that the constraint can be solved exactly (at most four terms).
//
// Terms that the data cannot tell apart are resolved in favour of few and of early terms, so put
// the term that should explain everything when only one point is known first. Copyable; not
// thread-safe; no allocation.
class LeastSquares {
 public:
  static constexpr int kMaxTerms = 4;
  using Row = std::array<double, kMaxTerms>;

  // REQUIRES: 1 <= terms <= kMaxTerms, 0 < forgetting <= 1.
  LeastSquares(int terms, double forgetting) : terms_(terms), forgetting_(forgetting) {}

  void Add(const Row& x, double y, double weight = 1);
  // Multiplies the weight of all that was seen so far by `factor`, for a jump of the law.
  void Forget(double factor);
  // Adds the observations of `other`, scaled so that together they weigh `weight`.
  void AddAll(const LeastSquares& other, double weight);

  Row Solve() const;
  double weight() const { return weight_; }

 private:
  bool SolveOn(std::span<const int> support, Row* coefficients, double* explained) const;

  int terms_;
  double forgetting_;
  double weight_ = 0;
  double yy_ = 0;
  Row xy_{};
  std::array<Row, kMaxTerms> xx_{};
};

}  // namespace gimbal::stats
