#include "bench/answer.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "bench/environment.h"
#include "bench/http_target.h"
#include "bench/texts.h"

namespace gimbal::bench {
namespace {

using model::Protocol;

std::string Timing(std::string_view header) {
  std::vector<StageTime> stages;
  ParseServerTiming(header, stages);
  std::string text;
  for (const StageTime& stage : stages) {
    text += std::string(stage.name) + "=" + std::to_string(stage.ms).substr(0, 4) + " ";
  }
  return text;
}

TEST(ServerTimingTest, Cases) {
  EXPECT_EQ(Timing("queue;dur=1.5, model;dur=3.25"), "queue=1.50 model=3.25 ");
  EXPECT_EQ(Timing("queue;dur=1.5,model;dur=2,total;dur=9"), "queue=1.50 model=2.00 ");
  EXPECT_EQ(Timing("a;desc=\"x, y;dur=7\";dur=1, b;dur=\"2\""), "a=1.00 b=2.00 ");
  EXPECT_EQ(Timing(" a ; dur = 1 "), "a=1.00 ");
  EXPECT_EQ(Timing("miss, cache;desc=hit"), "");
  EXPECT_EQ(Timing("a;dur=x, b;dur=, c;dur=-1, d;dur=nan, e;dur=inf, ;dur=1, f;dur=1e1"),
            "f=10.0 ");
  EXPECT_EQ(Timing("a;dur=1;dur=2"), "a=1.00 ");
  EXPECT_EQ(Timing(""), "");
  EXPECT_EQ(Timing(",,;;,\"\\"), "");
  EXPECT_EQ(Timing("a;desc=\"unclosed, b;dur=1"), "");
}

TEST(AnswerTest, ErrorsByType) {
  EXPECT_EQ(AnswerError(Protocol::kNative, 200, R"({"id":null,"status":"ok","result":[1]})"), "");
  EXPECT_EQ(AnswerError(Protocol::kNative, 200, R"({"status" : "partial", "results":[]})"),
            "partial");
  EXPECT_EQ(AnswerError(Protocol::kNative, 200, "<html>"), "malformed");
  EXPECT_EQ(AnswerError(Protocol::kNative, 200, ""), "malformed");
  EXPECT_EQ(AnswerError(Protocol::kNative, 429,
                        R"({"status":"error","type":"overloaded","reason":"full"})"),
            "overloaded");
  EXPECT_EQ(AnswerError(Protocol::kOpenAi, 429,
                        R"({"error":{"message":"m","type":"x","param":null,"code":"overloaded"}})"),
            "overloaded");
  EXPECT_EQ(AnswerError(Protocol::kOpenAi, 400, R"({"error":{"type":"x","code":null}})"), "x");
  EXPECT_EQ(AnswerError(Protocol::kOpenAi, 200, R"({"object":"list","data":[]})"), "");
  EXPECT_EQ(AnswerError(Protocol::kOpenAi, 200, "ok"), "malformed");
  EXPECT_EQ(AnswerError(Protocol::kNative, 502, "Bad Gateway"), "http_502");
  EXPECT_EQ(AnswerError(Protocol::kNative, 500, R"({"type":7})"), "http_500");
  EXPECT_EQ(AnswerError(Protocol::kNative, 500, "[]"), "http_500");
  EXPECT_EQ(AnswerError(Protocol::kNative, 302, ""), "http_302");
}

TEST(AnswerTest, BatchSize) {
  EXPECT_EQ(BatchSizeOfCost(R"({"result":[0.1],"cost":{"batch_size":8,"tokens":2}})"), 8);
  EXPECT_EQ(BatchSizeOfCost(R"({"cost": {"batch_size" : 2.5}})"), 2.5);
  EXPECT_EQ(BatchSizeOfCost(R"({"cost":{"batch_size":)"), 0);
  EXPECT_EQ(BatchSizeOfCost(R"({"cost":{"batch_size":"x"}})"), 0);
  EXPECT_EQ(BatchSizeOfCost(""), 0);
}

TEST(ModelListTest, TheOnlyModel) {
  EXPECT_EQ(OnlyModelOf(R"({"data":[{"id":"a.graph"},{"id":"a"}]})").value(), "a");
  EXPECT_EQ(OnlyModelOf(R"({"data":[{"id":"a.graph"}]})").value(), "a.graph");
  EXPECT_EQ(OnlyModelOf(R"({"data":[{"id":"a"},{"id":"b"}]})").status().code(), Code::kInvalid);
  EXPECT_EQ(OnlyModelOf(R"({"data":[]})").status().code(), Code::kNotFound);
  EXPECT_EQ(OnlyModelOf("[1]").status().code(), Code::kNotFound);
  EXPECT_FALSE(OnlyModelOf("<html>").ok());
}

TEST(EnvironmentTest, ServerUsage) {
  const ServerUsage usage = ParseServerUsage(
      "# TYPE process_cpu_seconds_total counter\nprocess_cpu_seconds_total 12.5\n"
      "process_resident_memory_bytes{x=\"}\"} 1e6\nprocess_resident_memory_bytes_more 7\n"
      "gimbal_process_peak_memory_bytes x");
  EXPECT_EQ(usage.cpu_seconds, 12.5);
  EXPECT_EQ(usage.resident_bytes, 1e6);
  EXPECT_FALSE(usage.peak_bytes.has_value());
}

class TreeTest : public testing::Test {
 protected:
  TreeTest() : root_(testing::TempDir() + "gimbal_bench_tree/") {}
  ~TreeTest() override { std::filesystem::remove_all(root_); }
  void Write(const std::string& path, const std::string& text) {
    std::filesystem::create_directories(std::filesystem::path(root_ + path).parent_path());
    std::ofstream(root_ + path) << text;
  }
  const std::string root_;
};

TEST_F(TreeTest, StealTime) {
  Write("proc/stat", "cpu  100 0 50 800 10 0 5 35 0 0\ncpu0 1 2 3\n");
  const auto before = ReadCpuTicks(root_);
  ASSERT_TRUE(before.has_value());
  EXPECT_EQ(before->steal, 35u);
  EXPECT_EQ(before->total, 1000u);
  const CpuTicks after{before->steal + 5, before->total + 100};
  EXPECT_NEAR(*StealShare(*before, after), 0.05, 1e-12);
  EXPECT_FALSE(StealShare(*before, *before).has_value());
  Write("proc/stat", "cpu 1 2 3\n");
  EXPECT_FALSE(ReadCpuTicks(root_).has_value());
  EXPECT_FALSE(ReadCpuTicks(root_ + "nowhere/").has_value());
}

TEST_F(TreeTest, MachineFactsReadOrNull) {
  Write("proc/cpuinfo", "processor\t: 0\nmodel name\t: Fast CPU\n");
  Write("proc/meminfo", "MemTotal:       1024 kB\n");
  std::map<std::string, std::string> facts;
  for (const Fact& fact : MachineFacts(root_)) facts[fact.name] = fact.json;
  EXPECT_EQ(facts["cpu"], "\"Fast CPU\"");
  EXPECT_EQ(facts["memory"], "1048576");
  EXPECT_EQ(facts["governor"], "null");
  EXPECT_NE(facts["glibc"], "null");
}

TEST_F(TreeTest, TextsOfAFile) {
  Write("texts", "one\r\n\ntwo\nthree");
  EXPECT_EQ(ReadTexts(root_ + "texts").value(), (std::vector<std::string>{"one", "two", "three"}));
  Write("bad", "one\n\xff\n");
  EXPECT_EQ(ReadTexts(root_ + "bad").status().code(), Code::kInvalid);
  Write("empty", "\n");
  EXPECT_EQ(ReadTexts(root_ + "empty").status().code(), Code::kInvalid);
  EXPECT_EQ(ReadTexts(root_ + "none").status().code(), Code::kNotFound);
  EXPECT_GE(BuiltInTexts().size(), 190u);
}

}  // namespace
}  // namespace gimbal::bench
