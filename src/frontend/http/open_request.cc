#include "frontend/http/open_request.h"

#include "codec/errors.h"

namespace gimbal::frontend {

using obs::Stage;

OpenRequest::OpenRequest(std::unique_ptr<net::HttpExchange> exchange, obs::Observer& observer,
                         const Clock& clock, std::string request_id)
    : exchange_(std::move(exchange)), observer_(observer), clock_(clock) {
  record_.request_id = std::move(request_id);
  record_.request_bytes = exchange_->request_bytes().value;
  record_.timeline.Begin(exchange_->first_byte());
  record_.timeline.End(Stage::kReceive, exchange_->received());
}

OpenRequest::~OpenRequest() {
  if (!exchange_) return;
  record_.code = Code::kInternal;
  record_.http_status = HttpStatus(Code::kInternal);
  record_.timeline.End(Stage::kSend, clock_.Now());
  observer_.Finish(record_);
}

void OpenRequest::Answer(net::HttpResponse response) {
  record_.http_status = response.status;
  response.headers.emplace_back("X-Request-Id", record_.request_id);
  if (!record_.timeline.Marked(Stage::kSerialize)) {
    // Refused or read only: one timeline says all. Inference has added its rows' spans itself.
    record_.timeline.End(Stage::kSerialize, clock_.Now());
    obs::StageSpans spans;
    spans.Add(record_.timeline);
    response.headers.emplace_back("Server-Timing",
                                  obs::ServerTiming(spans, record_.timeline.Total()));
  }
  const auto exchange = std::move(exchange_);
  exchange->Reply(std::move(response),
                  [self = shared_from_this()](const net::SentInfo& sent) { self->OnSent(sent); });
}

void OpenRequest::Answer(codec::Answer answer, net::HttpResponse response, int http_status) {
  record_.code = answer.code;
  response.status = http_status != 0 ? http_status : answer.http_status;
  response.body = std::move(answer.body);
  if (answer.retry_after) {
    response.headers.emplace_back("Retry-After", codec::RetryAfterSeconds(*answer.retry_after));
  }
  Answer(std::move(response));
}

void OpenRequest::Fail(const Status& status, std::string_view label, net::HttpResponse response,
                       int http_status) {
  Answer(codec::EncodeError(record_.protocol, status, label), std::move(response), http_status);
}

void OpenRequest::OnSent(const net::SentInfo& sent) {
  record_.timeline.End(Stage::kSend, sent.at);
  record_.response_bytes = sent.bytes.value;
  if (!sent.ok) {
    // Whatever the answer was, nobody has it.
    record_.code = Code::kCancelled;
    record_.http_status = HttpStatus(Code::kCancelled);
  }
  observer_.Finish(record_);
}

}  // namespace gimbal::frontend
