#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/units.h"
#include "frontend/http/infer_flow.h"
#include "frontend/http/inference.h"
#include "frontend/http/open_request.h"
#include "frontend/http/routes.h"
#include "net/http_message.h"
#include "obs/metrics.h"
#include "obs/observer.h"

namespace gimbal::frontend {

// Answers the routes of one port. Owned by HttpFrontend, outlives its server; any I/O thread.
class ApiHandler : public net::HttpHandler {
 public:
  struct Options {
    bool metrics_port = false;  // serve only /metrics and /
    Bytes max_body = MiB(16);   // limits.max_body
    InferFlow::Options infer;
    std::string version;            // of the server, for its metadata
    std::string request_id_prefix;  // of ids made here; differs from process to process
  };
  struct Deps {
    Inference* inference = nullptr;
    obs::Observer* observer = nullptr;
    const obs::Metrics* metrics = nullptr;
    const Clock* clock = nullptr;
    Offload offload;
  };
  ApiHandler(Options options, Deps deps);

  net::BodyPlan OnHeaders(const net::RequestHead& head) override;
  void OnRequest(std::unique_ptr<net::HttpExchange> exchange) override;

 private:
  void Refuse(OpenRequest& request, const net::Refusal& refusal) const;
  void NoRoute(OpenRequest& request, const RouteMatch& match) const;
  void Read(OpenRequest& request, const RouteMatch& match) const;
  void ReadModel(OpenRequest& request, const RouteMatch& match) const;
  std::string MakeRequestId();

  const Options options_;
  const Deps deps_;
  const InferFlow flow_;
  std::atomic<uint64_t> next_id_{1};
};

}  // namespace gimbal::frontend
