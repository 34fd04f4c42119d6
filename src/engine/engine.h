#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "model/tensor.h"

namespace gimbal::engine {

// How one model is to be run.
struct ModelOptions {
  // Threads that work on one Run; at least 1. 1: Run computes in the calling thread, and all
  // instances share one copy of the weights. More: each instance has its own pool and weights.
  int threads = 1;
  // Threads of a pool spin for a moment before they sleep: faster where cores are free, wasteful
  // where they are not. No meaning with one thread.
  bool spin = false;
  // Memory of activations is kept for the next Run. False: given back after each Run (slower; for
  // machines where another model needs it in between).
  bool keep_memory = true;
};

// One place where a model can run. Owned by whoever runs it; one thread at a time.
class Instance {
 public:
  virtual ~Instance() = default;

  // Computes all outputs, in the order of the signature. `inputs` are matched by name, in any
  // order, and borrowed for the call: nothing is copied. `outputs` (replaced; names and memory)
  // belong to the instance and stay valid until the next Run or its end. Errors name the input,
  // what was expected and what came: kInvalid for inputs that do not fit the signature, kInternal
  // for a graph that fails on inputs that do. An instance can run again after an error.
  virtual Status Run(std::span<const model::TensorView> inputs,
                     std::vector<model::TensorView>* outputs) = 0;
};

// Memory of activations of one model, all instances together.
struct ActivationMemory {
  Bytes peak;      // most ever in use at once since loading; it never falls
  Bytes reserved;  // held now, in use or kept for the next Run
};

// What can be known of a graph without running it.
struct GraphFacts {
  std::map<std::string, int> operators;   // type, with how many nodes have it; subgraphs included
  Bytes weights;                          // sum of the constant tensors
  std::vector<std::string> weight_files;  // names of files beside the graph that hold weights
};

// A model in memory. Any thread; instances may outlive it (they keep what they need). Memory is
// given back to the allocator when the model and its last instance are gone.
class LoadedModel {
 public:
  virtual ~LoadedModel() = default;

  virtual const model::Signature& signature() const = 0;
  virtual const GraphFacts& facts() const = 0;
  // Estimate of what the weights of all instances hold.
  virtual Bytes weights_bytes() const = 0;
  // Nothing when the engine cannot tell.
  virtual std::optional<ActivationMemory> activations() const = 0;
  virtual Result<std::unique_ptr<Instance>> NewInstance() = 0;
};

// A way to run models. Owned by `app`, outlives its models and their instances; any thread.
//
//   ASSIGN_OR_RETURN(auto model, engine.Load("minilm/model.onnx", {.threads = 2}));
//   ASSIGN_OR_RETURN(auto instance, model->NewInstance());
//   RETURN_IF_ERROR(instance->Run(inputs, &outputs));
class Engine {
 public:
  virtual ~Engine() = default;

  virtual std::string_view name() const = 0;     // "onnxruntime"
  virtual std::string_view version() const = 0;  // "1.32.0"
  // Errors name the file and the reason: kNotFound, or kInvalid for what the engine cannot run.
  virtual Result<std::unique_ptr<LoadedModel>> Load(const std::string& path,
                                                    const ModelOptions& options) = 0;
};

}  // namespace gimbal::engine
