#include "bench/report.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>

#include "codec/json_reader.h"
#include "stats/rng.h"

namespace gimbal::bench {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

// One request every millisecond; exponential latencies with a mean of 10 ms.
Recording SteadyRun(size_t n, uint64_t seed = 1) {
  stats::Rng rng(seed);
  Recording r;
  r.stage_names = {"queue", "model"};
  for (size_t i = 0; i < n; ++i) {
    Record record;
    record.scheduled = milliseconds(i);
    record.sent = record.scheduled + microseconds(5);
    record.done = record.scheduled + FromSeconds(rng.Exponential(0.01));
    record.first_byte = record.done - microseconds(1);
    record.batch_size = 4;
    record.stages = static_cast<uint32_t>(r.stages_ms.size());
    r.requests.push_back(record);
    r.stages_ms.emplace_back().fill(std::numeric_limits<float>::quiet_NaN());
    r.stages_ms.back()[0] = 1;
    r.stages_ms.back()[1] = 3;
  }
  r.length = milliseconds(n + 100);
  r.generator_cpu = r.length / 10;
  return r;
}

Options OpenLoop() {
  Options options;
  options.target = "http://h:1";
  options.rate = 1000;
  options.batch_rows = 2;
  return options;
}

Surroundings Calm() {
  Surroundings around;
  around.steal_share = 0.001;
  around.server_before = {.cpu_seconds = 10, .resident_bytes = 1, .peak_bytes = 5e6};
  around.server_after = {.cpu_seconds = 16, .resident_bytes = 2e6, .peak_bytes = 6e6};
  around.settings = {NumberFact("seed", 1)};
  around.machine = {TextFact("cpu", "x")};
  return around;
}

bool Mentions(const std::vector<std::string>& reasons, std::string_view word) {
  return std::any_of(reasons.begin(), reasons.end(), [&](const std::string& reason) {
    return reason.find(word) != std::string::npos;
  });
}

TEST(ReportTest, FiguresOfASteadyRun) {
  const Report r = MakeReport(SteadyRun(20'000), OpenLoop(), Calm());
  EXPECT_TRUE(r.valid()) << r.invalid.front();
  EXPECT_TRUE(r.unresolved.empty()) << r.unresolved.front();
  EXPECT_EQ(r.scenario, "server");
  EXPECT_EQ(r.requests, 20'000u);
  EXPECT_EQ(r.rows, 40'000u);
  EXPECT_EQ(r.samples + r.warmup_found_requests, 20'000u);
  EXPECT_NEAR(*r.throughput_per_s, 1000, 10);
  EXPECT_NEAR(*r.rows_per_s, 2 * *r.throughput_per_s, 1e-6);
  EXPECT_NEAR(*r.latency_ms.mean, 10, 0.4);
  EXPECT_NEAR(*r.latency_ms.p50, 6.93, 0.4);
  EXPECT_NEAR(*r.latency_ms.p99, 46.05, 4);
  EXPECT_LT(r.latency_ms.p99_ci95->low, 46.05);
  EXPECT_GT(r.latency_ms.p99_ci95->high, 46.05);
  EXPECT_GE(*r.latency_ms.max, *r.latency_ms.p99);
  ASSERT_EQ(r.stages_ms.size(), 2u);
  EXPECT_EQ(*r.stages_ms[1].mean, 3);
  EXPECT_EQ(*r.batch_size_mean, 4);
  EXPECT_NEAR(*r.lateness_p99_ms, 0.005, 1e-9);
  EXPECT_NEAR(*r.server_cpu_s_per_1000, 0.3, 1e-9);
  EXPECT_EQ(*r.server_memory_peak, 6e6);
  EXPECT_NEAR(*r.client_cpu_share, 0.1, 1e-9);
}

// Coordinated omission, the other half: what was sent late is charged from when it was due.
TEST(ReportTest, LatencyCountsFromTheScheduledTime) {
  Recording recording = SteadyRun(20'000);
  for (Record& record : recording.requests) {
    record.sent = record.scheduled + milliseconds(100);
    record.done = record.scheduled + milliseconds(101);
    record.first_byte = record.scheduled + milliseconds(100);
  }
  const Report r = MakeReport(recording, OpenLoop(), Calm());
  EXPECT_EQ(r.latency_ms.mean, 101);
  EXPECT_EQ(r.latency_ms.p99, 101);
  EXPECT_EQ(r.first_byte_ms.p50, 100);
  EXPECT_EQ(r.lateness_p99_ms, 100);
}

TEST(ReportTest, FewSamplesGiveNoPercentiles) {
  const Report r = MakeReport(SteadyRun(300), OpenLoop(), Calm());
  EXPECT_TRUE(r.latency_ms.p50.has_value());
  EXPECT_TRUE(r.latency_ms.p90.has_value());
  EXPECT_FALSE(r.latency_ms.p99.has_value());
  EXPECT_FALSE(r.latency_ms.p99_ci95.has_value());
  EXPECT_FALSE(r.stages_ms[0].p99.has_value());
  EXPECT_FALSE(r.lateness_p99_ms.has_value());
  EXPECT_TRUE(Mentions(r.unresolved, "p99: 300 samples, 1000 are needed"));
}

TEST(ReportTest, NothingMeasured) {
  const Report r = MakeReport(Recording{}, OpenLoop(), Calm());
  EXPECT_FALSE(r.valid());
  EXPECT_FALSE(r.latency_ms.mean.has_value());
  EXPECT_FALSE(r.throughput_per_s.has_value());
  EXPECT_FALSE(r.client_cpu_share.has_value());
}

TEST(ReportTest, WarmUpIsLeftOut) {
  Recording recording = SteadyRun(20'000);
  recording.warmup = milliseconds(1000);
  for (size_t i = 0; i < 3000; ++i) {  // slow until 3 s, of which 1 s was said to be warm-up
    recording.requests[i].done += milliseconds(200);
  }
  const Report r = MakeReport(recording, OpenLoop(), Calm());
  EXPECT_EQ(r.warmup_requests, 1000u);
  EXPECT_NEAR(static_cast<double>(r.warmup_found_requests), 2000, 50);
  EXPECT_NEAR(*r.latency_ms.mean, 10, 0.5);
  EXPECT_EQ(r.requests, 19'000u);
}

TEST(ReportTest, AStallInTheMiddleIsNotTakenForWarmUp) {
  Recording recording = SteadyRun(20'000);
  for (size_t i = 6000; i < 6300; ++i) recording.requests[i].done += milliseconds(400);
  const Report r = MakeReport(recording, OpenLoop(), Calm());
  EXPECT_LT(r.warmup_found_requests, 1000u);
  EXPECT_GT(*r.latency_ms.p99, 100);
}

TEST(ReportTest, NeverSettledIsInvalid) {
  Recording recording = SteadyRun(5000);
  for (size_t i = 0; i < 4000; ++i) recording.requests[i].done += milliseconds(300);
  EXPECT_TRUE(Mentions(MakeReport(recording, OpenLoop(), Calm()).invalid, "never settled"));
}

struct InvalidCase {
  const char* word;  // of the reason
  std::function<void(Recording&, Options&, Surroundings&)> spoil;
};

TEST(ReportTest, InvalidWithItsReason) {
  const InvalidCase cases[] = {
      {"limit 0.200 ms",
       [](Recording& r, Options&, Surroundings&) {
         for (size_t i = 0; i < r.requests.size(); i += 50) {
           r.requests[i].sent += microseconds(250);
         }
       }},
      {"1 % of the p99 latency",  // 50 us are late for latencies of 2 ms
       [](Recording& r, Options&, Surroundings&) {
         for (Record& record : r.requests) {
           record.done = record.scheduled + milliseconds(2);
           record.sent = record.scheduled + microseconds(50);
         }
       }},
      {"the client was busy: 0.80",
       [](Recording& r, Options&, Surroundings&) { r.generator_cpu = r.length / 10 * 8; }},
      {"2 of 20000 requests failed (overloaded 1, timeout 1)",
       [](Recording& r, Options&, Surroundings&) {
         r.errors = {"", "overloaded", "timeout"};
         r.requests[10'000].error = 1;
         r.requests[10'001].error = 2;
       }},
      {"interrupted", [](Recording& r, Options&, Surroundings&) { r.end = RunEnd::kInterrupted; }},
      {"target died", [](Recording& r, Options&, Surroundings&) { r.end = RunEnd::kTargetDied; }},
      {"1 requests were still unanswered",
       [](Recording& r, Options&, Surroundings&) { r.requests.back().done = kNotYet; }},
      {"3.0 % of its time stolen",
       [](Recording&, Options&, Surroundings& around) { around.steal_share = 0.03; }},
  };
  for (const InvalidCase& c : cases) {
    Recording recording = SteadyRun(20'000);
    Options options = OpenLoop();
    Surroundings around = Calm();
    c.spoil(recording, options, around);
    const Report r = MakeReport(recording, options, std::move(around));
    EXPECT_TRUE(Mentions(r.invalid, c.word)) << c.word;
    EXPECT_EQ(r.invalid.size(), 1u) << c.word;
  }
}

TEST(ReportTest, ClosedLoopAndNullTargetHaveTheirOwnRules) {
  Recording recording = SteadyRun(20'000);
  for (Record& record : recording.requests) record.sent += milliseconds(1);
  Options closed = OpenLoop();
  closed.rate = 0;
  closed.concurrency = 4;
  EXPECT_TRUE(MakeReport(recording, closed, Calm()).valid());  // nothing was due at a time

  Surroundings null = Calm();
  null.null_target = true;
  recording = SteadyRun(20'000);
  for (Record& record : recording.requests) record.done = record.sent;
  EXPECT_TRUE(MakeReport(recording, OpenLoop(), null).valid());  // latency is lateness
  recording.generator_cpu = recording.length;
  EXPECT_TRUE(MakeReport(recording, closed, null).valid());  // flat out is the point
  EXPECT_FALSE(MakeReport(recording, OpenLoop(), null).valid());
}

codec::JsonValue Field(const codec::JsonValue& object, std::string_view name) {
  for (const codec::JsonMember& member : object.members()) {
    if (member.key == name) return member.value;
  }
  ADD_FAILURE() << "no field " << name;
  return object;
}

TEST(ReportTest, JsonHasEveryFieldOfTheFormat) {
  for (const size_t n : {size_t{20'000}, size_t{0}}) {
    const Report report = MakeReport(SteadyRun(n), OpenLoop(), Calm());
    const auto document = codec::JsonDocument::Parse(ReportJson(report), "report");
    ASSERT_TRUE(document.ok()) << document.status().message();
    const codec::JsonValue root = document->root();
    for (const char* name :
         {"target", "scenario", "seed", "requests", "rows", "errors", "throughput_per_s",
          "rows_per_s", "latency_ms", "stages_ms", "batch_size_mean", "sender_lateness_ms",
          "client_cpu_share", "server", "valid", "reasons", "settings", "machine"}) {
      Field(root, name);
    }
    for (const char* name : {"mean", "p50", "p90", "p99", "max", "p99_ci95"}) {
      const auto value = Field(Field(root, "latency_ms"), name);
      EXPECT_EQ(value.is(codec::JsonType::kNull), n == 0) << name;
    }
    for (const char* name : {"mean", "p50", "p99"}) {
      Field(Field(Field(root, "stages_ms"), "queue"), name);
    }
    for (const char* name : {"p50", "p99"}) Field(Field(root, "sender_lateness_ms"), name);
    for (const char* name : {"cpu_s_per_1000", "memory_peak"}) Field(Field(root, "server"), name);
    EXPECT_EQ(Field(root, "valid").boolean(), n > 0);
    EXPECT_EQ(Field(root, "reasons").size() == 0, n > 0);
  }
}

TEST(ReportTest, TextNamesTheVerdict) {
  EXPECT_NE(ReportText(MakeReport(SteadyRun(20'000), OpenLoop(), Calm())).find("\nVALID\n"),
            std::string::npos);
  EXPECT_NE(ReportText(MakeReport(Recording{}, OpenLoop(), Calm())).find("\nINVALID\n"),
            std::string::npos);
}

}  // namespace
}  // namespace gimbal::bench
