#pragma once

#include <memory>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "base/units.h"
#include "frontend/http/api_handler.h"
#include "frontend/http/inference.h"
#include "net/http_server.h"
#include "obs/metrics.h"
#include "obs/observer.h"
#include "service/infer.h"

namespace gimbal::frontend {

// The HTTP ports of a server: the API, and the metrics by themselves. Owned by `app`. Calls under
// way come back into it, so it is stopped before the service and the worker pool behind `offload`,
// and destroyed after both have stopped. Drain and Stop from one thread.
class HttpFrontend {
 public:
  struct Options {
    net::HttpServer::Options http;
    // Address of the port that serves only /metrics; empty: none.
    std::string metrics_address;
    Bytes max_body = MiB(16);       // limits.max_body
    InferFlow::Options infer;       // limits of rows and texts; what is decoded off the I/O thread
    std::string version = "0.1.0";  // of the server
    std::string request_id_prefix;  // empty: random
  };
  struct Deps {
    service::InferService* service = nullptr;
    obs::Observer* observer = nullptr;
    obs::Metrics* metrics = nullptr;
    const Clock* clock = nullptr;
    Offload offload;  // for large bodies and answers
  };

  // Both ports are bound and serve when this returns; health says "not ready" until the service is.
  static Result<std::unique_ptr<HttpFrontend>> Create(Options options, Deps deps);
  ~HttpFrontend();  // Stop(now)

  // "127.0.0.1:8000", with the port that was picked; metrics: empty when there is no such port.
  const std::string& address() const { return http_->address(); }
  std::string metrics_address() const { return metrics_ ? metrics_->address() : ""; }

  net::HttpServer::Stats stats() const { return http_->stats(); }

  // No new connections; those there are get `Connection: close` with their next answer. The metrics
  // port stays open. Returns at once.
  void BeginDrain() { http_->StopAccepting(); }
  // Drains until `deadline`, closes what is left and joins all threads. Whether all had finished.
  bool Stop(TimePoint deadline);

 private:
  HttpFrontend() = default;

  std::unique_ptr<Inference> inference_;
  std::unique_ptr<ApiHandler> api_;
  std::unique_ptr<ApiHandler> metrics_api_;
  std::unique_ptr<net::HttpServer> http_;
  std::unique_ptr<net::HttpServer> metrics_;
};

}  // namespace gimbal::frontend
