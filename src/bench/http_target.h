#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "bench/options.h"
#include "bench/target.h"
#include "bench/workload.h"
#include "net/http_client.h"

namespace gimbal::bench {

// A server asked over HTTP. Requests are built when it is made, so that building costs nothing
// later.
class HttpTarget : public Target, private net::HttpClient::Sink {
 public:
  // Connects; kUnavailable when nobody listens. REQUIRES: options.model is not empty.
  static Result<std::unique_ptr<HttpTarget>> Create(const Options& options, const net::Url& url,
                                                    const Workload& workload, Duration spin);

  bool Issue(uint64_t request) override;
  void Poll(TimePoint until, OutcomeSink& sink) override;
  ServerUsage Usage(std::string* why_not) override;  // from /metrics of the same port

  size_t distinct_requests() const { return requests_.size(); }
  double mean_request_bytes() const;
  int peak_connections() const { return client_->peak_connections(); }

 private:
  HttpTarget(model::Protocol protocol, net::Url url, std::unique_ptr<net::HttpClient> client);
  void OnResult(const net::HttpResult& result) override;

  const model::Protocol protocol_;
  const net::Url url_;
  const std::unique_ptr<net::HttpClient> client_;
  std::vector<std::string> requests_;  // request i sends number i % size
  OutcomeSink* sink_ = nullptr;        // during Poll
  std::vector<StageTime> stages_;      // reused
};

// The model that the server at `url` serves, when it serves just one; "NAME.graph" beside "NAME" is
// the same model. Otherwise an error that names what there is.
Result<std::string> FindOnlyModel(const net::Url& url, Duration timeout);
// The same from the body of GET /v1/models.
Result<std::string> OnlyModelOf(std::string_view list);

}  // namespace gimbal::bench
