#include "bench/bench.h"

#include <gtest/gtest.h>

#include <atomic>

#include "net/http_server.h"

namespace gimbal::bench {
namespace {

constexpr char kMetrics[] =
    "process_cpu_seconds_total 1\nprocess_resident_memory_bytes 2\n"
    "gimbal_process_peak_memory_bytes 3\n";

// Answers as a server would: every tenth inference is refused.
class Answers : public net::HttpHandler {
 public:
  net::BodyPlan OnHeaders(const net::RequestHead&) override { return {.max_body = MiB(1)}; }
  void OnRequest(std::unique_ptr<net::HttpExchange> exchange) override {
    const std::string_view path = exchange->head().path();
    net::HttpResponse response;
    if (path == "/metrics") {
      response.body = kMetrics;
    } else if (path == "/v1/models") {
      response.body = R"({"data":[{"id":"m"},{"id":"m.graph"}]})";
    } else if (path != "/v1/infer/m" || exchange->body().find("\"text\"") == std::string::npos) {
      response.status = 404;
    } else if (++inferences % 10 == 0) {
      response.status = 429;
      response.body = R"({"status":"error","type":"overloaded","reason":"full"})";
    } else {
      response.headers.emplace_back("Server-Timing", "queue;dur=1, model;dur=2, total;dur=3");
      response.headers.emplace_back("X-Batch-Size", "6");
      response.body = R"({"model":"m","status":"ok","result":[1],"cost":{"batch_size":5}})";
    }
    exchange->Reply(std::move(response), nullptr);
  }
  std::atomic<int> inferences{0};
};

Options Closed(std::string target) {
  Options options;
  options.target = std::move(target);
  options.concurrency = 4;
  options.requests = 100;
  options.duration = std::chrono::hours(1);
  return options;
}

const std::atomic<bool> kGo{false};

bool Mentions(const std::vector<std::string>& reasons, std::string_view word) {
  for (const std::string& reason : reasons) {
    if (reason.find(word) != std::string::npos) return true;
  }
  return false;
}

class MeasureTest : public testing::Test {
 protected:
  MeasureTest() : server_(std::move(net::HttpServer::Create({}, answers_)).value()) {}
  std::string url() const { return "http://" + server_->address(); }

  Answers answers_;
  std::unique_ptr<net::HttpServer> server_;
};

TEST_F(MeasureTest, ClosedLoopOverHttp) {
  const auto r = Measure(Closed(url()), kGo);
  ASSERT_TRUE(r.ok()) << r.status().message();
  EXPECT_EQ(answers_.inferences, 100);
  EXPECT_EQ(r->requests, 100u);
  EXPECT_EQ(r->errors, (std::map<std::string, uint64_t>{{"overloaded", 10}}));
  EXPECT_EQ(r->samples + r->warmup_found_requests, 90u);
  EXPECT_TRUE(Mentions(r->invalid, "10 of 100 requests failed (overloaded 10)"));
  ASSERT_EQ(r->stages_ms.size(), 2u);  // total is no stage
  EXPECT_EQ(r->stages_ms[1].name, "model");
  EXPECT_EQ(r->stages_ms[1].mean, 2);
  EXPECT_EQ(r->batch_size_mean, 6);
  EXPECT_EQ(r->server_memory_peak, 3);
  EXPECT_EQ(r->server_cpu_s_per_1000, 0);
  EXPECT_GE(*r->latency_ms.mean, *r->first_byte_ms.mean);
}

TEST_F(MeasureTest, OpenLoopOverHttp) {
  Options options = Closed(url());
  options.concurrency = 0;
  options.rate = 20'000;
  const auto r = Measure(options, kGo);
  ASSERT_TRUE(r.ok()) << r.status().message();
  EXPECT_EQ(answers_.inferences, 100);
  EXPECT_EQ(r->scenario, "server");
  EXPECT_EQ(r->requests, 100u);
}

TEST_F(MeasureTest, StopBeforeTheStartIsAReport) {
  const std::atomic<bool> stop{true};
  const auto r = Measure(Closed(url()), stop);
  ASSERT_TRUE(r.ok());
  EXPECT_TRUE(Mentions(r->invalid, "interrupted"));
}

TEST_F(MeasureTest, NobodyListens) {
  const std::string gone = url();
  server_.reset();
  Options options = Closed(gone);
  EXPECT_EQ(Measure(options, kGo).status().code(), Code::kUnavailable);
  options.model = "m";
  EXPECT_EQ(Measure(options, kGo).status().code(), Code::kUnavailable);
}

TEST(MeasureNullTest, MeasuresTheGenerator) {
  Options options = Closed("null");
  options.requests = 5000;
  const auto r = Measure(options, kGo);
  ASSERT_TRUE(r.ok());
  EXPECT_EQ(r->requests, 5000u);
  EXPECT_TRUE(r->errors.empty());
  EXPECT_GT(*r->generator_cpu_us, 0);
  EXPECT_FALSE(r->server_memory_peak.has_value());
}

TEST(MeasureOptionsTest, Contradictions) {
  const auto spoil = [](void (*change)(Options&)) {
    Options options = Closed("null");
    change(options);
    return Measure(options, kGo).status().code();
  };
  EXPECT_EQ(spoil([](Options& o) { o.rate = 1; }), Code::kInvalid);
  EXPECT_EQ(spoil([](Options& o) { o.concurrency = 0; }), Code::kInvalid);
  EXPECT_EQ(spoil([](Options& o) { o.concurrency = 0, o.rate = 1e6, o.requests = 0; }),
            Code::kInvalid);
  EXPECT_EQ(spoil([](Options& o) { o.batch_rows = 0; }), Code::kInvalid);
  EXPECT_EQ(spoil([](Options& o) { o.timeout = Duration(0); }), Code::kInvalid);
  EXPECT_EQ(spoil([](Options& o) { o.protocol = model::Protocol::kKserve; }), Code::kInvalid);
  EXPECT_EQ(spoil([](Options& o) { o.target = "https://h"; }), Code::kInvalid);
  EXPECT_EQ(spoil([](Options& o) { o.texts = "/nowhere/texts"; }), Code::kNotFound);
}

TEST(SpinTest, LeavesTheProcessorToOthers) {
  Options options;
  options.rate = 100;
  EXPECT_EQ(SpinOf(options), std::chrono::microseconds(60));
  options.rate = 20'000;
  EXPECT_NEAR(Seconds(SpinOf(options)), 15e-6, 1e-8);
  options.concurrency = 1;
  EXPECT_EQ(SpinOf(options), Duration(0));
}

}  // namespace
}  // namespace gimbal::bench
