#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "base/mutex.h"
#include "base/result.h"
#include "config/config.h"
#include "engine/engine.h"
#include "memory/budget.h"
#include "model/request.h"
#include "obs/metrics.h"
#include "pipeline/pipeline.h"

namespace gimbal::registry {

// One loaded version of a model. Shared: the registry holds it while it serves, each request in
// flight until its last row is answered.
class ServedModel {
 public:
  ServedModel(model::ModelInfo info, std::unique_ptr<memory::Budget> budget,
              std::unique_ptr<engine::LoadedModel> graph, memory::Reservation weights,
              std::unique_ptr<pipeline::Pipeline> pipeline);

  const model::ModelInfo& info() const { return info_; }
  pipeline::Pipeline& pipeline() { return *pipeline_; }
  // Gauges of this version; they leave the metrics with it. `ready` says whether the server is.
  void Export(obs::Metrics& metrics, std::shared_ptr<const std::atomic<bool>> ready);

 private:
  // In the order of need: what stands lower uses what stands above it.
  const model::ModelInfo info_;
  const std::shared_ptr<memory::Budget> budget_;
  const std::shared_ptr<engine::LoadedModel> graph_;
  memory::Reservation weights_;
  const std::unique_ptr<pipeline::Pipeline> pipeline_;
  std::vector<std::shared_ptr<void>> gauges_;
};

// The models that serve. Owned by `app`; any thread. Requests take a handle through Find, under a
// lock held only to copy a pointer.
class Registry {
 public:
  struct Deps {
    engine::Engine* engine = nullptr;
    const Clock* clock = nullptr;
    obs::Metrics* metrics = nullptr;
    Log* log = nullptr;
    memory::Budget* budget = nullptr;  // the server's
    int cpus = 1;                      // for instances = 0
  };
  explicit Registry(Deps deps);

  // Names that will be loaded: until they are, requests for them are told to come back.
  void Announce(const std::string& name);
  // Finds, loads and warms up one model, then lets it serve. Nothing changes when it fails.
  Status Load(const config::ModelConfig& config);

  // The version that serves (empty `version`), or the named one; kNotFound with what there is,
  // kUnavailable while an announced model loads and once Stop() has begun.
  Result<std::shared_ptr<ServedModel>> Find(const std::string& name,
                                            const std::string& version) const;
  std::vector<model::ModelInfo> List() const;

  // True when every model has been loaded (SetReady) and no drain has begun.
  bool ready() const { return ready_->load(); }
  void SetReady() { ready_->store(true); }
  // Not ready any more; what is in flight and what still arrives is served.
  void BeginDrain() { ready_->store(false); }
  // Finishes what is queued and lets every model go.
  void Stop();

 private:
  using Models = std::map<std::string, std::shared_ptr<ServedModel>>;

  const Deps deps_;
  const std::shared_ptr<std::atomic<bool>> ready_ = std::make_shared<std::atomic<bool>>(false);

  mutable Mutex mu_;
  Models models_ GUARDED_BY(mu_);
  std::set<std::string> loading_ GUARDED_BY(mu_);
  bool stopped_ GUARDED_BY(mu_) = false;
};

// Instances that a model gets when its configuration leaves the number to the machine.
int DefaultInstances(int cpus, int threads);

}  // namespace gimbal::registry
