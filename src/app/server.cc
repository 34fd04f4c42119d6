#include "app/server.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/version.h"
#include "base/cgroup.h"
#include "base/json_writer.h"
#include "base/worker_pool.h"
#include "engine/onnxruntime/onnxruntime_engine.h"
#include "frontend/http/http_frontend.h"
#include "memory/budget.h"
#include "obs/metrics.h"
#include "obs/observer.h"
#include "obs/process_metrics.h"
#include "registry/registry.h"
#include "service/infer.h"

namespace gimbal::app {
namespace {

// Bodies and answers too large for an I/O thread wait here; a full queue is answered 429.
constexpr size_t kOffloadQueue = 256;

// The settings call zero "no limit"; the server wants a time.
Duration OrNever(Duration limit) {
  return limit > Duration::zero() ? limit : std::chrono::hours(24 * 365);
}

net::HttpServer::Options HttpOptions(const config::Config& config, const MachineLimits& machine) {
  net::HttpServer::Options http;
  http.address = config.server.http;
  http.io_threads =
      config.server.io_threads > 0 ? config.server.io_threads : std::max(1, machine.cpus / 2);
  http.max_connections = config.limits.max_connections;
  http.header_timeout = OrNever(config.server.header_timeout);
  http.body_timeout = OrNever(config.server.body_timeout);
  http.idle_timeout = OrNever(config.server.idle_timeout);
  http.write_timeout = OrNever(config.server.write_timeout);
  return http;
}

frontend::HttpFrontend::Options FrontendOptions(const config::Config& config,
                                                const MachineLimits& machine) {
  frontend::HttpFrontend::Options options;
  options.http = HttpOptions(config, machine);
  options.metrics_address = config.server.metrics;
  options.max_body = config.limits.max_body;
  options.infer.limits.max_rows = static_cast<size_t>(config.limits.max_rows_per_request);
  options.infer.limits.max_text = config.limits.max_text;
  options.version = std::string(Version());
  return options;
}

Result<std::unique_ptr<Log>> OpenLog(const config::LogConfig& config) {
  Log::Options options;
  options.file = config.file;
  ASSIGN_OR_RETURN(options.level, ParseLogLevel(config.level));
  return Log::Create(options);
}

}  // namespace

// In the order of construction; what stands lower uses what stands above it, and goes first.
struct Server::Parts {
  config::Config config;
  MachineLimits machine;
  std::unique_ptr<Log> log;
  obs::Metrics metrics;
  std::unique_ptr<obs::Observer> observer;
  std::vector<std::shared_ptr<void>> process_gauges;
  std::unique_ptr<engine::Engine> engine;
  std::unique_ptr<memory::Budget> budget;
  std::unique_ptr<registry::Registry> registry;
  std::unique_ptr<service::InferService> service;
  std::unique_ptr<WorkerPool> offload;
  std::unique_ptr<frontend::HttpFrontend> frontend;

  void ExportServer();
};

// What the sockets and the worker pool say of themselves.
void Server::Parts::ExportServer() {
  const auto read = [this](auto field) {
    return [this, field] { return static_cast<double>(frontend->stats().*field); };
  };
  using Stats = net::HttpServer::Stats;
  const auto counter = [&](const char* name, const char* help, auto field) {
    process_gauges.push_back(metrics.AddReadCounter(name, help, {}, read(field)));
  };
  process_gauges.push_back(metrics.AddGauge("gimbal_connections", "Open HTTP connections.", {},
                                            read(&Stats::connections)));
  counter("gimbal_connections_accepted_total", "HTTP connections since the start.",
          &Stats::accepted);
  counter("gimbal_connections_refused_total", "Connections over limits.max_connections.",
          &Stats::refused);
  counter("gimbal_connections_timed_out_total", "Connections that a timeout closed.",
          &Stats::timed_out);
  process_gauges.push_back(
      metrics.AddGauge("gimbal_offload_jobs", "Large bodies and answers that wait for a worker.",
                       {}, [this] { return static_cast<double>(offload->queued()); }));
}

Server::Server(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

Server::~Server() { Drain(); }

Result<std::unique_ptr<Server>> Server::Create(const config::Config& config) {
  auto parts = std::make_unique<Parts>();
  Parts& p = *parts;
  const Clock& clock = Clock::Steady();
  p.config = config;
  p.machine = ReadMachineLimits();
  ASSIGN_OR_RETURN(p.log, OpenLog(config.server.log));
  p.observer = std::make_unique<obs::Observer>(p.metrics, *p.log, config.server.log.access);
  p.process_gauges = obs::ExportProcess(p.metrics, *p.log);
  ASSIGN_OR_RETURN(
      p.engine, engine::CreateOnnxRuntimeEngine({config.server.onnxruntime_library, p.log.get()}));
  const Bytes memory = config.limits.memory > Bytes{0} ? config.limits.memory : p.machine.memory;
  p.budget = std::make_unique<memory::Budget>("the server", memory);
  p.registry = std::make_unique<registry::Registry>(registry::Registry::Deps{
      p.engine.get(), &clock, &p.metrics, p.log.get(), p.budget.get(), p.machine.cpus});
  for (const config::ModelConfig& model : config.models) p.registry->Announce(model.name);
  p.service = std::make_unique<service::InferService>(*p.registry, clock);
  p.offload =
      std::make_unique<WorkerPool>("offload", std::max(1, p.machine.cpus / 2), kOffloadQueue);
  frontend::HttpFrontend::Deps deps;
  deps.service = p.service.get();
  deps.observer = p.observer.get();
  deps.metrics = &p.metrics;
  deps.clock = &clock;
  deps.offload = [pool = p.offload.get()](std::function<void()> job) {
    return pool->TrySubmit(std::move(job));
  };
  ASSIGN_OR_RETURN(p.frontend, frontend::HttpFrontend::Create(FrontendOptions(config, p.machine),
                                                              std::move(deps)));
  p.ExportServer();
  p.log->Write(LogLevel::kInfo, "server_started", [&](JsonWriter& w) {
    w.Key("version").String(Version());
    w.Key("http").String(p.frontend->address());
    w.Key("engine").String(fmt::format("{} {}", p.engine->name(), p.engine->version()));
    w.Key("cpus").Int(p.machine.cpus).Key("cpus_from").String(p.machine.cpu_source);
    w.Key("memory_bytes")
        .Int(memory.value)
        .Key("memory_from")
        .String(config.limits.memory > Bytes{0} ? "limits.memory" : p.machine.memory_source);
  });
  return std::unique_ptr<Server>(new Server(std::move(parts)));
}

Status Server::LoadModels(const std::function<bool()>& stop) {
  for (const config::ModelConfig& model : parts_->config.models) {
    if (stop()) return Status::Ok();
    const Status status = parts_->registry->Load(model).WithContext("model " + model.name);
    if (!status.ok()) {
      parts_->log->Write(LogLevel::kError, "model_failed", [&](JsonWriter& w) {
        w.Key("model").String(model.name).Key("reason").String(status.message());
      });
      return status;
    }
  }
  if (!stop()) parts_->registry->SetReady();
  return Status::Ok();
}

std::string Server::ReadyLine() const {
  JsonWriter w;
  w.BeginObject();
  w.Key("event").String("ready");
  w.Key("http").String(parts_->frontend->address());
  w.Key("grpc").Null();
  w.Key("metrics").String(parts_->frontend->metrics_address());
  w.Key("models").BeginArray();
  for (const model::ModelInfo& info : parts_->registry->List()) w.String(info.name);
  w.EndArray().EndObject();
  return std::move(w).Take();
}

bool Server::Drain() {
  if (!parts_->frontend) return true;
  const Clock& clock = Clock::Steady();
  parts_->registry->BeginDrain();
  parts_->frontend->BeginDrain();
  const TimePoint begin = clock.Now();
  const bool finished = parts_->frontend->Stop(begin + parts_->config.server.drain_timeout);
  parts_->offload->Stop();
  parts_->registry->Stop();
  parts_->log->Write(LogLevel::kInfo, "server_stopped", [&](JsonWriter& w) {
    w.Key("drained").Bool(finished).Key("drain_ms").Fixed(Milliseconds(clock.Now() - begin), 1);
  });
  parts_->frontend.reset();
  return finished;
}

}  // namespace gimbal::app
