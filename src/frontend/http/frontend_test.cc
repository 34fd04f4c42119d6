#include <gtest/gtest.h>

#include <algorithm>
#include <deque>

#include "base/manual_clock.h"
#include "frontend/http/api_handler.h"
#include "frontend/http/headers.h"
#include "frontend/http/routes.h"

namespace gimbal::frontend {
namespace {

using model::Protocol;
using std::chrono::milliseconds;

// --- routes ---

TEST(Routes, EveryRouteMatchesItself) {
  for (const Route& route : Routes()) {
    std::string path(route.pattern);
    for (const auto& [from, to] :
         {std::pair<std::string, std::string>{"{model}", "m%2Fn"}, {"{version}", "2"}}) {
      if (const size_t at = path.find(from); at != std::string::npos)
        path.replace(at, from.size(), to);
    }
    const RouteMatch match = MatchRoute(route.method, path, false);
    ASSERT_EQ(match.route, &route) << path;
    const auto has = [&](std::string_view part) {
      return route.pattern.find(part) != std::string_view::npos;
    };
    EXPECT_EQ(match.model, has("{model}") ? "m/n" : "");
    EXPECT_EQ(match.version, has("{version}") ? "2" : "");
  }
}

TEST(Routes, TellsTheRightMethods) {
  EXPECT_EQ(MatchRoute("GET", "/v1/infer/m", false).allow, "POST");
  EXPECT_EQ(MatchRoute("POST", "/metrics", false).allow, "GET, HEAD");
  EXPECT_EQ(MatchRoute("BREW", "/v2/models/m/infer", false).allow, "POST");
}

TEST(Routes, KnowsWhatIsNoRoute) {
  for (const char* path :
       {"", "*", "v2", "/nope", "/v1/infer", "/v1/infer/", "/v1/infer/%zz", "/v1/infer/m/n",
        "/v1/infer/m/versions", "/v2//health", "/v2/health", "/v2/modelsx/m"}) {
    const RouteMatch match = MatchRoute("GET", path, false);
    EXPECT_EQ(match.route, nullptr) << path;
    EXPECT_EQ(match.allow, "") << path;
  }
  EXPECT_NE(MatchRoute("HEAD", "/v2/health/ready/", false).route, nullptr);
}

TEST(Routes, TheMetricsPortServesMetricsOnly) {
  EXPECT_NE(MatchRoute("GET", "/metrics", true).route, nullptr);
  EXPECT_EQ(MatchRoute("GET", "/v2", true).route, nullptr);
}

// --- headers ---

net::RequestHead Head(std::vector<std::pair<std::string, std::string>> fields,
                      std::string_view method = "POST", std::string_view target = "/") {
  net::RequestHead head;
  head.SetRequestLine(method, target, 11);
  for (const auto& [name, value] : fields) head.AddField(name, value);
  return head;
}

TEST(Headers, TakesOnlyRequestIdsThatCanBeEchoed) {
  EXPECT_EQ(RequestIdOf(Head({{"x-request-id", "abc-1"}})), "abc-1");
  EXPECT_EQ(RequestIdOf(Head({})), std::nullopt);
  for (const std::string& bad : {std::string(), std::string(129, 'a'), std::string("a b"),
                                 std::string("a\x01"), std::string("caf\xC3\xA9")}) {
    EXPECT_EQ(RequestIdOf(Head({{"X-Request-Id", bad}})), std::nullopt) << bad;
  }
  EXPECT_TRUE(RequestIdOf(Head({{"X-Request-Id", std::string(128, 'a')}})));
}

TEST(Headers, ReadsTheTimeout) {
  EXPECT_EQ(*TimeoutOf(Head({})), std::nullopt);
  EXPECT_EQ(*TimeoutOf(Head({{"X-Timeout-Ms", "250"}})), milliseconds(250));
  EXPECT_EQ(*TimeoutOf(Head({{"X-Timeout-Ms", " 0.5 "}})), std::chrono::microseconds(500));
  EXPECT_EQ(*TimeoutOf(Head({{"X-Timeout-Ms", "1e30"}})), std::chrono::hours(24));
  for (const char* bad : {"", "0", "-1", "nan", "inf", "5ms", "0x10", "1,5", "1e999"}) {
    EXPECT_EQ(TimeoutOf(Head({{"X-Timeout-Ms", bad}})).status().code(), Code::kInvalid) << bad;
  }
}

TEST(Headers, TakesJsonInUtf8Only) {
  for (const char* good :
       {"application/json", "Application/JSON", "application/json; charset=utf-8",
        "application/json;charset=\"UTF-8\"", ""}) {
    EXPECT_TRUE(CheckJsonBody(Head({{"Content-Type", good}})).ok()) << good;
  }
  EXPECT_TRUE(CheckJsonBody(Head({})).ok());
  EXPECT_TRUE(CheckJsonBody(Head({{"Content-Encoding", "identity"}})).ok());
  for (const char* bad : {"text/plain", "application/jsonx", "application/json; charset=latin1",
                          "application/x-www-form-urlencoded"}) {
    EXPECT_EQ(CheckJsonBody(Head({{"Content-Type", bad}})).code(), Code::kUnsupportedMedia) << bad;
  }
  EXPECT_EQ(CheckJsonBody(Head({{"Content-Encoding", "gzip"}})).code(), Code::kUnsupportedMedia);
}

// --- the handler, between puppets ---

// One connection's end of an exchange: keeps the answer.
class PuppetSink : public net::ExchangeSink {
 public:
  explicit PuppetSink(const Clock& clock) : clock_(clock) {}
  void Reply(net::HttpResponse response, net::SentFn sent) override {
    ++answers;
    answer = std::move(response);
    if (sent) sent({clock_.Now(), {static_cast<int64_t>(answer.body.size())}, deliver});
  }
  void Run(std::function<void()> work) override { work(); }
  void SetGone(std::function<void()> gone) override { client_gone = std::move(gone); }
  std::string Field(std::string_view name) const {
    for (const auto& [key, value] : answer.headers) {
      if (key == name) return value;
    }
    return "";
  }

  bool deliver = true;
  int answers = 0;
  net::HttpResponse answer;
  std::function<void()> client_gone;

 private:
  const Clock& clock_;
};

// A service with one model, "m" version "1", of two dimensions. Keeps calls until the test ends
// them.
class PuppetInference : public Inference {
 public:
  void Infer(std::unique_ptr<service::InferCall> call) override {
    calls.push_back(std::move(call));
  }
  std::vector<model::ModelInfo> Models() const override { return {Info()}; }
  Result<model::ModelInfo> Model(const std::string& name,
                                 const std::string& version) const override {
    if (name == "m" && (version.empty() || version == "1")) return Info();
    return NotFoundError("no model \"" + name + "\"");
  }
  bool ready() const override { return is_ready; }
  model::ModelInfo Info() const {
    model::ModelInfo info;
    info.name = "m";
    info.version = "1";
    info.platform = "onnx_onnxv1";
    info.signature.outputs = {{"embedding", model::DataType::kFp32, {-1, 2}}};
    info.ready = true;
    return info;
  }
  void Finish(Status status = {}) {
    auto call = std::move(calls.front());
    calls.pop_front();
    call->status = std::move(status);
    if (call->status.ok()) {
      call->response.model = "m";
      call->response.version = "1";
      for (const auto& row : call->request.rows) {
        call->response.rows.push_back(row.ok() ? Result<model::RowOutput>({{1.0f, 2.0f}, 3})
                                               : Result<model::RowOutput>(row.status()));
      }
      call->response.batch = {4, 3};
    }
    call->timeline.End(obs::Stage::kPostprocess,
                       call->timeline.EndOf(obs::Stage::kParse) + milliseconds(5));
    call->spans.Add(call->timeline);
    auto done = std::move(call->done);
    done(std::move(call));
  }

  std::deque<std::unique_ptr<service::InferCall>> calls;
  bool is_ready = true;
};

class FrontendTest : public testing::Test {
 protected:
  FrontendTest() {
    log_ = Log::Create({.file = "/dev/null"}).value();
    observer_ = std::make_unique<obs::Observer>(metrics_, *log_, false);
    ApiHandler::Options options;
    options.request_id_prefix = "made";
    options.infer.offload_over = {200};
    handler_ = std::make_unique<ApiHandler>(
        options,
        ApiHandler::Deps{&inference_, observer_.get(), &metrics_, &clock_,
                         [this](std::function<void()> job) { return Offload(std::move(job)); }});
  }
  bool Offload(std::function<void()> job) {
    if (offload_full_) return false;
    offloaded_.push_back(std::move(job));
    return true;
  }

  // Plays the server: headers, then the request as the plan says.
  std::shared_ptr<PuppetSink> Send(net::RequestHead head, std::string body,
                                   net::Refusal refusal = {}) {
    const auto sink = std::make_shared<PuppetSink>(clock_);
    const bool read = handler_->OnHeaders(head).read;
    auto exchange = std::make_unique<net::HttpExchange>(
        sink, std::move(head),
        net::HttpExchange::Times{clock_.Now() - milliseconds(2), clock_.Now()});
    exchange->set_body(read ? std::move(body) : "", read);
    exchange->set_refusal(std::move(refusal));
    handler_->OnRequest(std::move(exchange));
    return sink;
  }
  std::shared_ptr<PuppetSink> Get(std::string_view target) {
    return Send(Head({}, "GET", target), "");
  }
  std::shared_ptr<PuppetSink> Post(std::string_view target, std::string body,
                                   std::vector<std::pair<std::string, std::string>> fields = {}) {
    return Send(Head(std::move(fields), "POST", target), std::move(body));
  }
  // How often requests of these labels were counted; each request must be, once.
  int Counted(const std::string& labels) {
    const std::string text = metrics_.Text();
    const std::string line = "gimbal_requests_total{" + labels + "} ";
    const size_t at = text.find(line);
    return at == std::string::npos ? 0 : std::stoi(text.substr(at + line.size()));
  }
  static std::string Labels(const char* model, const char* protocol, const char* code) {
    return std::string("model=\"") + model + "\",version=\"" + (*model ? "1" : "") +
           "\",protocol=\"" + protocol + "\",code=\"" + code + "\"";
  }

  ManualClock clock_{TimePoint(std::chrono::seconds(100))};
  obs::Metrics metrics_;
  std::unique_ptr<Log> log_;
  std::unique_ptr<obs::Observer> observer_;
  PuppetInference inference_;
  bool offload_full_ = false;
  std::deque<std::function<void()>> offloaded_;
  std::unique_ptr<ApiHandler> handler_;
};

TEST_F(FrontendTest, InfersNatively) {
  const auto sink =
      Post("/v1/infer/m", R"({"text": "hello", "id": "a"})", {{"X-Request-Id", "r1"}});
  ASSERT_EQ(inference_.calls.size(), 1u);
  EXPECT_EQ(inference_.calls[0]->request.model, "m");
  EXPECT_EQ(inference_.calls[0]->request.deadline, kNever);
  clock_.Advance(milliseconds(6));
  inference_.Finish();
  EXPECT_EQ(sink->answers, 1);
  EXPECT_EQ(sink->answer.status, 200);
  EXPECT_EQ(sink->Field("X-Request-Id"), "r1");
  EXPECT_EQ(sink->Field("X-Batch-Size"), "4");
  // 2 ms receive, 5 ms to the end of postprocess, 1 ms until it was encoded.
  EXPECT_NE(sink->answer.body.find(R"("receive_ms":2.000)"), std::string::npos)
      << sink->answer.body;
  EXPECT_NE(sink->answer.body.find(R"("total_ms":7.000,"batch_size":4)"), std::string::npos);
  const std::string timing = sink->Field("Server-Timing");
  EXPECT_NE(timing.find("receive;dur=2.000"), std::string::npos) << timing;
  EXPECT_NE(timing.find("serialize;dur=1.000, total;dur=8.000"), std::string::npos) << timing;
  EXPECT_EQ(Counted(Labels("m", "native", "ok")), 1);
}

TEST_F(FrontendTest, TakesTheVersionFromThePath) {
  Post("/v1/infer/m/versions/7", R"({"text": "x"})");
  EXPECT_EQ(inference_.calls[0]->request.version, "7");
}

TEST_F(FrontendTest, InfersForOpenAiClients) {
  const auto sink =
      Post("/v1/embeddings", R"({"model": "m", "input": ["a", "b"], "dimensions": 2})");
  inference_.Finish();
  EXPECT_EQ(sink->answer.status, 200);
  EXPECT_NE(sink->answer.body.find(R"("object":"list")"), std::string::npos);
  EXPECT_EQ(Counted(Labels("m", "openai", "ok")), 1);
  const auto wrong = Post("/v1/embeddings", R"({"model": "m", "input": "a", "dimensions": 3})");
  EXPECT_EQ(wrong->answer.status, 400);
  EXPECT_NE(wrong->answer.body.find(R"("param":"dimensions")"), std::string::npos)
      << wrong->answer.body;
}

TEST_F(FrontendTest, TheEarliestDeadlineCountsFromTheFirstByte) {
  const TimePoint first_byte = clock_.Now() - milliseconds(2);
  Post("/v1/infer/m", R"({"text": "x", "timeout_ms": 50})", {{"X-Timeout-Ms", "20"}});
  Post("/v1/infer/m", R"({"text": "x", "timeout_ms": 10})", {{"X-Timeout-Ms", "20"}});
  EXPECT_EQ(inference_.calls[0]->request.deadline, first_byte + milliseconds(20));
  EXPECT_EQ(inference_.calls[1]->request.deadline, first_byte + milliseconds(10));
  const auto bad = Post("/v1/infer/m", R"({"text": "x"})", {{"X-Timeout-Ms", "soon"}});
  EXPECT_EQ(bad->answer.status, 400);
  EXPECT_EQ(inference_.calls.size(), 2u);
}

TEST_F(FrontendTest, ARefusalOfTheServiceHasItsCodeAndRetryAfter) {
  const auto sink = Post("/v1/infer/m", R"({"text": "x", "id": "a"})");
  inference_.Finish(
      Status(Code::kOverloaded, "the queue is full").WithRetryAfter(milliseconds(1500)));
  EXPECT_EQ(sink->answer.status, 429);
  EXPECT_EQ(sink->Field("Retry-After"), "2");
  EXPECT_EQ(sink->answer.body, R"({"id":"a","status":"error","type":"overloaded",)"
                               R"("reason":"the queue is full","retry_after_ms":1500})");
}

TEST_F(FrontendTest, ABadBodyIsCountedUnderItsModelWhenThatServes) {
  EXPECT_EQ(Post("/v1/infer/m", "{")->answer.status, 400);
  EXPECT_EQ(Post("/v1/infer/invented", "{")->answer.status, 400);
  EXPECT_EQ(Counted(Labels("m", "native", "invalid")), 1);
  EXPECT_EQ(Counted(Labels("", "native", "invalid")), 1);
  EXPECT_TRUE(inference_.calls.empty());
}

TEST_F(FrontendTest, RefusesUnreadWhatNoRouteTakes) {
  const struct {
    std::string_view method, target;
    std::vector<std::pair<std::string, std::string>> fields;
    int status;
    const char* says;
  } cases[] = {
      {"POST", "/nope", {}, 404, R"("type":"not_found","reason":"no route /nope)"},
      {"POST", "/v2/nope", {}, 404, R"({"error":"no route /v2/nope)"},
      {"POST", "/v1/chat/completions", {}, 404, R"({"error":{"message":"no route)"},
      {"DELETE", "/v1/infer/m", {}, 405, "takes POST, not DELETE"},
      {"POST", "/v1/infer/m", {{"Content-Type", "text/plain"}}, 415, "expected application/json"},
      {"POST", "/v1/embeddings", {{"Content-Encoding", "gzip"}}, 415, "expected identity"},
      {"POST", "/v2/models/m/infer", {}, 404, "not served by this release"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.target);
    const net::RequestHead head = Head(c.fields, c.method, c.target);
    EXPECT_FALSE(handler_->OnHeaders(head).read);
    const auto sink = Send(head, "body");
    EXPECT_EQ(sink->answer.status, c.status);
    EXPECT_NE(sink->answer.body.find(c.says), std::string::npos) << sink->answer.body;
    EXPECT_FALSE(sink->Field("X-Request-Id").empty());
    EXPECT_NE(sink->Field("Server-Timing").find("receive;dur=2.000"), std::string::npos);
    EXPECT_EQ(sink->Field("Allow"), c.status == 405 ? "POST" : "");
  }
  EXPECT_TRUE(inference_.calls.empty());
}

TEST_F(FrontendTest, PassesOnWhatTheServerRefused) {
  const auto large =
      Send(Head({}, "POST", "/v1/infer/m"), "", {TooLargeError("the body has 9 bytes"), 0});
  EXPECT_EQ(large->answer.status, 413);
  EXPECT_NE(large->answer.body.find("(limits.max_body)"), std::string::npos);
  const auto garbage = Send(net::RequestHead(), "", {InvalidError("malformed"), 400});
  EXPECT_EQ(garbage->answer.status, 400);
  const auto slow = Send(Head({}, "POST", "/v1/embeddings"), "", {InvalidError("slow"), 408});
  EXPECT_EQ(slow->answer.status, 408);
  EXPECT_NE(slow->answer.body.find(R"({"error":{"message":"slow")"), std::string::npos);
  EXPECT_EQ(Counted(Labels("", "native", "too_large")), 1);
  EXPECT_EQ(Counted(Labels("", "native", "invalid")), 1);
}

TEST_F(FrontendTest, DecodesAndEncodesLargeOnesElsewhere) {
  std::string rows = "\"x\"";
  for (int i = 1; i < 60; ++i) rows += ", \"x\"";
  const auto sink = Post("/v1/infer/m", R"({"inputs": [)" + rows + "]}");
  EXPECT_TRUE(inference_.calls.empty());
  ASSERT_EQ(offloaded_.size(), 1u);
  offloaded_.front()();
  offloaded_.pop_front();
  ASSERT_EQ(inference_.calls.size(), 1u);
  inference_.Finish();
  EXPECT_EQ(sink->answers, 0);
  ASSERT_EQ(offloaded_.size(), 1u);
  offloaded_.front()();
  EXPECT_EQ(sink->answer.status, 200);
}

TEST_F(FrontendTest, AFullWorkerQueueIsOverload) {
  offload_full_ = true;
  const auto sink = Post("/v1/infer/m", R"({"text": ")" + std::string(300, 'x') + "\"}");
  EXPECT_EQ(sink->answer.status, 429);
  EXPECT_EQ(sink->Field("Retry-After"), "1");
}

TEST_F(FrontendTest, AClientThatLeavesCancelsAndIsCounted) {
  const auto sink = Post("/v1/infer/m", R"({"text": "x"})");
  EXPECT_FALSE(inference_.calls[0]->cancel->cancelled());
  sink->client_gone();
  EXPECT_TRUE(inference_.calls[0]->cancel->cancelled());
  sink->deliver = false;
  inference_.Finish();
  EXPECT_EQ(Counted(Labels("m", "native", "cancelled")), 1);
  EXPECT_EQ(Counted(Labels("m", "native", "ok")), 0);
}

TEST_F(FrontendTest, ReadsWithoutTheBatchPath) {
  EXPECT_EQ(Get("/v2/health/live")->answer.body, R"({"live":true})");
  EXPECT_EQ(Get("/v2/health/ready")->answer.status, 200);
  EXPECT_EQ(Get("/v2/models/m/ready")->answer.body, R"({"name":"m","ready":true})");
  EXPECT_EQ(Get("/v2/models/m/versions/1/ready")->answer.status, 200);
  EXPECT_EQ(Get("/v2/models/x/ready")->answer.status, 404);
  EXPECT_EQ(Get("/v2/models/m/versions/2")->answer.status, 404);
  EXPECT_NE(Get("/v2/models/m")->answer.body.find(R"("versions":["1"])"), std::string::npos);
  EXPECT_NE(Get("/v2")->answer.body.find(R"("name":"gimbal")"), std::string::npos);
  EXPECT_NE(Get("/v1/models")->answer.body.find(R"("id":"m")"), std::string::npos);
  EXPECT_NE(Get("/v1/models/x")->answer.body.find(R"({"error":{"message")"), std::string::npos);
  EXPECT_EQ(Get("/metrics")->answer.content_type, "text/plain; version=0.0.4; charset=utf-8");
  EXPECT_NE(Get("/?x=1")->answer.body.find("/v1/infer/{model}"), std::string::npos);
  inference_.is_ready = false;
  EXPECT_EQ(Get("/v2/health/ready")->answer.status, 503);
  EXPECT_EQ(Get("/v2/models/m/ready")->answer.status, 503);
  EXPECT_EQ(Get("/v2/health/live")->answer.status, 200);
}

TEST_F(FrontendTest, ARequestThatTheServiceLosesIsAnsweredAndCounted) {
  const auto sink = Post("/v1/infer/m", R"({"text": "x"})");
  inference_.calls.clear();
  EXPECT_EQ(sink->answer.status, 500);
  EXPECT_EQ(Counted(Labels("", "native", "internal")), 1);
}

TEST_F(FrontendTest, MakesRequestIdsThatDiffer) {
  const std::string first = Get("/v2")->Field("X-Request-Id");
  EXPECT_TRUE(first.starts_with("made-"));
  EXPECT_NE(first, Get("/v2")->Field("X-Request-Id"));
}

}  // namespace
}  // namespace gimbal::frontend
