#include <gtest/gtest.h>

#include <latch>
#include <thread>
#include <vector>

#include "engine/fake/fake_engine.h"

namespace gimbal::engine {
namespace {

FakeModel Doubler() {
  FakeModel model;
  model.signature.inputs = {{"x", model::DataType::kFp32, {-1}}};
  model.signature.outputs = {{"y", model::DataType::kFp32, {-1}}};
  model.run = [](FakeModel::Inputs inputs) -> Result<std::vector<FakeTensor>> {
    const auto* x = static_cast<const float*>(inputs[0].data);
    std::vector<float> y;
    for (int64_t i = 0; i < inputs[0].shape[0]; ++i) y.push_back(2 * x[i]);
    return std::vector{FakeTensor::Floats("y", inputs[0].shape, y)};
  };
  return model;
}

TEST(FakeEngine, AnswersWhatItsFunctionSays) {
  FakeModel broken = Doubler();
  broken.run = [](FakeModel::Inputs) { return InternalError("out of order"); };
  FakeEngine engine({{"doubler", Doubler()}, {"broken", broken}});
  EXPECT_EQ(engine.Load("absent", {}).status().code(), Code::kNotFound);
  auto model = std::move(engine.Load("broken", {})).value();
  auto instance = std::move(model->NewInstance()).value();
  std::vector<model::TensorView> outputs;
  EXPECT_EQ(instance->Run({}, &outputs).message(), "out of order");
}

TEST(FakeEngine, InstancesRunAtOnce) {
  FakeEngine engine({{"doubler", Doubler()}});
  auto model = std::move(engine.Load("doubler", {})).value();
  constexpr int kThreads = 4;
  std::latch start(kThreads);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      auto instance = std::move(model->NewInstance()).value();
      start.arrive_and_wait();
      std::vector<float> x(3, static_cast<float>(t));
      std::vector<model::TensorView> outputs;
      for (int i = 0; i < 100; ++i) {
        const model::TensorView input{"x", model::DataType::kFp32, {3}, x.data(), 12};
        ASSERT_TRUE(instance->Run(std::vector{input}, &outputs).ok());
        ASSERT_EQ(static_cast<const float*>(outputs[0].data)[2], 2.0f * t);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace gimbal::engine
