#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "stats/interval.h"
#include "stats/least_squares.h"
#include "stats/quantile.h"
#include "stats/rng.h"
#include "stats/warmup.h"

namespace gimbal::stats {
namespace {

TEST(Quantile, IsNearestRank) {
  std::vector<double> v;
  for (int i = 100; i >= 1; --i) v.push_back(i);
  EXPECT_EQ(Quantile(v, 0.99), 99);
  EXPECT_EQ(Quantile(v, 0.5), 50);
  EXPECT_EQ(Quantile(v, 0), 1);
  EXPECT_EQ(Quantile(v, 1), 100);
  EXPECT_EQ(Quantile(v, 0.991), 100);
  EXPECT_TRUE(std::isnan(Quantile({}, 0.5)));
  EXPECT_EQ(Quantile({7}, 0.99), 7);
}

TEST(Quantile, ThatOfTooFewSamplesIsNotPrinted) {
  EXPECT_EQ(SamplesNeeded(0.99), 1000u);
  EXPECT_EQ(SamplesNeeded(0.9), 100u);
  EXPECT_EQ(SamplesNeeded(0.5), 20u);
  EXPECT_FALSE(MayPrintQuantile(999, 0.99));
  EXPECT_TRUE(MayPrintQuantile(1000, 0.99));
}

TEST(Interval, QuantilesOfNormalAndStudentMatchTables) {
  EXPECT_NEAR(NormalQuantile(0.975), 1.959963985, 1e-8);
  EXPECT_NEAR(NormalQuantile(0.5), 0, 1e-12);
  EXPECT_NEAR(NormalQuantile(0.0001), -3.719016485, 1e-7);
  EXPECT_NEAR(StudentQuantile(0.975, 9), 2.262157, 1e-3);
  EXPECT_NEAR(StudentQuantile(0.975, 29), 2.045230, 1e-5);
  EXPECT_NEAR(StudentQuantile(0.95, 19), 1.729133, 1e-4);
}

// x' = r·x + noise has integrated autocorrelation time (1 + r) / (1 - r).
std::vector<double> Autoregression(Rng* rng, double r, size_t n) {
  std::vector<double> series;
  double x = rng->Normal() / std::sqrt(1 - r * r);
  for (size_t i = 0; i < n; ++i) {
    series.push_back(x);
    x = r * x + rng->Normal();
  }
  return series;
}

TEST(Interval, FindsTheAutocorrelationTime) {
  Rng rng(1);
  EXPECT_NEAR(AutocorrelationTime(Autoregression(&rng, 0, 20000)), 1, 0.15);
  EXPECT_NEAR(AutocorrelationTime(Autoregression(&rng, 0.9, 50000)), 19, 4);
}

double Coverage(double r, size_t n, double q, int runs, int* unresolved) {
  const double truth = NormalQuantile(q) / std::sqrt(1 - r * r);
  int covered = 0, given = 0;
  for (int i = 0; i < runs; ++i) {
    Rng rng(1000 + static_cast<uint64_t>(i));
    const auto interval = QuantileInterval(Autoregression(&rng, r, n), q);
    if (!interval) continue;
    ++given;
    covered += interval->low <= truth && truth <= interval->high;
  }
  *unresolved = runs - given;
  return static_cast<double>(covered) / std::max(1, given);
}

TEST(Interval, CoversTheTrueQuantileThoughNeighboursDepend) {
  for (const double r : {0.0, 0.5, 0.9, 0.97}) {
    int unresolved = 0;
    const double coverage = Coverage(r, 20000, 0.99, 200, &unresolved);
    printf("p99, correlation %.2f: covered %.3f, unresolved %d of 200\n", r, coverage, unresolved);
    EXPECT_GE(coverage, 0.91) << r;  // 0.95 less 2.6 deviations of 200 runs
    EXPECT_LT(unresolved, 40) << r;
  }
}

// Time in system of a single server with constant service and Poisson arrivals (Lindley).
std::vector<double> Queue(Rng* rng, double load, size_t n) {
  std::vector<double> series;
  double wait = 0;
  for (size_t i = 0; i < n + n / 10; ++i) {
    if (i >= n / 10) series.push_back(wait + 1);
    wait = std::max(0., wait + 1 - rng->Exponential(1 / load));
  }
  return series;
}

TEST(Interval, CoversTheTrueTailOfAQueue) {
  // Loads with their p99, from 20 million simulated customers.
  for (const auto& [load, truth] : {std::pair{0.5, 4.3284}, std::pair{0.8, 11.3114}}) {
    int covered = 0, given = 0;
    for (uint64_t i = 0; i < 100; ++i) {
      Rng rng(500 + i);
      const auto interval = QuantileInterval(Queue(&rng, load, 40000), 0.99);
      if (!interval) continue;
      ++given;
      covered += interval->low <= truth && truth <= interval->high;
    }
    printf("p99 of a queue at load %.2f: covered %d of %d\n", load, covered, given);
    EXPECT_GE(covered, 0.88 * given) << load;  // 0.95 less 3 deviations of 100 runs
    EXPECT_GE(given, 80);
  }
}

TEST(Interval, IsRefusedWhereItWouldBeAGuess) {
  Rng rng(3);
  EXPECT_FALSE(QuantileInterval(Autoregression(&rng, 0, 900), 0.99).has_value());
  EXPECT_FALSE(QuantileInterval(Autoregression(&rng, 0.999, 5000), 0.9).has_value());
}

TEST(WarmUp, IsFoundWhereItEnds) {
  Rng rng(7);
  std::vector<double> series;
  for (int i = 0; i < 5000; ++i) series.push_back(10 + (i < 400 ? 20. : 0.) + rng.Normal());
  const auto cut = WarmUpSamples(series);
  ASSERT_TRUE(cut.has_value());
  EXPECT_NEAR(static_cast<double>(*cut), 400, 30);
}

TEST(WarmUp, OfASteadySeriesIsShortAndOfADriftNone) {
  Rng rng(8);
  std::vector<double> steady, drift;
  for (int i = 0; i < 5000; ++i) {
    steady.push_back(rng.Exponential(5));
    drift.push_back(i * i * 1e-5 + rng.Normal());
  }
  EXPECT_LT(WarmUpSamples(steady).value(), 1500u);
  EXPECT_FALSE(WarmUpSamples(drift).has_value());
  EXPECT_EQ(WarmUpSamples(std::vector<double>{1, 2, 3}).value(), 0u);
}

TEST(LeastSquares, FindsAnExactLawAndKeepsCoefficientsPositive) {
  LeastSquares exact(3, 1), falling(2, 1);
  for (int n = 1; n <= 16; ++n) {
    exact.Add({1. * n, 1, 1. * n * n}, 3 * n + 5 + 0.25 * n * n);
    falling.Add({1. * n, 1}, 100 - n);
  }
  const LeastSquares::Row w = exact.Solve();
  EXPECT_NEAR(w[0], 3, 1e-6);
  EXPECT_NEAR(w[1], 5, 1e-6);
  EXPECT_NEAR(w[2], 0.25, 1e-6);
  EXPECT_EQ(falling.Solve()[0], 0);
  EXPECT_NEAR(falling.Solve()[1], 91.5, 1e-9);
}

TEST(LeastSquares, TermsThatLookAlikeGoToTheFirst) {
  LeastSquares fit(2, 0.99);
  for (int i = 0; i < 50; ++i) fit.Add({4, 1}, 8);
  EXPECT_NEAR(fit.Solve()[0], 2, 1e-9);
  EXPECT_EQ(fit.Solve()[1], 0);
}

TEST(LeastSquares, ForgetsTheOldLaw) {
  LeastSquares fit(2, 0.99);
  for (int i = 0; i < 1000; ++i) fit.Add({1. + i % 5, 1}, 2. * (1 + i % 5) + 1);
  for (int i = 0; i < 700; ++i) fit.Add({1. + i % 5, 1}, 6. * (1 + i % 5) + 3);
  EXPECT_NEAR(fit.Solve()[0], 6, 0.05);
  EXPECT_NEAR(fit.Solve()[1], 3, 0.05);
}

TEST(Rng, IsTheSameEverywhere) {
  Rng rng(42);
  EXPECT_EQ(rng.Next(), 15021278609987233951u);
  EXPECT_EQ(rng.Next(), 5881210131331364753u);
}

TEST(Rng, DrawsFollowTheirLaws) {
  Rng rng(9);
  constexpr int kN = 200000;
  double gaps = 0, normal = 0, squares = 0, factor = 0, factor2 = 0;
  std::vector<int> dice(6);
  for (int i = 0; i < kN; ++i) {
    gaps += rng.Exponential(2);
    const double z = rng.Normal();
    normal += z;
    squares += z * z;
    const double f = rng.LogNormalFactor(0.1);
    factor += f;
    factor2 += (f - 1) * (f - 1);
    ++dice[rng.Below(6)];
  }
  EXPECT_NEAR(gaps / kN, 2, 0.02);
  EXPECT_NEAR(normal / kN, 0, 0.01);
  EXPECT_NEAR(squares / kN, 1, 0.01);
  EXPECT_NEAR(factor / kN, 1, 0.001);
  EXPECT_NEAR(std::sqrt(factor2 / kN), 0.1, 0.001);
  EXPECT_EQ(rng.LogNormalFactor(0), 1);
  for (const int n : dice) EXPECT_NEAR(n, kN / 6, 700);
}

}  // namespace
}  // namespace gimbal::stats
