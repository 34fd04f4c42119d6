#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/engine.h"

namespace gimbal::engine {

// An output that a fake model computed; it owns its memory.
struct FakeTensor {
  std::string name;
  model::DataType type = model::DataType::kFp32;
  model::Shape shape;
  std::vector<std::byte> data;

  static FakeTensor Floats(std::string name, model::Shape shape, std::span<const float> values);
};

// What a fake model is: its signature, and the function that answers. For tests of scheduling and
// pipelines; a function that waits on the test's own latch plays a slow model, one that returns an
// error plays a broken one.
struct FakeModel {
  using Inputs = std::span<const model::TensorView>;
  model::Signature signature;
  // Called by any instance, each on its own thread.
  std::function<Result<std::vector<FakeTensor>>(Inputs)> run;
  Bytes weights;
  GraphFacts facts;
  std::function<ActivationMemory()> activations;  // null: this engine does not count
};

// Engine of programmed models. Load() looks its path up in `models`; what is not there is
// kNotFound. Any thread, once it is filled.
class FakeEngine : public Engine {
 public:
  explicit FakeEngine(std::map<std::string, FakeModel> models = {}) : models_(std::move(models)) {}

  std::string_view name() const override { return "fake"; }
  std::string_view version() const override { return "1"; }
  Result<std::unique_ptr<LoadedModel>> Load(const std::string& path,
                                            const ModelOptions& options) override;

 private:
  const std::map<std::string, FakeModel> models_;
};

}  // namespace gimbal::engine
