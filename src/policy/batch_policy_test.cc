#include "policy/batch_policy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "stats/rng.h"

namespace gimbal::policy {
namespace {

constexpr TimePoint kT0{std::chrono::seconds(100)};
Duration Ms(double ms) { return FromSeconds(ms * 1e-3); }
TimePoint At(double ms) { return kT0 + Ms(ms); }

// L(n, s) = fixed + n · s · per_token
CostModel Law(double fixed_ms, double per_token_ms) {
  CostModel cost;
  for (const int rows : {1, 2, 4, 8, 16, 32}) {
    for (const int length : {1, 16, 128}) {
      cost.Seed(rows, length, Ms(fixed_ms + rows * length * per_token_ms));
    }
  }
  return cost;
}

// A queue and its model; times in ms after kT0.
class Queue {
 public:
  explicit Queue(CostModel cost) : cost_(std::move(cost)) { limits.length_bucket = 1; }

  Queue& Row(double arrival, double deadline = -1, int length = 1, Lane lane = Lane::kInteractive) {
    rows_.push_back(
        {rows_.size(), At(arrival), deadline < 0 ? kNever : At(deadline), length, lane});
    return *this;
  }
  // "rows reason !expired @wake" of one decision, at `now`.
  std::string Decides(double now) {
    const Snapshot snapshot{rows_, idle, {}, cost_, rate, 1, limits};
    Decide(snapshot, At(now), &state, &action);
    std::string text;
    std::vector<uint32_t> batch = action.batch;
    std::sort(batch.begin(), batch.end());
    for (const uint32_t i : batch) text += std::to_string(i) + " ";
    if (!batch.empty()) text += CloseReasonName(action.reason);
    for (const uint32_t i : action.expired) text += (text.empty() ? "!" : " !") + std::to_string(i);
    return text;
  }

  BatchLimits limits;
  int idle = 1;
  double rate = 0;
  BatchState state;
  Action action;

 private:
  CostModel cost_;
  std::vector<QueuedRow> rows_;
};

TEST(BatchPolicy, OnlineTakesWhatIsThereAtOnce) {
  EXPECT_EQ(Queue(Law(5, 1)).Row(0).Row(0).Decides(0), "0 1 idle");
  EXPECT_EQ(Queue(CostModel()).Row(0).Row(0).Decides(0), "0 1 idle") << "eager before any data";
  EXPECT_EQ(Queue(Law(5, 1)).Decides(0), "");
}

TEST(BatchPolicy, NothingIsSentWhileAllInstancesAreBusyButDeadlinesPass) {
  Queue q(Law(5, 1));
  q.Row(0, 50).Row(0, 20).Row(0);
  q.idle = 0;
  EXPECT_EQ(q.Decides(0), "");
  EXPECT_GT(q.action.wake, At(13.8)) << "row 1 needs 6 ms and some noise";
  EXPECT_LT(q.action.wake, At(14.1));
  EXPECT_EQ(q.Decides(14.5), "!1");
  EXPECT_EQ(q.Decides(60), "!0 !1");
  EXPECT_EQ(q.action.wake, kNever);
}

TEST(BatchPolicy, TheEarliestDeadlineGoesFirstAndBoundsTheBatch) {
  Queue q(Law(5, 1));
  q.Row(0, 100).Row(1, 9).Row(2, 90).Row(3, 80).Row(3, 70).Row(3, 60);
  // 9 ms allow 5 + n: three rows, the three most urgent ones.
  EXPECT_EQ(q.Decides(0.5), "1 4 5 deadline");
}

TEST(BatchPolicy, DoomedRowsAreAnsweredBeforeCompute) {
  Queue q(Law(5, 1));
  q.Row(0, 5).Row(0, 40);
  EXPECT_EQ(q.Decides(1), "1 idle !0");
}

TEST(BatchPolicy, AHeadThatWouldMakeManyLateIsLeftBehind) {
  Queue q(Law(5, 1));
  q.Row(0, 6.5);  // alone only, and then the others are late
  for (int i = 0; i < 6; ++i) q.Row(0, 12.5);
  EXPECT_EQ(q.Decides(0), "1 2 3 4 5 6 idle");
  EXPECT_TRUE(q.action.expired.empty()) << "it may still be met when something leaves";
}

TEST(BatchPolicy, RowsAndTokensAndMemoryAndUnequalLengthsLimitABatch) {
  Queue q(Law(1, 0.01));
  for (int i = 0; i < 8; ++i) q.Row(0, -1, i < 4 ? 16 : 12);
  q.limits.max_rows = 3;
  EXPECT_EQ(q.Decides(0), "0 1 2 full");
  q.limits.max_rows = 32;
  q.limits.max_tokens = 48;
  EXPECT_EQ(q.Decides(0), "0 1 2 full");
  q.limits.memory_tokens = 40;
  EXPECT_EQ(q.Decides(0), "0 1 memory");
  q.limits.max_tokens = 8;
  EXPECT_EQ(q.Decides(0), "0 full") << "a row over the budget goes alone";
  q.limits.max_tokens = 8192;
  q.limits.memory_tokens = 0;
  q.limits.equal_lengths_only = true;
  EXPECT_EQ(q.Decides(0), "0 1 2 3 idle");
}

TEST(BatchPolicy, LengthsThatPaddingWouldWasteStayApart) {
  Queue q(Law(1, 0.05));
  q.Row(0, -1, 8).Row(0, -1, 400).Row(0, -1, 9).Row(0, -1, 390).Row(0, -1, 7);
  EXPECT_EQ(q.Decides(0), "0 2 4 idle");
  Queue cheap(Law(50, 0.0001));  // where a batch costs much and a token nothing, all go together
  cheap.Row(0, -1, 8).Row(0, -1, 400).Row(0, -1, 9);
  EXPECT_EQ(cheap.Decides(0), "0 1 2 idle");
}

TEST(BatchPolicy, UnderOverloadHopelessHeadsAreLeftAndBatchesStayLarge) {
  Queue q(Law(5, 1));
  q.rate = 5000;  // bearable: about 640/s
  for (int i = 0; i < 40; ++i) q.Row(i - 36, 14 + i);
  const std::string decision = q.Decides(0);
  EXPECT_TRUE(q.state.overloaded());
  EXPECT_GE(q.action.batch.size(), 15u) << decision;
  q.rate = 300;
  q.Decides(0);
  EXPECT_FALSE(q.state.overloaded());
}

TEST(BatchPolicy, InteractiveGoesFirstAndBulkFillsTheRoom) {
  Queue q(Law(5, 1));
  q.limits.max_rows = 3;
  q.Row(0, -1, 1, Lane::kBulk).Row(0, -1, 1, Lane::kBulk).Row(1).Row(1);
  EXPECT_EQ(q.Decides(2), "0 2 3 full");
}

TEST(BatchPolicy, BulkIsOwedItsShare) {
  Queue q(Law(5, 1));
  q.limits.max_rows = 4;
  for (int i = 0; i < 8; ++i) q.Row(0, -1, 1, Lane::kBulk);
  for (int i = 0; i < 8; ++i) q.Row(0);
  EXPECT_EQ(q.Decides(1), "8 9 10 11 full");
  EXPECT_EQ(q.Decides(1), "0 1 2 3 full")
      << "the same queue again, with the debt of the batch before";
  EXPECT_EQ(q.Decides(1), "8 9 10 11 full");
}

TEST(BatchPolicy, ABatchThatBulkWasOwedIsMostlyBulk) {
  Queue q(Law(5, 1));
  q.limits.max_rows = 10;
  for (int i = 0; i < 20; ++i) q.Row(0);
  q.Row(1, -1, 1, Lane::kBulk);
  EXPECT_EQ(q.Decides(2), "0 1 2 3 4 5 6 7 8 9 full");
  // One bulk row is an eighth of eight rows, and its debt must fall: three others at most.
  EXPECT_EQ(q.Decides(2), "0 1 2 20 idle");
}

TEST(BatchPolicy, BatchWaitsToFillAndNoLongerThanPromised) {
  Queue q(Law(5, 1));
  q.limits.scenario = Scenario::kBatch;
  q.limits.max_wait = Ms(10);
  q.limits.max_rows = 3;
  q.Row(0).Row(4);
  EXPECT_EQ(q.Decides(5), "");
  EXPECT_EQ(q.action.wake, At(10));
  EXPECT_EQ(q.Decides(10), "0 1 wait");
  q.Row(6);
  EXPECT_EQ(q.Decides(6), "0 1 2 full");
}

// Throughput is what this scenario is for: a fuller batch that computes mostly padding is slower
// than two of like lengths.
TEST(BatchPolicy, BatchDoesNotFillUpWithPadding) {
  Queue q(Law(2, 0.1));
  q.limits.scenario = Scenario::kBatch;
  q.limits.max_wait = Ms(1);
  q.limits.max_rows = 4;
  for (int i = 0; i < 3; ++i) q.Row(0, -1, 16);
  for (int i = 0; i < 3; ++i) q.Row(0, -1, 128);
  EXPECT_EQ(q.Decides(2), "0 1 2 wait");
}

TEST(BatchPolicy, BatchDoesNotWaitPastADeadline) {
  Queue q(Law(5, 1));
  q.limits.scenario = Scenario::kBatch;
  q.limits.max_wait = Ms(100);
  q.Row(0).Row(0, 20);
  EXPECT_EQ(q.Decides(1), "");
  EXPECT_LT(q.action.wake, At(13));
  EXPECT_GT(q.action.wake, At(12));
  EXPECT_EQ(q.Decides(Milliseconds(q.action.wake - kT0)), "0 1 deadline");
}

TEST(BatchPolicy, EdgeTakesTheFewestRowsThatKeepUp) {
  Queue q(Law(5, 1));
  q.limits.scenario = Scenario::kEdge;
  for (int i = 0; i < 20; ++i) q.Row(0);
  q.rate = 10;
  EXPECT_EQ(q.Decides(0), "0 memory");
  q.rate = 600;
  q.Decides(0);
  EXPECT_GT(q.action.batch.size(), 6u);
  EXPECT_LE(q.action.batch.size(), 20u);
}

TEST(BatchPolicy, PaddedLengthsAreBucketsUpToTheModelsLimit) {
  BatchLimits limits;
  EXPECT_EQ(PaddedLength(limits, 1), 1) << "fixed-size";
  EXPECT_EQ(PaddedLength(limits, 9), 16);
  EXPECT_EQ(PaddedLength(limits, 16), 16);
  limits.max_length = 510;
  EXPECT_EQ(PaddedLength(limits, 509), 510);
  limits.equal_lengths_only = true;
  EXPECT_EQ(PaddedLength(limits, 9), 9);
}

// A decision over a full queue is far below the shortest useful batch.
TEST(BatchPolicy, DecisionsAreCheap) {
  stats::Rng rng(1);
  Queue q(Law(2, 0.01));
  for (int i = 0; i < 1024; ++i) {
    q.Row(0, rng.Below(2) == 0 ? -1. : 100 + 900 * rng.Uniform(),
          1 + static_cast<int>(rng.Below(512)),
          rng.Below(2) == 0 ? Lane::kBulk : Lane::kInteractive);
  }
  q.Decides(0);
  constexpr int kTimes = 200;
  const TimePoint start = Clock::Steady().Now();
  for (int i = 0; i < kTimes; ++i) q.Decides(0);
  const double us = Seconds(Clock::Steady().Now() - start) * 1e6 / kTimes;
  printf("one decision over 1024 rows of mixed lengths: %.1f us\n", us);
  EXPECT_LT(us, 1000) << "an order above what an idle machine shows, for sanitizers and busy ones";
}

}  // namespace
}  // namespace gimbal::policy
