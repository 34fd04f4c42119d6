#include "frontend/http/infer_flow.h"

#include <algorithm>
#include <array>

#include "codec/errors.h"
#include "codec/native.h"
#include "codec/openai.h"
#include "frontend/http/headers.h"

namespace gimbal::frontend {
namespace {

using model::Protocol;
using obs::Stage;

constexpr int kCostStages = static_cast<int>(Stage::kPostprocess) + 1;

// Bytes of an answer's numbers as text, roughly.
int64_t EncodedSize(const model::InferResponse& response) {
  constexpr int64_t kBytesPerFloat = 12;
  int64_t floats = 0;
  for (const auto& row : response.rows) {
    if (row.ok()) floats += static_cast<int64_t>(row->embedding.size());
  }
  return floats * kBytesPerFloat;
}

codec::Answer EncodeNative(const service::InferCall& call, bool many) {
  std::array<codec::StageCost, kCostStages> stages;
  for (int i = 0; i < kCostStages; ++i) {
    const auto stage = static_cast<Stage>(i);
    stages[static_cast<size_t>(i)] = {obs::StageName(stage), call.spans.Of(stage)};
  }
  const obs::Timeline& t = call.timeline;
  return codec::EncodeNative(call.request.id, many, call.response,
                             {stages, t.EndOf(Stage::kPostprocess) - t.begin()});
}

void FillRecord(const service::InferCall& call, obs::RequestRecord& record) {
  record.model = call.response.model;
  record.version = call.response.version;
  record.timeline = call.timeline;
  record.batch_rows = call.response.batch.batch_rows;
  for (const auto& row : call.response.rows) {
    if (row.ok()) {
      record.tokens += row->tokens;
    } else {
      ++record.failed_rows;
    }
  }
  if (!call.status.ok()) record.failed_rows = record.rows;
}

}  // namespace

// What a request carries from stage to stage beside the service's own call.
struct InferFlow::State {
  std::shared_ptr<OpenRequest> open;
  RouteMatch match;
  std::shared_ptr<model::CancelToken> cancel = std::make_shared<model::CancelToken>();
  std::optional<Duration> header_timeout;
  bool many = false;
  bool base64 = false;
  std::string label;                         // of an error: the client's id, or the field at fault
  std::unique_ptr<service::InferCall> call;  // back from the service

  Protocol protocol() const { return match.route->protocol; }
};

InferFlow::InferFlow(Options options, Deps deps) : options_(options), deps_(std::move(deps)) {}

void InferFlow::Start(std::shared_ptr<OpenRequest> request, RouteMatch match) const {
  Result<std::optional<Duration>> timeout = TimeoutOf(request->exchange().head());
  if (!timeout.ok()) return request->Fail(timeout.status());
  const auto state = std::make_shared<State>();
  state->open = std::move(request);
  state->match = std::move(match);
  state->header_timeout = *timeout;
  net::HttpExchange& exchange = state->open->exchange();
  exchange.WatchClient([cancel = state->cancel] { cancel->Cancel(); });
  if (std::cmp_less_equal(exchange.body().size(), options_.offload_over.value)) {
    return Decode(state);
  }
  const auto decode = [this, state] {
    if (!state->cancel->cancelled()) return Decode(state);
    state->open->Fail(CancelledError("the client left"));
  };
  if (deps_.offload(decode)) return;
  constexpr std::chrono::seconds kRetry(1);
  state->open->Fail(Status(Code::kOverloaded, "the queue for large request bodies is full")
                        .WithRetryAfter(kRetry));
}

Status InferFlow::DecodeBody(State& state, model::InferRequest& request) const {
  const std::string& body = state.open->exchange().body();
  if (state.protocol() == Protocol::kNative) {
    codec::NativeRequest native;
    const Status status = codec::DecodeNative(body, options_.limits, native);
    request = std::move(native.request);
    request.model = state.match.model;
    request.version = state.match.version;
    state.many = native.many;
    state.label = request.id;
    return status;
  }
  codec::OpenAiRequest openai;
  Status status = codec::DecodeOpenAiEmbeddings(body, options_.limits, openai);
  state.base64 = openai.base64;
  state.label = openai.param;
  if (status.ok() && openai.dimensions) {
    const auto model = deps_.inference->Model(openai.request.model, "");
    status = model.ok() ? codec::CheckDimensions(openai, *model) : model.status();
    state.label = model.ok() ? "dimensions" : "model";
  }
  request = std::move(openai.request);
  return status;
}

void InferFlow::Decode(const StatePtr& state) const {
  auto call = std::make_unique<service::InferCall>();
  const Status status = DecodeBody(*state, call->request);
  obs::RequestRecord& record = state->open->record();
  record.timeline.End(Stage::kParse, deps_.clock->Now());
  record.client_id = call->request.id;
  record.rows = static_cast<int>(call->request.rows.size());
  if (!status.ok()) return Reject(*state, status, call->request);
  state->open->exchange().body() = std::string();  // a large body need not wait for its answer

  Duration timeout = Duration::max();
  if (state->header_timeout) timeout = *state->header_timeout;
  if (call->request.timeout) timeout = std::min(timeout, *call->request.timeout);
  if (timeout != Duration::max()) call->request.deadline = record.timeline.begin() + timeout;
  call->cancel = state->cancel;
  call->timeline = record.timeline;
  call->done = [this, state](std::unique_ptr<service::InferCall> done) {
    OnDone(state, std::move(done));
  };
  deps_.inference->Infer(std::move(call));
}

// The model's name is a metric label, so it counts only when such a model serves.
void InferFlow::Reject(State& state, const Status& status,
                       const model::InferRequest& request) const {
  obs::RequestRecord& record = state.open->record();
  if (const auto model = deps_.inference->Model(request.model, request.version); model.ok()) {
    record.model = model->name;
    record.version = model->version;
  }
  record.failed_rows = record.rows;
  state.open->Fail(status, state.label);
}

// Often on a thread that runs a model, which must not spend its time on text.
void InferFlow::OnDone(const StatePtr& state, std::unique_ptr<service::InferCall> call) const {
  state->call = std::move(call);
  const bool large = EncodedSize(state->call->response) > options_.offload_over.value;
  if (large && deps_.offload([this, state] { Encode(*state); })) return;
  state->open->exchange().RunOnIoThread([this, state] { Encode(*state); });
}

void InferFlow::Encode(State& state) const {
  const auto call = std::move(state.call);
  FillRecord(*call, state.open->record());
  codec::Answer answer;
  if (!call->status.ok()) {
    answer = codec::EncodeError(state.protocol(), call->status, state.label);
  } else if (state.protocol() == Protocol::kNative) {
    answer = EncodeNative(*call, state.many);
  } else {
    answer = codec::EncodeOpenAiEmbeddings(call->request.model, state.base64, call->response);
  }
  obs::Timeline& timeline = state.open->record().timeline;
  timeline.End(Stage::kSerialize, deps_.clock->Now());
  call->spans.Add(timeline);
  net::HttpResponse response;
  response.headers.emplace_back("Server-Timing", obs::ServerTiming(call->spans, timeline.Total()));
  if (const int rows = call->response.batch.batch_rows; rows > 0) {
    response.headers.emplace_back("X-Batch-Size", std::to_string(rows));
  }
  state.open->Answer(std::move(answer), std::move(response));
}

}  // namespace gimbal::frontend
