#include "bench/generator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <functional>
#include <map>

#include "base/manual_clock.h"
#include "bench/workload.h"

namespace gimbal::bench {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// Serves in order of arrival, one at a time, each request for as long as the law says; moves the
// clock itself, so that a run of seconds takes none.
class LawTarget : public Target {
 public:
  using Law = std::function<Duration(uint64_t request)>;
  LawTarget(ManualClock& clock, Law law) : clock_(clock), law_(std::move(law)) {}

  bool Issue(uint64_t request) override {
    if (static_cast<int>(queue_.size()) >= room) return false;
    free_at_ = std::max(free_at_, clock_.Now()) + law_(request);
    queue_.push_back({request, free_at_});
    most_in_flight = std::max(most_in_flight, queue_.size());
    return true;
  }

  void Poll(TimePoint until, OutcomeSink& sink) override {
    if (after_poll) after_poll();
    if (queue_.empty() || queue_.front().done > until) {
      if (clock_.Now() < until) clock_.Set(until);
      return;
    }
    const auto [request, done] = queue_.front();
    queue_.pop_front();
    if (clock_.Now() < done) clock_.Set(done);
    const StageTime stages[] = {{"queue", 1.5}, {"model", 2.5}};
    Outcome outcome;
    outcome.request = request;
    outcome.done = done;
    outcome.first_byte = done;
    outcome.stages = stages;
    outcome.batch_size = 4;
    if (errors.contains(request)) outcome.error = errors[request];
    outcome.connection_lost = lose_connections;
    sink.OnDone(outcome);
  }

  int room = 1 << 30;
  bool lose_connections = false;
  size_t most_in_flight = 0;
  std::map<uint64_t, std::string> errors;
  std::function<void()> after_poll;

 private:
  struct Waiting {
    uint64_t request;
    TimePoint done;
  };
  ManualClock& clock_;
  Law law_;
  std::deque<Waiting> queue_;
  TimePoint free_at_;
};

struct Fixture {
  ManualClock clock;
  std::atomic<bool> stop{false};
};

Duration Latency(const Record& r) { return r.done - r.scheduled; }

TEST(ArrivalsTest, AreAPoissonProcessOfTheRate) {
  const ArrivalOptions options{.rate = 500, .seed = 3, .until = seconds(200)};
  const std::vector<Duration> arrivals = PoissonArrivals(options);
  // 100 000 expected, standard deviation 316.
  EXPECT_NEAR(static_cast<double>(arrivals.size()), 100'000, 1300);
  EXPECT_TRUE(std::is_sorted(arrivals.begin(), arrivals.end()));
  EXPECT_LT(arrivals.back(), seconds(200));
  double squares = 0, over_mean = 0;
  for (size_t i = 1; i < arrivals.size(); ++i) {
    const double gap = Seconds(arrivals[i] - arrivals[i - 1]) * options.rate;
    squares += gap * gap;
    over_mean += gap > 1 ? 1 : 0;
  }
  const auto n = static_cast<double>(arrivals.size());
  EXPECT_NEAR(squares / n, 2, 0.06);  // of an exponential law with mean 1
  EXPECT_NEAR(over_mean / n, std::exp(-1.0), 0.008);
}

TEST(ArrivalsTest, DependOnTheSeedAlone) {
  const ArrivalOptions options{.rate = 100, .seed = 3, .until = seconds(10)};
  ArrivalOptions other = options;
  other.seed = 4;
  EXPECT_EQ(PoissonArrivals(options), PoissonArrivals(options));
  EXPECT_NE(PoissonArrivals(options), PoissonArrivals(other));
}

TEST(ArrivalsTest, LimitCountsMeasuredRequests) {
  const ArrivalOptions options{
      .rate = 100, .seed = 3, .warmup = seconds(1), .until = seconds(60), .limit = 50};
  const std::vector<Duration> arrivals = PoissonArrivals(options);
  EXPECT_EQ(
      std::count_if(arrivals.begin(), arrivals.end(), [](Duration at) { return at >= seconds(1); }),
      50);
  EXPECT_GT(arrivals.size(), 100u);  // and the warm-up before them
}

TEST(ClosedLoopTest, NeverExceedsItsConcurrencyAndKeepsIt) {
  Fixture f;
  LawTarget target(f.clock, [](uint64_t) { return milliseconds(2); });
  Schedule schedule;
  schedule.concurrency = 5;
  schedule.duration = seconds(1);
  const Recording recording = Generate(schedule, target, f.clock, f.stop);
  EXPECT_EQ(target.most_in_flight, 5u);
  // The server is never idle: one answer every 2 ms for a second, and the last five.
  EXPECT_NEAR(static_cast<double>(recording.requests.size()), 505, 6);
  for (const Record& r : recording.requests) {
    EXPECT_NE(r.done, kNotYet);
    EXPECT_LE(Latency(r), milliseconds(10));
  }
  EXPECT_EQ(recording.end, RunEnd::kComplete);
}

TEST(ClosedLoopTest, StopsAfterSoManyMeasuredRequests) {
  Fixture f;
  LawTarget target(f.clock, [](uint64_t) { return milliseconds(10); });
  Schedule schedule;
  schedule.concurrency = 2;
  schedule.warmup = milliseconds(500);
  schedule.duration = seconds(100);
  schedule.requests = 30;
  const Recording recording = Generate(schedule, target, f.clock, f.stop);
  const auto measured =
      std::count_if(recording.requests.begin(), recording.requests.end(),
                    [](const Record& r) { return r.scheduled >= milliseconds(500); });
  EXPECT_EQ(measured, 30);
  EXPECT_GT(recording.requests.size(), 60u);
}

TEST(OpenLoopTest, SendsOnScheduleWhateverTheAnswersDo) {
  Fixture f;
  LawTarget target(f.clock, [](uint64_t) { return milliseconds(700); });
  Schedule schedule;
  schedule.arrivals = PoissonArrivals({.rate = 50, .seed = 1, .until = seconds(1)});
  const Recording recording = Generate(schedule, target, f.clock, f.stop);
  ASSERT_EQ(recording.requests.size(), schedule.arrivals.size());
  for (size_t i = 0; i < schedule.arrivals.size(); ++i) {
    EXPECT_EQ(recording.requests[i].scheduled, schedule.arrivals[i]);
    EXPECT_EQ(recording.requests[i].sent, schedule.arrivals[i]);
    EXPECT_NE(recording.requests[i].done, kNotYet);
  }
}

// Coordinated omission: a server that stalls once for half a second makes every request that was
// due meanwhile slow, not just the one it held.
TEST(OpenLoopTest, OneStallShowsInEveryRequestThatWasDue) {
  Fixture f;
  LawTarget target(f.clock,
                   [](uint64_t i) { return i == 200 ? milliseconds(500) : milliseconds(1); });
  target.room = 1;  // worse: the sender itself is kept from sending
  Schedule schedule;
  schedule.arrivals = PoissonArrivals({.rate = 400, .seed = 1, .until = seconds(2)});
  const Recording recording = Generate(schedule, target, f.clock, f.stop);
  ASSERT_EQ(recording.requests.size(), schedule.arrivals.size());
  const Duration stall = schedule.arrivals[200];
  for (size_t i = 200; i < schedule.arrivals.size(); ++i) {
    if (schedule.arrivals[i] >= stall + milliseconds(500)) break;
    EXPECT_GE(recording.requests[i].done, stall + milliseconds(500));
    EXPECT_GE(Latency(recording.requests[i]), stall + milliseconds(500) - schedule.arrivals[i]);
  }
  const auto slow = std::count_if(recording.requests.begin(), recording.requests.end(),
                                  [](const Record& r) { return Latency(r) > milliseconds(100); });
  EXPECT_GT(slow, 150);
  EXPECT_GT(recording.blocked, 0u);
  const Record& behind = recording.requests[210];
  EXPECT_GT(behind.sent - behind.scheduled, milliseconds(100));  // and the lateness is on record
}

TEST(GeneratorTest, RecordsErrorsStagesAndBatchSizes) {
  Fixture f;
  LawTarget target(f.clock, [](uint64_t) { return milliseconds(1); });
  target.errors = {{1, "overloaded"}, {3, "timeout"}, {4, "overloaded"}};
  Schedule schedule;
  schedule.concurrency = 1;
  schedule.duration = seconds(10);
  schedule.requests = 6;
  const Recording r = Generate(schedule, target, f.clock, f.stop);
  ASSERT_EQ(r.requests.size(), 6u);
  EXPECT_EQ(r.errors, (std::vector<std::string>{"", "overloaded", "timeout"}));
  EXPECT_EQ(r.requests[0].error, 0);
  EXPECT_EQ(r.requests[1].error, 1);
  EXPECT_EQ(r.requests[3].error, 2);
  EXPECT_EQ(r.requests[4].error, 1);
  EXPECT_EQ(r.stage_names, (std::vector<std::string>{"queue", "model"}));
  EXPECT_FLOAT_EQ(r.stages_ms[r.requests[5].stages][1], 2.5F);
  EXPECT_TRUE(std::isnan(r.stages_ms[r.requests[5].stages][2]));
  EXPECT_EQ(r.requests[5].batch_size, 4);
}

TEST(GeneratorTest, StopsWhenTheTargetDied) {
  Fixture f;
  LawTarget target(f.clock, [](uint64_t) { return milliseconds(1); });
  target.lose_connections = true;
  Schedule schedule;
  schedule.concurrency = 4;
  schedule.duration = seconds(3600);
  const Recording r = Generate(schedule, target, f.clock, f.stop);
  EXPECT_EQ(r.end, RunEnd::kTargetDied);
  EXPECT_LT(r.requests.size(), static_cast<size_t>(kDeadAfter) + 10);
}

TEST(GeneratorTest, StopEndsTheRunAtOnce) {
  for (const int concurrency : {0, 3}) {
    Fixture f;
    LawTarget target(f.clock, [](uint64_t) { return milliseconds(50); });
    int polls = 0;
    target.after_poll = [&] { f.stop = ++polls >= 20; };
    Schedule schedule;
    schedule.concurrency = concurrency;
    schedule.duration = seconds(3600);
    if (concurrency == 0) {
      schedule.arrivals = PoissonArrivals({.rate = 100, .seed = 1, .until = seconds(3600)});
    }
    const Recording r = Generate(schedule, target, f.clock, f.stop);
    EXPECT_EQ(r.end, RunEnd::kInterrupted);
    EXPECT_EQ(polls, 20);
    EXPECT_EQ(r.requests.back().done, kNotYet);  // left unanswered, and seen to be
  }
}

TEST(WorkloadTest, RowsFollowTheSeedAndCycle) {
  const std::vector<std::string> texts = {"a", "b", "c", "d", "e", "f"};
  const Workload one(texts, 5, 1), same(texts, 5, 1), other(texts, 6, 1), four(texts, 5, 4);
  std::vector<std::string_view> order, again, different;
  for (uint64_t i = 0; i < 6; ++i) {
    order.push_back(one.Rows(i).front());
    again.push_back(same.Rows(i).front());
    different.push_back(other.Rows(i).front());
  }
  EXPECT_EQ(order, again);
  EXPECT_NE(order, different);
  std::sort(order.begin(), order.end());
  EXPECT_EQ(order, (std::vector<std::string_view>{"a", "b", "c", "d", "e", "f"}));
  EXPECT_EQ(one.distinct(), 6u);
  EXPECT_EQ(four.distinct(), 3u);  // 4 rows a request: 12 rows until the cycle closes
  EXPECT_EQ(four.Rows(0), four.Rows(3));
  EXPECT_NE(four.Rows(0), four.Rows(1));
}

TEST(WorkloadTest, Bodies) {
  using model::Protocol;
  EXPECT_EQ(RequestBody(Protocol::kNative, "m", {"a\"b"}), R"({"text":"a\"b"})");
  EXPECT_EQ(RequestBody(Protocol::kNative, "m", {"a", "b"}), R"({"inputs":["a","b"]})");
  EXPECT_EQ(RequestBody(Protocol::kOpenAi, "m", {"a"}), R"({"model":"m","input":"a"})");
  EXPECT_EQ(RequestBody(Protocol::kOpenAi, "m", {"a", "b"}), R"({"model":"m","input":["a","b"]})");
  EXPECT_EQ(RequestPath(Protocol::kNative, "my model/x"), "/v1/infer/my%20model%2Fx");
  EXPECT_EQ(RequestPath(Protocol::kOpenAi, "m"), "/v1/embeddings");
}

}  // namespace
}  // namespace gimbal::bench
