#include "schedule/batcher.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

#include "base/manual_clock.h"

namespace gimbal::schedule {
namespace {

using model::Lane;
using std::chrono::milliseconds;

// What became of each row, by its number; a row that is answered twice is seen.
class Ledger {
 public:
  void Answered(int row, Code code) {
    MutexLock lock(mu_);
    answers_[row].push_back(code);
    changed_.NotifyAll();
  }
  void AwaitAnswers(size_t rows) {
    MutexLock lock(mu_);
    while (answers_.size() < rows) changed_.Wait(mu_);
  }
  std::map<int, std::vector<Code>> answers() {
    MutexLock lock(mu_);
    return answers_;
  }
  Code CodeOf(int row) {
    MutexLock lock(mu_);
    return answers_.at(row).front();
  }

 private:
  Mutex mu_;
  CondVar changed_;
  std::map<int, std::vector<Code>> answers_ GUARDED_BY(mu_);
};

class TestRow : public Row {
 public:
  TestRow(int number, Ledger& ledger) : number_(number), ledger_(ledger) {}
  void Fail(const Status& status) override { ledger_.Answered(number_, status.code()); }
  void Succeed() { ledger_.Answered(number_, Code::kOk); }

 private:
  const int number_;
  Ledger& ledger_;
};

// A model that runs only when the test lets it.
class PuppetSink : public BatchSink {
 public:
  Duration Run(int, Batch batch) override {
    MutexLock lock(mu_);
    started_.push_back(batch.rows.size());
    changed_.NotifyAll();
    while (permits_ == 0) changed_.Wait(mu_);
    if (permits_ > 0) --permits_;
    for (const auto& row : batch.rows) static_cast<TestRow&>(*row).Succeed();
    return milliseconds(1);
  }
  void AwaitStarted(size_t batches) {
    MutexLock lock(mu_);
    while (started_.size() < batches) changed_.Wait(mu_);
  }
  void Permit(int runs) {  // negative: from now on never waits
    MutexLock lock(mu_);
    permits_ = runs < 0 ? -1 : permits_ + runs;
    changed_.NotifyAll();
  }
  std::vector<size_t> started() {
    MutexLock lock(mu_);
    return started_;
  }

 private:
  Mutex mu_;
  CondVar changed_;
  int permits_ GUARDED_BY(mu_) = 0;
  std::vector<size_t> started_ GUARDED_BY(mu_);
};

policy::CostModel TenMilliseconds() {
  policy::CostModel cost;
  for (const int rows : {1, 2, 4, 8}) {
    for (const int length : {8, 32}) cost.Seed(rows, length, milliseconds(10));
  }
  return cost;
}

class BatcherTest : public testing::Test {
 protected:
  Batcher::Options OneInstance() {
    Batcher::Options options;
    options.name = "m";
    options.limits.instances = 1;
    options.limits.length_bucket = 1;
    options.limits.max_wait = Duration::zero();
    return options;
  }
  std::unique_ptr<Row> MakeRow(int number, TimePoint deadline = kNever) {
    auto row = std::make_unique<TestRow>(number, ledger_);
    row->length = 8;
    row->bytes = Bytes{100};
    row->deadline = deadline;
    return row;
  }
  Status Submit(Batcher& batcher, std::vector<int> numbers, TimePoint deadline = kNever,
                std::shared_ptr<model::CancelToken> cancel = nullptr) {
    std::vector<std::unique_ptr<Row>> rows;
    for (const int n : numbers) {
      rows.push_back(MakeRow(n, deadline));
      rows.back()->cancel = cancel;
    }
    Status status = batcher.Submit(rows);
    for (const auto& row : rows) EXPECT_EQ(row == nullptr, status.ok()) << "ownership iff OK";
    return status;
  }

  ManualClock clock_;
  PuppetSink sink_;
  Ledger ledger_;
};

TEST_F(BatcherTest, RowsThatWaitTogetherRunTogether) {
  Batcher batcher(OneInstance(), clock_, sink_, TenMilliseconds());
  ASSERT_TRUE(Submit(batcher, {0}).ok());
  sink_.AwaitStarted(1);
  ASSERT_TRUE(Submit(batcher, {1, 2}).ok());
  ASSERT_TRUE(Submit(batcher, {3}).ok());
  EXPECT_EQ(batcher.depth()->rows[0].load(), 3);
  sink_.Permit(-1);
  ledger_.AwaitAnswers(4);
  EXPECT_EQ(sink_.started(), (std::vector<size_t>{1, 3}));
  EXPECT_EQ(batcher.depth()->rows[0].load(), 0);
}

TEST_F(BatcherTest, AFullQueueRefusesAllRowsOfARequestAndSaysWhenToReturn) {
  Batcher::Options options = OneInstance();
  options.queue.max_queue_rows = 3;
  Batcher batcher(options, clock_, sink_, TenMilliseconds());
  ASSERT_TRUE(Submit(batcher, {0}).ok());
  sink_.AwaitStarted(1);
  ASSERT_TRUE(Submit(batcher, {1, 2}).ok());
  const Status refused = Submit(batcher, {3, 4});
  EXPECT_EQ(refused.code(), Code::kOverloaded);
  EXPECT_GE(refused.retry_after().value(), milliseconds(1));
  EXPECT_EQ(batcher.Admit(2, Lane::kInteractive).code(), Code::kOverloaded);
  EXPECT_TRUE(batcher.Admit(1, Lane::kInteractive).ok());
  EXPECT_EQ(Submit(batcher, {5, 6, 7, 8}).code(), Code::kTooLarge);
  ASSERT_TRUE(Submit(batcher, {9}).ok());
  sink_.Permit(-1);
  ledger_.AwaitAnswers(4);
  EXPECT_EQ(ledger_.answers().count(3), 0u);
}

TEST_F(BatcherTest, WhatLeavesTheQueueMakesRoomInBytesToo) {
  Batcher::Options options = OneInstance();
  options.queue.max_queue_bytes = Bytes{250};
  Batcher batcher(options, clock_, sink_, TenMilliseconds());
  size_t batches = 0;
  for (int round = 0; round < 5; ++round) {
    ASSERT_TRUE(Submit(batcher, {round * 10}).ok()) << round;
    sink_.AwaitStarted(++batches);
    ASSERT_TRUE(Submit(batcher, {round * 10 + 1, round * 10 + 2}).ok()) << round;
    EXPECT_EQ(Submit(batcher, {round * 10 + 3}).code(), Code::kOverloaded) << round;
    sink_.Permit(2);
    sink_.AwaitStarted(++batches);
    ledger_.AwaitAnswers(static_cast<size_t>(3 * (round + 1)));
  }
  EXPECT_EQ(Submit(batcher, {100, 101, 102}).code(), Code::kTooLarge) << "can never fit";
}

TEST_F(BatcherTest, ClientsThatAreRefusedTogetherDoNotComeBackTogether) {
  Batcher::Options options = OneInstance();
  options.queue.max_queue_rows = 400;
  options.queue.max_wait = Duration::zero();
  Batcher batcher(options, clock_, sink_, TenMilliseconds());
  ASSERT_TRUE(Submit(batcher, {0}).ok());
  sink_.AwaitStarted(1);
  std::vector<int> many(400);
  for (int i = 0; i < 400; ++i) many[static_cast<size_t>(i)] = i + 1;
  ASSERT_TRUE(Submit(batcher, many).ok());
  std::set<milliseconds> times;
  for (int i = 0; i < 20; ++i) times.insert(batcher.Admit(300, Lane::kBulk).retry_after().value());
  EXPECT_GT(times.size(), 3u);
  sink_.Permit(-1);
}

TEST_F(BatcherTest, RowsLeftOverWakeAnotherIdleInstance) {
  Batcher::Options options = OneInstance();
  options.limits.instances = 2;
  options.limits.max_rows = 1;
  Batcher batcher(options, clock_, sink_, TenMilliseconds());
  clock_.AwaitWaiters(3);  // both instances and the timer are at rest
  ASSERT_TRUE(Submit(batcher, {0, 1}).ok());
  sink_.AwaitStarted(2);  // at the same time, though only one was notified
  sink_.Permit(-1);
}

TEST_F(BatcherTest, ABacklogOfBulkDoesNotShutInteractiveOut) {
  Batcher::Options options = OneInstance();
  options.queue.max_wait = milliseconds(500);
  options.limits.max_rows = 4;
  Batcher batcher(options, clock_, sink_, TenMilliseconds());
  std::vector<std::unique_ptr<Row>> rows;
  for (int i = 0; i < 400; ++i) {
    rows.push_back(MakeRow(i));
    rows.back()->lane = Lane::kBulk;
  }
  ASSERT_TRUE(batcher.Submit(rows).ok());
  sink_.AwaitStarted(1);
  EXPECT_EQ(batcher.Admit(1, Lane::kBulk).code(), Code::kOverloaded);
  EXPECT_TRUE(batcher.Admit(1, Lane::kInteractive).ok());
  sink_.Permit(-1);
}

TEST_F(BatcherTest, ADeadlinePassesOnTimeWhileEveryInstanceIsBusy) {
  Batcher batcher(OneInstance(), clock_, sink_, TenMilliseconds());
  ASSERT_TRUE(Submit(batcher, {0}).ok());
  sink_.AwaitStarted(1);
  ASSERT_TRUE(Submit(batcher, {1}, clock_.Now() + milliseconds(50)).ok());
  clock_.Advance(milliseconds(60));
  ledger_.AwaitAnswers(1);  // the running batch is not over
  EXPECT_EQ(ledger_.CodeOf(1), Code::kDeadline);
  EXPECT_EQ(batcher.depth()->rows[0].load(), 0);
  sink_.Permit(-1);
}

TEST_F(BatcherTest, ADeadlineThatNoStartCanMeetIsRefused) {
  Batcher batcher(OneInstance(), clock_, sink_, TenMilliseconds());
  EXPECT_EQ(Submit(batcher, {0}, clock_.Now() + milliseconds(1)).code(), Code::kDeadline);
  sink_.Permit(-1);
}

TEST_F(BatcherTest, AClientThatLeftTakesItsRowsOut) {
  Batcher batcher(OneInstance(), clock_, sink_, TenMilliseconds());
  ASSERT_TRUE(Submit(batcher, {0}).ok());
  sink_.AwaitStarted(1);
  const auto cancel = std::make_shared<model::CancelToken>();
  ASSERT_TRUE(Submit(batcher, {1, 2}, kNever, cancel).ok());
  ASSERT_TRUE(Submit(batcher, {3}).ok());
  cancel->Cancel();
  sink_.Permit(-1);
  ledger_.AwaitAnswers(4);
  EXPECT_EQ(ledger_.CodeOf(1), Code::kCancelled);
  EXPECT_EQ(ledger_.CodeOf(3), Code::kOk);
  EXPECT_EQ(sink_.started(), (std::vector<size_t>{1, 1}));
}

TEST_F(BatcherTest, StopRunsWhatIsQueuedAndRefusesWhatComes) {
  Batcher batcher(OneInstance(), clock_, sink_, TenMilliseconds());
  ASSERT_TRUE(Submit(batcher, {0}).ok());
  sink_.AwaitStarted(1);
  ASSERT_TRUE(Submit(batcher, {1, 2}).ok());
  sink_.Permit(-1);
  batcher.Stop();
  EXPECT_EQ(ledger_.answers().size(), 3u);
  EXPECT_EQ(Submit(batcher, {3}).code(), Code::kUnavailable);
}

// Many threads submit, cancel and let deadlines pass; whatever the interleaving, each row that was
// taken is answered once.
TEST_F(BatcherTest, EachRowIsAnsweredExactlyOnce) {
  Batcher::Options options = OneInstance();
  options.limits.instances = 3;
  options.limits.max_rows = 4;
  options.queue.max_queue_rows = 64;
  sink_.Permit(-1);
  std::atomic<int> taken{0};
  {
    Batcher batcher(options, clock_, sink_, TenMilliseconds());
    std::vector<std::jthread> threads;
    for (int t = 0; t < 3; ++t) {
      threads.emplace_back([&, t] {
        std::mt19937 random(static_cast<unsigned>(t));
        for (int i = 0; i < 300; ++i) {
          const auto cancel = std::make_shared<model::CancelToken>();
          const TimePoint deadline = random() % 3 == 0 ? clock_.Now() + milliseconds(15) : kNever;
          const int base = (t * 300 + i) * 2;
          if (Submit(batcher, {base, base + 1}, deadline, cancel).ok()) taken += 2;
          if (random() % 4 == 0) cancel->Cancel();
          if (random() % 8 == 0) clock_.Advance(milliseconds(5));
        }
      });
    }
    threads.clear();
    batcher.Stop();
    EXPECT_EQ(batcher.depth()->rows[0].load(), 0);
  }
  const auto answers = ledger_.answers();
  EXPECT_EQ(answers.size(), static_cast<size_t>(taken.load()));
  for (const auto& [row, codes] : answers) EXPECT_EQ(codes.size(), 1u) << row;
}

}  // namespace
}  // namespace gimbal::schedule
