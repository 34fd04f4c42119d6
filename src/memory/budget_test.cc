#include "memory/budget.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace gimbal::memory {
namespace {

TEST(Budget, AReservationGivesBackExactlyOnce) {
  Budget budget("test", MiB(10));
  {
    Reservation a = budget.Reserve(Kind::kQueue, MiB(4)).value();
    Reservation b = std::move(a);
    EXPECT_EQ(budget.used(Kind::kQueue), MiB(4));
    b.Release();
    EXPECT_EQ(budget.used(), Bytes{0});
  }
  EXPECT_EQ(budget.used(), Bytes{0});
}

TEST(Budget, NeverFitsAndNotNowAreDifferentErrorsWithNumbers) {
  Budget budget("model m", MiB(100));
  const auto never = budget.Reserve(Kind::kWeights, MiB(812));
  EXPECT_EQ(never.status().code(), Code::kTooLarge);
  EXPECT_EQ(never.status().message(), "weights need 812MiB, the budget of model m is 100MiB");
  const auto held = budget.Reserve(Kind::kQueue, MiB(60));
  const auto later = budget.Reserve(Kind::kQueue, MiB(50));
  EXPECT_EQ(later.status().code(), Code::kOutOfMemoryBudget);
  EXPECT_EQ(later.status().message(), "queue need 50MiB, 40MiB of the 100MiB of model m are free");
  EXPECT_EQ(budget.used(), MiB(60));  // the refused ones left nothing behind
}

TEST(Budget, AResizeThatDoesNotFitChangesNothing) {
  Budget budget("test", MiB(10));
  Reservation r = budget.Reserve(Kind::kBatchInputs, MiB(2)).value();
  EXPECT_TRUE(r.Resize(MiB(8)).ok());
  EXPECT_FALSE(r.Resize(MiB(11)).ok());
  EXPECT_EQ(budget.used(Kind::kBatchInputs), MiB(8));
  EXPECT_TRUE(r.Resize(MiB(1)).ok());
  EXPECT_EQ(budget.used(), MiB(1));
}

TEST(Budget, TheParentMustHaveRoomToo) {
  Budget server("the server", MiB(100));
  Budget model("model m", Bytes{0}, &server);
  auto held = model.Reserve(Kind::kWeights, MiB(90));
  ASSERT_TRUE(held.ok());
  EXPECT_FALSE(model.Reserve(Kind::kQueue, MiB(20)).ok());
  EXPECT_EQ(model.used(), MiB(90));
  held.value().Release();
  EXPECT_EQ(server.used(), Bytes{0});
}

TEST(Budget, ThreadsNeverOverdraw) {
  Budget budget("test", Bytes{10});
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 2000; ++i) {
        auto r = budget.Reserve(Kind::kOther, Bytes{3});
        if (r.ok()) {
          EXPECT_LE(budget.used(Kind::kOther), Bytes{10});
        }
      }
    });
  }
  threads.clear();
  EXPECT_EQ(budget.used(), Bytes{0});
}

}  // namespace
}  // namespace gimbal::memory
