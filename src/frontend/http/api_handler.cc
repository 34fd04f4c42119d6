#include "frontend/http/api_handler.h"

#include <fmt/format.h>

#include "codec/openai.h"
#include "codec/v2.h"
#include "frontend/http/headers.h"

namespace gimbal::frontend {
namespace {

constexpr std::string_view kPlainText = "text/plain; charset=utf-8";
constexpr std::string_view kPrometheusText = "text/plain; version=0.0.4; charset=utf-8";
constexpr size_t kShownPath = 200;  // of a path in a message

// The path as a person may read it back, whatever bytes the client sent.
std::string Shown(std::string_view path) {
  std::string out(path.substr(0, kShownPath));
  for (char& c : out) {
    if (c < ' ' || c > '~') c = '?';
  }
  return out;
}

void AnswerText(OpenRequest& request, std::string_view type, std::string body) {
  net::HttpResponse response;
  response.content_type = type;
  response.body = std::move(body);
  request.Answer(std::move(response));
}

void AnswerJson(OpenRequest& request, std::string body, bool ok = true) {
  const Code code = ok ? Code::kOk : Code::kUnavailable;
  request.Answer(codec::Answer{HttpStatus(code), code, std::move(body), std::nullopt});
}

}  // namespace

ApiHandler::ApiHandler(Options options, Deps deps)
    : options_(std::move(options)),
      deps_(std::move(deps)),
      flow_(options_.infer, {deps_.inference, deps_.clock, deps_.offload}) {}

net::BodyPlan ApiHandler::OnHeaders(const net::RequestHead& head) {
  const RouteMatch match = MatchRoute(head.method(), head.path(), options_.metrics_port);
  const bool read = match.route != nullptr && match.route->infers && CheckJsonBody(head).ok();
  return {read, options_.max_body};
}

void ApiHandler::OnRequest(std::unique_ptr<net::HttpExchange> exchange) {
  const net::RequestHead& head = exchange->head();
  const RouteMatch match = MatchRoute(head.method(), head.path(), options_.metrics_port);
  std::optional<std::string> id = RequestIdOf(head);
  const auto request = std::make_shared<OpenRequest>(
      std::move(exchange), *deps_.observer, *deps_.clock, id ? std::move(*id) : MakeRequestId());
  obs::RequestRecord& record = request->record();
  record.protocol =
      match.route ? match.route->protocol : ProtocolOfPath(request->exchange().head().path());
  if (match.route) record.route = match.route->pattern;
  record.control = match.route != nullptr && match.route->method == "GET";
  const net::Refusal& refusal = request->exchange().refusal();
  if (!refusal.status.ok()) return Refuse(*request, refusal);
  if (!match.route) return NoRoute(*request, match);
  if (!match.route->infers) return Read(*request, match);
  const Status media = CheckJsonBody(request->exchange().head());
  if (!media.ok()) return request->Fail(media);
  flow_.Start(request, match);
}

void ApiHandler::Refuse(OpenRequest& request, const net::Refusal& refusal) const {
  Status status = refusal.status;
  if (status.code() == Code::kTooLarge && refusal.http_status == 0) {
    status = TooLargeError(status.message() + " (limits.max_body)");
  }
  request.Fail(status, {}, {}, refusal.http_status);
}

void ApiHandler::NoRoute(OpenRequest& request, const RouteMatch& match) const {
  const net::RequestHead& head = request.exchange().head();
  const std::string path = Shown(head.path());
  if (match.allow.empty()) {
    return request.Fail(NotFoundError(fmt::format("no route {}; GET / lists them", path)));
  }
  constexpr int kMethodNotAllowed = 405;
  net::HttpResponse response;
  response.headers.emplace_back("Allow", match.allow);
  request.Fail(
      InvalidError(fmt::format("{} takes {}, not {}", path, match.allow, Shown(head.method()))), {},
      std::move(response), kMethodNotAllowed);
}

// Everything that is read only, off the batch path: answers at once on the I/O thread.
void ApiHandler::Read(OpenRequest& request, const RouteMatch& match) const {
  switch (match.route->id) {
    case RouteId::kIndex:
      return AnswerText(request, kPlainText, RoutesText(options_.metrics_port));
    case RouteId::kMetrics:
      return AnswerText(request, kPrometheusText, deps_.metrics->Text());
    case RouteId::kServerMetadata:
      return AnswerJson(request, codec::EncodeServerMetadata(options_.version, {}));
    case RouteId::kLive:
      return AnswerJson(request, codec::EncodeLive(true));
    case RouteId::kReady: {
      const bool ready = deps_.inference->ready();
      return AnswerJson(request, codec::EncodeReady(ready), ready);
    }
    case RouteId::kOpenAiModels:
      return AnswerJson(request, codec::EncodeOpenAiModels(deps_.inference->Models()));
    case RouteId::kV2Infer:
      return request.Fail(NotFoundError(
          "inference over the Open Inference Protocol is not served by this release; use "
          "POST /v1/infer/{model} or POST /v1/embeddings"));
    default:
      return ReadModel(request, match);
  }
}

void ApiHandler::ReadModel(OpenRequest& request, const RouteMatch& match) const {
  const auto model = deps_.inference->Model(match.model, match.version);
  if (!model.ok()) {
    return request.Fail(model.status(), match.route->id == RouteId::kOpenAiModel ? "model" : "");
  }
  request.record().model = model->name;
  request.record().version = model->version;
  switch (match.route->id) {
    case RouteId::kOpenAiModel:
      return AnswerJson(request, codec::EncodeOpenAiModel(*model));
    case RouteId::kModelReady: {
      const bool ready = model->ready && deps_.inference->ready();
      return AnswerJson(request, codec::EncodeModelReady(model->name, ready), ready);
    }
    default:
      break;
  }
  std::vector<std::string> versions;
  for (const model::ModelInfo& info : deps_.inference->Models()) {
    if (info.name == model->name) versions.push_back(info.version);
  }
  AnswerJson(request, codec::EncodeModelMetadata(*model, versions));
}

std::string ApiHandler::MakeRequestId() {
  return fmt::format("{}-{:x}", options_.request_id_prefix,
                     next_id_.fetch_add(1, std::memory_order_relaxed));
}

}  // namespace gimbal::frontend
