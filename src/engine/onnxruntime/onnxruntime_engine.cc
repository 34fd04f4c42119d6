#include "engine/onnxruntime/onnxruntime_engine.h"

#include <fmt/format.h>
#include <onnxruntime_cxx_api.h>
#include <onnxruntime_session_options_config_keys.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "base/mutex.h"
#include "engine/onnxruntime/input_check.h"
#include "engine/onnxruntime/library.h"
#include "engine/onnxruntime/onnx_facts.h"

namespace gimbal::engine {
namespace {

using model::DataType;

constexpr std::pair<ONNXTensorElementDataType, DataType> kTypes[] = {
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_BOOL, DataType::kBool},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT8, DataType::kUint8},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT16, DataType::kUint16},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT32, DataType::kUint32},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT64, DataType::kUint64},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_INT8, DataType::kInt8},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_INT16, DataType::kInt16},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_INT32, DataType::kInt32},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64, DataType::kInt64},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT16, DataType::kFp16},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_BFLOAT16, DataType::kBf16},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, DataType::kFp32},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_DOUBLE, DataType::kFp64},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING, DataType::kBytes},
};

std::optional<DataType> FromOrt(ONNXTensorElementDataType type) {
  const auto* found = std::find_if(std::begin(kTypes), std::end(kTypes),
                                   [&](const auto& pair) { return pair.first == type; });
  return found == std::end(kTypes) ? std::nullopt : std::optional(found->second);
}

ONNXTensorElementDataType ToOrt(DataType type) {
  const auto* found = std::find_if(std::begin(kTypes), std::end(kTypes),
                                   [&](const auto& pair) { return pair.second == type; });
  return found->first;  // kTypes has every DataType
}

Ort::SessionOptions SessionOptionsOf(const ModelOptions& options) {
  Ort::SessionOptions session;
  session.SetGraphOptimizationLevel(GraphOptimizationLevel::ORT_ENABLE_ALL);
  // With one thread there is no pool: Run computes in the caller's thread.
  session.SetIntraOpNumThreads(options.threads);
  // One graph after another node; rows and instances are where parallelism comes from.
  session.SetInterOpNumThreads(1);
  session.SetExecutionMode(ExecutionMode::ORT_SEQUENTIAL);
  session.AddConfigEntry(kOrtSessionOptionsConfigAllowIntraOpSpinning, options.spin ? "1" : "0");
  // A memory pattern is a plan kept for each shape of inputs that ever came. With texts of all
  // lengths that never ends growing, and it seldom hits.
  session.DisableMemPattern();
  if (options.keep_memory) {
    session.EnableCpuMemArena();
  } else {
    session.DisableCpuMemArena();
  }
  // Keeps weights, as they were read, out of the arena, whose figures are to be those of
  // activations.
  session.AddConfigEntry(kOrtSessionOptionsUseDeviceAllocatorForInitializers, "1");
  return session;
}

// Figures of a session's arena; nothing when it has none or the release does not count.
struct ArenaFigures {
  int64_t in_use = 0;
  int64_t peak = 0;
  int64_t reserved = 0;
};

std::optional<ArenaFigures> ArenaOf(Ort::Session& session) {
  try {
    const auto cpu = Ort::MemoryInfo::CreateCpu(OrtArenaAllocator, OrtMemTypeDefault);
    const Ort::Allocator allocator(session, cpu);
    const Ort::KeyValuePairs stats = allocator.GetStats();
    const auto figure = [&](const char* name) {
      const char* text = stats.GetValue(name);
      return text == nullptr ? int64_t{-1} : std::atoll(text);
    };
    const ArenaFigures arena{figure("InUse"), figure("MaxInUse"), figure("TotalAllocated")};
    if (arena.in_use < 0 || arena.peak < 0 || arena.reserved < 0) return std::nullopt;
    return arena;
  } catch (...) {
    return std::nullopt;
  }
}

// A session with what it needs to stay alive; shared by the instances that run on it.
struct SessionBox {
  SessionBox(std::shared_ptr<OnnxRuntimeLibrary> library_, const std::string& path,
             const ModelOptions& options)
      : library(std::move(library_)),
        session(library->env(), path.c_str(), SessionOptionsOf(options)),
        after_load(ArenaOf(session)) {}

  std::optional<ActivationMemory> activations() {
    const auto now = ArenaOf(session);
    if (!now || !after_load) return std::nullopt;
    return ActivationMemory{.peak = {std::max<int64_t>(now->peak - after_load->in_use, 0)},
                            .reserved = {std::max<int64_t>(now->reserved - after_load->in_use, 0)}};
  }

  const std::shared_ptr<OnnxRuntimeLibrary> library;
  Ort::Session session;
  // Weights that were laid out anew for the kernels live in the arena too, from loading on. They
  // replace what was read from the file, so they count as weights and not as activations.
  const std::optional<ArenaFigures> after_load;
};

Result<std::shared_ptr<SessionBox>> NewSession(const std::shared_ptr<OnnxRuntimeLibrary>& library,
                                               const std::string& path,
                                               const ModelOptions& options) {
  try {
    return std::make_shared<SessionBox>(library, path, options);
  } catch (...) {
    const Status status = StatusOfException(path);
    // Whatever ONNX Runtime calls it, a file it does not load is one that it cannot run.
    return status.code() == Code::kNotFound ? status : InvalidError(status.message());
  }
}

// Vendor exceptions come through here and stop in Load().
Result<model::TensorSpec> SpecOf(std::string name, const Ort::TypeInfo& info,
                                 std::vector<std::string>* dimension_names) {
  if (info.GetONNXType() != ONNX_TYPE_TENSOR) {
    return InvalidError(fmt::format("\"{}\" is no tensor; only tensors can be served", name));
  }
  const auto tensor = info.GetTensorTypeAndShapeInfo();
  const auto type = FromOrt(tensor.GetElementType());
  if (!type) {
    return InvalidError(fmt::format("\"{}\" has element type {}, which cannot be served", name,
                                    static_cast<int>(tensor.GetElementType())));
  }
  if (dimension_names != nullptr) {
    for (const char* symbol : tensor.GetSymbolicDimensions()) dimension_names->push_back(symbol);
  }
  return model::TensorSpec{.name = std::move(name), .type = *type, .shape = tensor.GetShape()};
}

struct Declared {
  model::Signature signature;
  InputRules rules;
};

Result<Declared> DeclaredBy(Ort::Session& session) {
  Declared declared;
  const auto inputs = session.GetInputNames();
  for (size_t i = 0; i < inputs.size(); ++i) {
    auto& names = declared.rules.dimension_names.emplace_back();
    ASSIGN_OR_RETURN(auto spec, SpecOf(inputs[i], session.GetInputTypeInfo(i), &names));
    declared.signature.inputs.push_back(std::move(spec));
  }
  const auto outputs = session.GetOutputNames();
  for (size_t i = 0; i < outputs.size(); ++i) {
    ASSIGN_OR_RETURN(auto spec, SpecOf(outputs[i], session.GetOutputTypeInfo(i), nullptr));
    declared.signature.outputs.push_back(std::move(spec));
  }
  declared.rules.specs = declared.signature.inputs;
  return declared;
}

class OrtInstance : public Instance {
 public:
  OrtInstance(std::shared_ptr<SessionBox> box, std::shared_ptr<const Declared> declared)
      : box_(std::move(box)),
        declared_(std::move(declared)),
        cpu_(Ort::MemoryInfo::CreateCpu(OrtArenaAllocator, OrtMemTypeDefault)),
        binding_(box_->session) {}

  Status Run(std::span<const model::TensorView> inputs,
             std::vector<model::TensorView>* outputs) override {
    outputs->clear();
    RETURN_IF_ERROR(CheckInputs(declared_->rules, inputs));
    try {
      Bind(inputs);
      box_->session.Run(run_options_, binding_);
      Collect(outputs);
      return Status::Ok();
    } catch (...) {
      outputs->clear();
      // The inputs fit the signature, so whatever fails now is the graph's fault.
      return InternalError(StatusOfException("the model failed").message());
    }
  }

 private:
  void Bind(std::span<const model::TensorView> inputs) {
    // Outputs are bound anew to a device and not to memory: the engine then allocates what each
    // shape needs. The previous outputs end here.
    values_.clear();
    binding_.ClearBoundInputs();
    binding_.ClearBoundOutputs();
    for (const model::TensorView& input : inputs) {
      const Ort::Value value = Ort::Value::CreateTensor(
          cpu_, input.size_bytes > 0 ? input.data : &no_elements_, input.size_bytes,
          input.shape.data(), input.shape.size(), ToOrt(input.type));
      binding_.BindInput(std::string(input.name).c_str(), value);
    }
    for (const auto& output : declared_->signature.outputs) {
      binding_.BindOutput(output.name.c_str(), cpu_);
    }
  }

  void Collect(std::vector<model::TensorView>* outputs) {
    values_ = binding_.GetOutputValues();
    // The caller's inputs are not to be held, not even by name.
    binding_.ClearBoundInputs();
    for (size_t i = 0; i < values_.size(); ++i) {
      const auto& spec = declared_->signature.outputs[i];
      const auto info = values_[i].GetTensorTypeAndShapeInfo();
      const size_t bytes = info.GetElementCount() * model::ElementSize(spec.type);
      outputs->push_back({.name = spec.name,
                          .type = spec.type,
                          .shape = info.GetShape(),
                          .data = values_[i].GetTensorMutableRawData(),
                          .size_bytes = bytes});
    }
  }

  const std::shared_ptr<SessionBox> box_;
  const std::shared_ptr<const Declared> declared_;
  const Ort::MemoryInfo cpu_;
  // Owned by the thread that runs.
  Ort::IoBinding binding_;
  Ort::RunOptions run_options_;
  std::vector<Ort::Value> values_;
  char no_elements_ = 0;
};

class OrtModel : public LoadedModel {
 public:
  OrtModel(std::string path, const ModelOptions& options, std::shared_ptr<SessionBox> first,
           std::shared_ptr<const Declared> declared, GraphFacts facts)
      : path_(std::move(path)),
        options_(options),
        library_(first->library),
        declared_(std::move(declared)),
        facts_(std::move(facts)),
        unused_(first) {
    sessions_.push_back(first);
  }

  const model::Signature& signature() const override { return declared_->signature; }
  const GraphFacts& facts() const override { return facts_; }

  Bytes weights_bytes() const override {
    return {facts_.weights.value * static_cast<int64_t>(Sessions().size())};
  }

  std::optional<ActivationMemory> activations() const override {
    if (!options_.keep_memory) return std::nullopt;
    ActivationMemory sum;
    for (const auto& box : Sessions()) {
      const auto one = box->activations();
      if (!one) return std::nullopt;
      sum.peak += one->peak;
      sum.reserved += one->reserved;
    }
    return sum;
  }

  Result<std::unique_ptr<Instance>> NewInstance() override {
    ASSIGN_OR_RETURN(auto box, SessionForInstance());
    try {
      return std::make_unique<OrtInstance>(std::move(box), declared_);
    } catch (...) {
      return StatusOfException(path_);
    }
  }

 private:
  // One thread: all instances run on the first session, which any number of threads may. More: each
  // gets its own, since a session's pool serves one Run well and two badly.
  Result<std::shared_ptr<SessionBox>> SessionForInstance() {
    {
      const MutexLock lock(mu_);
      if (options_.threads == 1) return unused_;
      if (unused_ != nullptr) return std::exchange(unused_, nullptr);
    }
    ASSIGN_OR_RETURN(auto box, NewSession(library_, path_, options_));
    const MutexLock lock(mu_);
    sessions_.push_back(box);
    return box;
  }

  std::vector<std::shared_ptr<SessionBox>> Sessions() const {
    const MutexLock lock(mu_);
    std::vector<std::shared_ptr<SessionBox>> alive;
    std::erase_if(sessions_, [&](const auto& weak) {
      auto box = weak.lock();
      if (box != nullptr) alive.push_back(std::move(box));
      return weak.expired();
    });
    return alive;
  }

  const std::string path_;
  const ModelOptions options_;
  const std::shared_ptr<OnnxRuntimeLibrary> library_;
  const std::shared_ptr<const Declared> declared_;
  const GraphFacts facts_;

  mutable Mutex mu_;
  std::shared_ptr<SessionBox> unused_ GUARDED_BY(mu_);  // threads == 1: the one of all instances
  mutable std::vector<std::weak_ptr<SessionBox>> sessions_ GUARDED_BY(mu_);
};

class OnnxRuntimeEngine : public Engine {
 public:
  explicit OnnxRuntimeEngine(std::shared_ptr<OnnxRuntimeLibrary> library)
      : library_(std::move(library)) {}

  std::string_view name() const override { return "onnxruntime"; }
  std::string_view version() const override { return library_->version(); }

  Result<std::unique_ptr<LoadedModel>> Load(const std::string& path,
                                            const ModelOptions& options) override {
    if (options.threads < 1) {
      return InvalidError(fmt::format("threads is {}, expected at least 1", options.threads));
    }
    ASSIGN_OR_RETURN(GraphFacts facts, ReadOnnxFacts(path));
    ASSIGN_OR_RETURN(auto box, NewSession(library_, path, options));
    try {
      auto declared = DeclaredBy(box->session);
      if (!declared.ok()) return declared.status().WithContext(path);
      return std::make_unique<OrtModel>(
          path, options, std::move(box),
          std::make_shared<const Declared>(std::move(declared).value()), std::move(facts));
    } catch (...) {
      return StatusOfException(path);
    }
  }

 private:
  const std::shared_ptr<OnnxRuntimeLibrary> library_;
};

}  // namespace

Result<std::unique_ptr<Engine>> CreateOnnxRuntimeEngine(const OnnxRuntimeOptions& options) {
  ASSIGN_OR_RETURN(auto library, OnnxRuntimeLibrary::Open(options));
  return std::make_unique<OnnxRuntimeEngine>(std::move(library));
}

}  // namespace gimbal::engine
