#include "frontend/http/http_frontend.h"

#include <fmt/format.h>

#include <random>

namespace gimbal::frontend {
namespace {

class ServiceInference final : public Inference {
 public:
  explicit ServiceInference(service::InferService& service) : service_(service) {}
  void Infer(std::unique_ptr<service::InferCall> call) override { service_.Infer(std::move(call)); }
  std::vector<model::ModelInfo> Models() const override { return service_.Models(); }
  Result<model::ModelInfo> Model(const std::string& name,
                                 const std::string& version) const override {
    return service_.Model(name, version);
  }
  bool ready() const override { return service_.ready(); }

 private:
  service::InferService& service_;
};

std::string RandomPrefix() {
  std::random_device random;
  return fmt::format("{:08x}", random());
}

net::HttpServer::Options MetricsServer(const net::HttpServer::Options& http, std::string address) {
  net::HttpServer::Options out = http;
  out.address = std::move(address);
  out.flag = "--metrics";
  out.thread_name = "metrics";
  out.io_threads = 1;
  return out;
}

}  // namespace

Result<std::unique_ptr<HttpFrontend>> HttpFrontend::Create(Options options, Deps deps) {
  std::unique_ptr<HttpFrontend> out(new HttpFrontend());
  out->inference_ = std::make_unique<ServiceInference>(*deps.service);
  ApiHandler::Options api;
  api.max_body = options.max_body;
  api.infer = options.infer;
  api.version = std::move(options.version);
  api.request_id_prefix =
      options.request_id_prefix.empty() ? RandomPrefix() : std::move(options.request_id_prefix);
  const ApiHandler::Deps api_deps{out->inference_.get(), deps.observer, deps.metrics, deps.clock,
                                  std::move(deps.offload)};
  out->api_ = std::make_unique<ApiHandler>(api, api_deps);
  api.metrics_port = true;
  api.request_id_prefix += "-m";
  out->metrics_api_ = std::make_unique<ApiHandler>(std::move(api), api_deps);

  options.http.clock = deps.clock;
  ASSIGN_OR_RETURN(out->http_, net::HttpServer::Create(options.http, *out->api_));
  if (!options.metrics_address.empty()) {
    ASSIGN_OR_RETURN(out->metrics_,
                     net::HttpServer::Create(MetricsServer(options.http, options.metrics_address),
                                             *out->metrics_api_));
  }
  return out;
}

HttpFrontend::~HttpFrontend() { Stop(TimePoint::min()); }

bool HttpFrontend::Stop(TimePoint deadline) {
  const bool drained = !http_ || http_->Stop(deadline);
  if (metrics_) metrics_->Stop(TimePoint::min());
  return drained;
}

}  // namespace gimbal::frontend
