#include "bench/http_target.h"

#include <algorithm>
#include <charconv>

#include "bench/answer.h"
#include "bench/environment.h"
#include "codec/json_reader.h"

namespace gimbal::bench {
namespace {

// Texts beyond it are not asked: all requests are built beforehand and lie in memory.
constexpr size_t kMostRequestBytes = 256 << 20;
// Open loop: connections that stand ready; more are opened as they are needed.
constexpr int kReadyConnections = 32;
constexpr Duration kUsageTimeout = std::chrono::seconds(5);

double BatchSizeOf(const net::HttpAnswer& answer, model::Protocol protocol) {
  if (const auto header = answer.Find("X-Batch-Size")) {
    double value = 0;
    const auto [end, error] =
        std::from_chars(header->data(), header->data() + header->size(), value);
    return error == std::errc() && value > 0 ? value : 0;
  }
  return protocol == model::Protocol::kNative ? BatchSizeOfCost(answer.body) : 0;
}

bool ConnectionLost(net::HttpResult::Failure failure) {
  using Failure = net::HttpResult::Failure;
  return failure == Failure::kConnect || failure == Failure::kReset;
}

}  // namespace

HttpTarget::HttpTarget(model::Protocol protocol, net::Url url,
                       std::unique_ptr<net::HttpClient> client)
    : protocol_(protocol), url_(std::move(url)), client_(std::move(client)) {}

Result<std::unique_ptr<HttpTarget>> HttpTarget::Create(const Options& options, const net::Url& url,
                                                       const Workload& workload, Duration spin) {
  const bool closed = options.concurrency > 0;
  net::HttpClient::Options client_options;
  client_options.url = url;
  client_options.max_connections = closed ? options.concurrency : options.max_connections;
  client_options.timeout = options.timeout;
  client_options.spin = spin;
  ASSIGN_OR_RETURN(auto client, net::HttpClient::Create(client_options));
  RETURN_IF_ERROR(client->Open(closed ? options.concurrency
                                      : std::min(kReadyConnections, options.max_connections)));
  std::unique_ptr<HttpTarget> target(new HttpTarget(options.protocol, url, std::move(client)));
  const std::string path = RequestPath(options.protocol, options.model);
  size_t bytes = 0;
  for (size_t i = 0; i < workload.distinct() && bytes < kMostRequestBytes; ++i) {
    target->requests_.push_back(
        net::FormatRequest(url, path, "application/json",
                           RequestBody(options.protocol, options.model, workload.Rows(i))));
    bytes += target->requests_.back().size();
  }
  return target;
}

bool HttpTarget::Issue(uint64_t request) {
  return client_->Send(request, requests_[request % requests_.size()]);
}

void HttpTarget::Poll(TimePoint until, OutcomeSink& sink) {
  sink_ = &sink;
  client_->Poll(until, *this);
  sink_ = nullptr;
}

ServerUsage HttpTarget::Usage(std::string* why_not) {
  const Result<net::HttpAnswer> page = net::HttpGet(url_, "/metrics", kUsageTimeout);
  if (page.ok() && page->status == 200) return ParseServerUsage(page->body);
  *why_not = page.ok() ? "GET /metrics of the target answered " + std::to_string(page->status)
                       : page.status().message();
  return {};
}

double HttpTarget::mean_request_bytes() const {
  double sum = 0;
  for (const std::string& request : requests_) sum += static_cast<double>(request.size());
  return sum / static_cast<double>(requests_.size());
}

void HttpTarget::OnResult(const net::HttpResult& result) {
  Outcome outcome;
  outcome.request = result.token;
  outcome.first_byte = result.first_byte;
  outcome.done = result.done;
  std::string error;
  if (result.answer == nullptr) {
    outcome.error = net::FailureName(result.failure);
    outcome.connection_lost = ConnectionLost(result.failure);
  } else {
    error = AnswerError(protocol_, result.answer->status, result.answer->body);
    outcome.error = error;
    if (const auto header = result.answer->Find("Server-Timing")) {
      ParseServerTiming(*header, stages_);
      outcome.stages = stages_;
    }
    outcome.batch_size = BatchSizeOf(*result.answer, protocol_);
  }
  sink_->OnDone(outcome);
}

Result<std::string> OnlyModelOf(std::string_view list) {
  ASSIGN_OR_RETURN(const auto document, codec::JsonDocument::Parse(list, "GET /v1/models"));
  std::vector<std::string> names;
  const codec::JsonValue root = document.root();
  if (root.is(codec::JsonType::kObject)) {
    for (const codec::JsonMember& member : root.members()) {
      if (member.key != "data" || !member.value.is(codec::JsonType::kArray)) continue;
      for (const codec::JsonValue& model : member.value.elements()) {
        if (!model.is(codec::JsonType::kObject)) continue;
        for (const codec::JsonMember& field : model.members()) {
          if (field.key == "id" && field.value.is(codec::JsonType::kString)) {
            names.emplace_back(field.value.string());
          }
        }
      }
    }
  }
  const std::vector<std::string> all = names;
  std::erase_if(names, [&](const std::string& name) {
    return name.ends_with(".graph") &&
           std::find(all.begin(), all.end(), name.substr(0, name.size() - 6)) != all.end();
  });
  if (names.size() == 1) return names.front();
  if (names.empty()) return NotFoundError("the target lists no model; state one with --model");
  std::string text = "the target serves several models, state one with --model:";
  for (const std::string& name : names) text += " " + name;
  return InvalidError(text);
}

Result<std::string> FindOnlyModel(const net::Url& url, Duration timeout) {
  ASSIGN_OR_RETURN(const net::HttpAnswer answer, net::HttpGet(url, "/v1/models", timeout));
  if (answer.status != 200) {
    return NotFoundError("GET /v1/models of the target answered " + std::to_string(answer.status) +
                         "; state the model with --model");
  }
  return OnlyModelOf(answer.body);
}

}  // namespace gimbal::bench
