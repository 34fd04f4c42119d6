#include "engine/fake/fake_engine.h"

#include <cstring>

namespace gimbal::engine {
namespace {

class FakeInstance : public Instance {
 public:
  explicit FakeInstance(std::shared_ptr<const FakeModel> model) : model_(std::move(model)) {}

  Status Run(std::span<const model::TensorView> inputs,
             std::vector<model::TensorView>* outputs) override {
    outputs->clear();
    ASSIGN_OR_RETURN(tensors_, model_->run(inputs));
    for (FakeTensor& tensor : tensors_) {
      outputs->push_back({.name = tensor.name,
                          .type = tensor.type,
                          .shape = tensor.shape,
                          .data = tensor.data.data(),
                          .size_bytes = tensor.data.size()});
    }
    return Status::Ok();
  }

 private:
  const std::shared_ptr<const FakeModel> model_;
  std::vector<FakeTensor> tensors_;
};

class FakeLoadedModel : public LoadedModel {
 public:
  explicit FakeLoadedModel(std::shared_ptr<const FakeModel> model) : model_(std::move(model)) {}

  const model::Signature& signature() const override { return model_->signature; }
  const GraphFacts& facts() const override { return model_->facts; }
  Bytes weights_bytes() const override { return model_->weights; }
  std::optional<ActivationMemory> activations() const override {
    return model_->activations ? std::optional(model_->activations()) : std::nullopt;
  }
  Result<std::unique_ptr<Instance>> NewInstance() override {
    return std::make_unique<FakeInstance>(model_);
  }

 private:
  const std::shared_ptr<const FakeModel> model_;
};

}  // namespace

FakeTensor FakeTensor::Floats(std::string name, model::Shape shape, std::span<const float> values) {
  FakeTensor tensor;
  tensor.name = std::move(name);
  tensor.shape = std::move(shape);
  tensor.data.resize(values.size_bytes());
  std::memcpy(tensor.data.data(), values.data(), values.size_bytes());
  return tensor;
}

Result<std::unique_ptr<LoadedModel>> FakeEngine::Load(const std::string& path,
                                                      const ModelOptions& /*options*/) {
  const auto found = models_.find(path);
  if (found == models_.end()) return NotFoundError(path + ": no such model");
  return std::make_unique<FakeLoadedModel>(std::make_shared<const FakeModel>(found->second));
}

}  // namespace gimbal::engine
