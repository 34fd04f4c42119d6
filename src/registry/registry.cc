#include "registry/registry.h"

#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>
#include <chrono>

#include "registry/batching_probe.h"
#include "registry/model_files.h"

namespace gimbal::registry {
namespace {

// What a load gathers on its way; each step fails before anything has changed.
struct Parts {
  ModelFiles files;
  std::unique_ptr<const preprocess::Tokenizer> tokenizer;
  std::unique_ptr<memory::Budget> budget;
  std::unique_ptr<engine::LoadedModel> graph;
  memory::Reservation weights;
  pipeline::TextEmbeddingBinding binding;
  BatchingSafety sharing;
};

Result<Parts> LoadParts(const config::ModelConfig& config, engine::Engine& engine,
                        memory::Budget& server) {
  Parts parts;
  ASSIGN_OR_RETURN(parts.files, FindModelFiles(config.path));
  if (!config.task.empty() && config.task != TaskName(parts.files.task)) {
    return InvalidError(fmt::format("task: the files of {} are for {}, the configuration says {}",
                                    config.path, TaskName(parts.files.task), config.task));
  }
  ASSIGN_OR_RETURN(parts.tokenizer, preprocess::Tokenizer::FromFile(parts.files.tokenizer));
  parts.budget = std::make_unique<memory::Budget>("model " + config.name, config.memory, &server);
  ASSIGN_OR_RETURN(parts.graph, engine.Load(parts.files.graph, {.threads = config.threads}));
  ASSIGN_OR_RETURN(parts.weights,
                   parts.budget->Reserve(memory::Kind::kWeights, parts.graph->weights_bytes()));
  ASSIGN_OR_RETURN(parts.binding, BindTextEmbedding(parts.graph->signature()));
  return parts;
}

// A model whose answers change with padding or with company is batched only as far as they hold.
Status LimitSharing(Parts& parts, policy::BatchLimits* limits) {
  ASSIGN_OR_RETURN(auto instance, parts.graph->NewInstance());
  pipeline::TextEmbedder embedder(
      {parts.binding, parts.files.pooling, parts.files.pad_token_id, parts.files.pad_type_id},
      std::move(instance));
  ProbeOptions probe;
  probe.longest = parts.files.max_tokens;
  probe.vocabulary = static_cast<int>(parts.tokenizer->vocab_size());
  ASSIGN_OR_RETURN(parts.sharing,
                   ProbeBatching(parts.graph->facts(), parts.binding, embedder, probe));
  if (parts.sharing.safe == RowSharing::kAlone) limits->max_rows = 1;
  limits->equal_lengths_only = parts.sharing.safe == RowSharing::kEqualLength;
  return Status::Ok();
}

Result<pipeline::Pipeline::Options> PipelineOptions(const config::ModelConfig& config,
                                                    const Parts& parts, int instances) {
  pipeline::Pipeline::Options options;
  options.name = config.name;
  options.version = "1";
  options.max_tokens = parts.files.max_tokens;
  options.slo = config.slo.p99;
  options.embedder = {parts.binding, parts.files.pooling, parts.files.pad_token_id,
                      parts.files.pad_type_id};
  policy::BatchLimits& limits = options.batching.limits;
  ASSIGN_OR_RETURN(limits.scenario, model::ParseScenario(config.scenario));
  limits.max_rows = config.batching.max_rows;
  limits.max_tokens = config.batching.max_tokens;
  limits.max_wait = config.batching.max_wait;
  limits.instances = instances;
  options.batching.name = config.name;
  limits.length_bucket = 1;  // the graph takes any length; rounding up would only compute padding
  limits.max_length = parts.files.max_tokens;
  limits.target = config.slo.p99;
  options.batching.queue.max_queue_rows = config.queue.max_rows;
  options.batching.queue.max_queue_bytes = config.queue.max_bytes;
  options.batching.queue.max_wait = config.queue.max_predicted_wait;
  return options;
}

model::ModelInfo Describe(const config::ModelConfig& config, const Parts& parts, int dimension) {
  model::ModelInfo info;
  info.name = config.name;
  info.version = "1";
  info.task = parts.files.task;
  info.platform = "onnx_onnxv1";
  info.signature.inputs = {{"text", model::DataType::kBytes, {-1}}};
  info.signature.outputs = {{"embedding", model::DataType::kFp32, {-1, dimension}}};
  info.max_tokens = parts.files.max_tokens;
  info.ready = true;
  info.created_unix_s = std::chrono::duration_cast<std::chrono::seconds>(
                            std::chrono::system_clock::now().time_since_epoch())
                            .count();
  return info;
}

}  // namespace

ServedModel::ServedModel(model::ModelInfo info, std::unique_ptr<memory::Budget> budget,
                         std::unique_ptr<engine::LoadedModel> graph, memory::Reservation weights,
                         std::unique_ptr<pipeline::Pipeline> pipeline)
    : info_(std::move(info)),
      budget_(std::move(budget)),
      graph_(std::move(graph)),
      weights_(std::move(weights)),
      pipeline_(std::move(pipeline)) {}

void ServedModel::Export(obs::Metrics& metrics, std::shared_ptr<const std::atomic<bool>> ready) {
  const obs::Labels labels = {{"model", info_.name}, {"version", info_.version}};
  gauges_.push_back(
      metrics.AddGauge("gimbal_model_ready", "1 while the model is ready to serve.", labels,
                       [ready = std::move(ready)] { return ready->load() ? 1.0 : 0.0; }));
  for (int i = 0; i < memory::kKindCount; ++i) {
    const auto kind = static_cast<memory::Kind>(i);
    obs::Labels with_kind = labels;
    with_kind.emplace_back("kind", std::string(KindName(kind)));
    gauges_.push_back(
        metrics.AddGauge("gimbal_memory_bytes", "Bytes by owner.", with_kind,
                         [budget = budget_, graph = graph_, kind] {
                           if (kind == memory::Kind::kActivations && graph->activations()) {
                             return static_cast<double>(graph->activations()->reserved.value);
                           }
                           return static_cast<double>(budget->used(kind).value);
                         }));
  }
  for (int i = 0; i < model::kLaneCount; ++i) {
    const auto lane = static_cast<model::Lane>(i);
    gauges_.push_back(
        metrics.AddGauge("gimbal_queue_rows", "Rows that wait for a batch.",
                         {{"model", info_.name}, {"lane", std::string(LaneName(lane))}},
                         [depth = pipeline_->depth(), i] {
                           return static_cast<double>(depth->rows[static_cast<size_t>(i)].load());
                         }));
  }
}

Registry::Registry(Deps deps) : deps_(deps) {}

void Registry::Announce(const std::string& name) {
  MutexLock lock(mu_);
  loading_.insert(name);
}

Status Registry::Load(const config::ModelConfig& config) {
  const TimePoint start = deps_.clock->Now();
  ASSIGN_OR_RETURN(Parts parts, LoadParts(config, *deps_.engine, *deps_.budget));
  const int instances =
      config.instances > 0 ? config.instances : DefaultInstances(deps_.cpus, config.threads);
  ASSIGN_OR_RETURN(auto options, PipelineOptions(config, parts, instances));
  RETURN_IF_ERROR(LimitSharing(parts, &options.batching.limits));
  pipeline::Pipeline::Deps deps;
  deps.clock = deps_.clock;
  deps.metrics = deps_.metrics;
  deps.budget = parts.budget.get();
  deps.tokenizer = std::move(parts.tokenizer);
  for (int i = 0; i < instances; ++i) {
    ASSIGN_OR_RETURN(auto instance, parts.graph->NewInstance());
    deps.instances.push_back(std::move(instance));
    // With several threads an instance has weights of its own.
    RETURN_IF_ERROR(parts.weights.Resize(parts.graph->weights_bytes()));
  }
  ASSIGN_OR_RETURN(auto pipeline, pipeline::Pipeline::Create(std::move(options), std::move(deps)));
  model::ModelInfo info = Describe(config, parts, pipeline->dimension());
  auto served = std::make_shared<ServedModel>(std::move(info), std::move(parts.budget),
                                              std::move(parts.graph), std::move(parts.weights),
                                              std::move(pipeline));
  served->Export(*deps_.metrics, ready_);
  deps_.log->Write(LogLevel::kInfo, "model_ready", [&](JsonWriter& w) {
    w.Key("model").String(config.name).Key("task").String(TaskName(served->info().task));
    w.Key("instances").Int(instances).Key("threads").Int(config.threads);
    w.Key("max_tokens").Int(served->info().max_tokens);
    w.Key("rows_may_share").String(RowSharingName(parts.sharing.safe));
    w.Key("load_ms").Fixed(Milliseconds(deps_.clock->Now() - start), 1);
    w.Key("notes").BeginArray();
    for (const std::string& note : parts.files.notes) w.String(note);
    for (const std::string& reason : parts.sharing.reasons) w.String(reason);
    w.EndArray();
  });
  MutexLock lock(mu_);
  models_[config.name] = std::move(served);
  loading_.erase(config.name);
  return Status::Ok();
}

Result<std::shared_ptr<ServedModel>> Registry::Find(const std::string& name,
                                                    const std::string& version) const {
  MutexLock lock(mu_);
  const auto it = models_.find(name);
  if (stopped_) return UnavailableError("the server is stopping");
  if (it == models_.end() && loading_.contains(name)) {
    return UnavailableError("model " + name + " is still loading")
        .WithRetryAfter(std::chrono::seconds(1));
  }
  if (it == models_.end()) {
    std::string names;
    for (const auto& [known, served] : models_) names += (names.empty() ? "" : ", ") + known;
    return NotFoundError(fmt::format("model \"{}\" is not served here; there is: {}",
                                     name.substr(0, 128), names.empty() ? "none" : names));
  }
  if (!version.empty() && version != it->second->info().version) {
    return NotFoundError(fmt::format("model \"{}\" has no version \"{}\"; it has: {}", name,
                                     version.substr(0, 32), it->second->info().version));
  }
  return it->second;
}

std::vector<model::ModelInfo> Registry::List() const {
  MutexLock lock(mu_);
  std::vector<model::ModelInfo> out;
  for (const auto& [name, served] : models_) out.push_back(served->info());
  return out;
}

void Registry::Stop() {
  BeginDrain();
  Models models;
  {
    MutexLock lock(mu_);
    models.swap(models_);
    stopped_ = true;
  }
  for (const auto& [name, served] : models) served->pipeline().Stop();
  models.clear();
  // glibc keeps freed memory for later; whoever looks at the process wants it back.
  malloc_trim(0);
}

int DefaultInstances(int cpus, int threads) { return std::max(1, cpus / std::max(1, threads)); }

}  // namespace gimbal::registry
