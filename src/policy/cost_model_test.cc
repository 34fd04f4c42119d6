#include "policy/cost_model.h"

#include <gtest/gtest.h>

#include "policy/admission_policy.h"
#include "policy/arrival_rate.h"
#include "stats/rng.h"

namespace gimbal::policy {
namespace {

Duration Ms(double ms) { return FromSeconds(ms * 1e-3); }
constexpr TimePoint kT0{std::chrono::seconds(100)};

TEST(CostModel, KnowsNothingBeforeItSawSomething) {
  CostModel cost;
  EXPECT_FALSE(cost.known());
  EXPECT_EQ(cost.Predict(8, 128), Duration(0));
  cost.Observe(1, 1, Ms(3));
  cost.Observe(1, 1, Duration(0));
  EXPECT_FALSE(cost.known());
}

TEST(CostModel, LearnsTheLawFromAProfile) {
  CostModel cost;
  for (const int rows : {1, 4, 16}) {
    for (const int length : {16, 64, 256}) {
      const double s = length;
      cost.Seed(rows, length, Ms(2 + rows * (0.1 + 0.01 * s + 1e-5 * s * s)));
    }
  }
  EXPECT_NEAR(Milliseconds(cost.Predict(8, 128)), 2 + 8 * (0.1 + 1.28 + 0.16384), 1e-3);
  EXPECT_NEAR(Milliseconds(cost.Predict(1, 512)), 2 + 0.1 + 5.12 + 2.62144, 1e-3);
}

TEST(CostModel, FollowsMeasuredBatchesDespiteNoiseAndStalls) {
  CostModel cost;
  stats::Rng rng(4);
  for (int i = 0; i < 400; ++i) {
    const int rows = 1 + static_cast<int>(rng.Below(16));
    const double stall = rng.Below(50) == 0 ? 20 : 1;
    cost.Observe(rows, 1, Ms((5 + rows) * rng.LogNormalFactor(0.05) * stall));
  }
  EXPECT_NEAR(Milliseconds(cost.Predict(1, 1)), 6, 0.6);
  EXPECT_NEAR(Milliseconds(cost.Predict(16, 1)), 21, 2.1);
  EXPECT_GT(cost.sigma(), 0.03);
  EXPECT_LT(cost.sigma(), 0.3);
}

TEST(CostModel, TakesOverALastingChangeQuickly) {
  CostModel cost;
  for (const int rows : {1, 2, 4, 8}) cost.Seed(rows, 1, Ms(5 + rows));
  for (int i = 0; i < 200; ++i) cost.Observe(1 + i % 8, 1, Ms(5 + 1 + i % 8));
  for (int i = 0; i < 40; ++i) cost.Observe(1 + i % 8, 1, Ms(3. * (5 + 1 + i % 8)));
  EXPECT_NEAR(Milliseconds(cost.Predict(4, 1)), 27, 4);
}

TEST(CostModel, IsPositiveAndGrowsInBothArgumentsWhateverItSaw) {
  stats::Rng rng(6);
  for (int run = 0; run < 300; ++run) {
    CostModel cost;
    for (int i = 0; i < 3 + run % 40; ++i) {
      const int rows = 1 + static_cast<int>(rng.Below(run % 3 == 0 ? 1 : 64));
      const int length = 1 + static_cast<int>(rng.Below(run % 2 == 0 ? 1 : 512));
      const Duration took(static_cast<int64_t>(1 + rng.Exponential(1e6)));
      i % 4 == 0 ? cost.Seed(rows, length, took) : cost.Observe(rows, length, took);
    }
    if (!cost.known()) continue;
    for (const int rows : {1, 2, 31}) {
      for (const int length : {1, 8, 511}) {
        ASSERT_GT(cost.Predict(rows, length), Duration(0));
        ASSERT_LE(cost.Predict(rows, length), cost.Predict(rows + 1, length));
        ASSERT_LE(cost.Predict(rows, length), cost.Predict(rows, length + 1));
      }
    }
  }
}

TEST(ArrivalRate, IsThatOfTheLastArrivalsAndFallsInASilence) {
  ArrivalRate rate;
  EXPECT_EQ(rate.PerSecond(kT0), 0);
  for (int i = 0; i < 1000; ++i) rate.Arrived(kT0 + Ms(i < 500 ? 10. * i : 5000. + i), 3);
  const TimePoint last = kT0 + Ms(5999);
  EXPECT_NEAR(rate.PerSecond(last), 1000, 1);
  EXPECT_NEAR(rate.PerSecond(last + Ms(199)), 500, 5);
  EXPECT_EQ(rate.mean_length(), 3);
}

struct AdmissionCase {
  const char* what;
  QueueLoad queue;
  NewRows request;
  RefuseReason reason;
  double retry_ms;
};

TEST(Admission, RefusesWithReasonAndTheTimeUntilThereIsRoom) {
  CostModel cost;
  for (const int rows : {1, 2, 4, 8}) cost.Seed(rows, 1, Ms(4 + rows));
  BatchLimits batch;
  batch.max_rows = 6;  // 10 ms a batch, 600 rows/s
  AdmissionLimits limits;
  limits.max_queue_rows = 60;
  limits.max_queue_bytes = Bytes{1000};
  limits.max_wait = Ms(80);
  const TimePoint later = kT0 + Ms(5);
  const std::vector<AdmissionCase> cases = {
      {"empty", {0, 0, Bytes{0}, 1, {}}, {}, RefuseReason::kNone, 0},
      {"room for one", {47, 47, Bytes{0}, 1, {}}, {}, RefuseReason::kNone, 0},
      {"rows", {60, 60, Bytes{0}, 1, {}}, {3, 3, 1, Bytes{0}, kNever}, RefuseReason::kRows, 5},
      {"rows, busy",
       {60, 60, Bytes{0}, 0, later},
       {3, 3, 1, Bytes{0}, kNever},
       RefuseReason::kRows,
       10},
      {"bytes",
       {30, 30, Bytes{900}, 1, {}},
       {1, 1, 1, Bytes{400}, kNever},
       RefuseReason::kBytes,
       50. / 3},
      {"wait", {54, 54, Bytes{0}, 1, {}}, {}, RefuseReason::kWait, 10},
      {"waits behind few of many", {54, 54, Bytes{0}, 1, {}, 10}, {}, RefuseReason::kNone, 0},
      {"met at once",
       {0, 0, Bytes{0}, 1, {}},
       {1, 1, 1, Bytes{0}, kT0 + Ms(6)},
       RefuseReason::kNone,
       0},
      {"never met",
       {0, 0, Bytes{0}, 1, {}},
       {1, 1, 1, Bytes{0}, kT0 + Ms(4)},
       RefuseReason::kDeadline,
       1},
      {"busy",
       {6, 6, Bytes{0}, 0, later},
       {1, 1, 1, Bytes{0}, kT0 + Ms(9)},
       RefuseReason::kDeadline,
       15},
      {"by deadline, not by place",
       {40, 40, Bytes{0}, 1, {}},
       {1, 1, 1, Bytes{0}, kT0 + Ms(9)},
       RefuseReason::kNone,
       0},
  };
  for (const AdmissionCase& c : cases) {
    const AdmissionDecision d = Admit(c.queue, c.request, cost, batch, limits, kT0);
    EXPECT_EQ(d.reason, c.reason) << c.what;
    EXPECT_NEAR(Milliseconds(d.retry_after), c.retry_ms, 0.1) << c.what;
  }
}

TEST(Admission, BoundsQueuesBeforeAnythingWasMeasured) {
  const CostModel cost;
  const BatchLimits batch;
  const AdmissionLimits limits;
  EXPECT_TRUE(Admit({1023, 1023, Bytes{0}, 1, {}}, {}, cost, batch, limits, kT0).admitted());
  const AdmissionDecision d = Admit({1024, 1024, Bytes{0}, 1, {}}, {}, cost, batch, limits, kT0);
  EXPECT_EQ(d.reason, RefuseReason::kRows);
  EXPECT_GE(d.retry_after, Ms(1));
}

}  // namespace
}  // namespace gimbal::policy
