#include "engine/engine.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "engine/onnxruntime/onnxruntime_engine.h"

namespace gimbal::engine {
namespace {

const std::string kTestData = std::string(GIMBAL_SOURCE_DIR) + "/src/engine/testdata/";

model::TensorView Floats(std::string_view name, std::vector<float>& values, model::Shape shape) {
  return {.name = name,
          .type = model::DataType::kFp32,
          .shape = std::move(shape),
          .data = values.data(),
          .size_bytes = values.size() * sizeof(float)};
}

std::vector<float> Values(const model::TensorView& view) {
  const auto* data = static_cast<const float*>(view.data);
  return {data, data + view.size_bytes / sizeof(float)};
}

class OnnxRuntimeTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto engine = CreateOnnxRuntimeEngine({});
    ASSERT_TRUE(engine.ok()) << engine.status().message() << "; tools/dev setup fetches it";
    engine_ = std::move(engine).value();
    std::string pattern = ::testing::TempDir() + "engineXXXXXX";
    dir_ = std::string(mkdtemp(pattern.data())) + "/";
  }
  void TearDown() override { std::filesystem::remove_all(dir_); }

  std::unique_ptr<LoadedModel> Load(const std::string& name, ModelOptions options = {}) {
    auto model = engine_->Load(kTestData + name, options);
    EXPECT_TRUE(model.ok()) << model.status().message();
    return std::move(model).value();
  }
  Status LoadError(const std::string& path) { return engine_->Load(path, {}).status(); }

  std::unique_ptr<Engine> engine_;
  std::string dir_;  // an empty folder
};

TEST_F(OnnxRuntimeTest, SaysWhatTheModelTakesAndGives) {
  EXPECT_EQ(engine_->name(), "onnxruntime");
  EXPECT_TRUE(engine_->version().starts_with("1."));
  const auto model = Load("sum.onnx");
  ASSERT_EQ(model->signature().inputs.size(), 2u);
  EXPECT_EQ(model->signature().inputs[1].name, "y");
  EXPECT_EQ(model->signature().inputs[1].type, model::DataType::kFp32);
  EXPECT_EQ(model->signature().inputs[1].shape, (model::Shape{-1, 4}));
  ASSERT_EQ(model->signature().outputs.size(), 1u);
  EXPECT_EQ(model->signature().outputs[0].name, "z");
  EXPECT_EQ(model->weights_bytes(), Bytes{16});
  EXPECT_EQ(model->facts().operators, (std::map<std::string, int>{{"Add", 1}, {"Mul", 1}}));
}

TEST_F(OnnxRuntimeTest, RunsAtAnyNumberOfRowsAndBorrowsItsInputs) {
  const auto model = Load("sum.onnx");
  auto instance = model->NewInstance();
  ASSERT_TRUE(instance.ok()) << instance.status().message();
  for (const int rows : {1, 3, 2, 0}) {
    std::vector<float> x(rows * 4, 1.0f), y(rows * 4, static_cast<float>(rows));
    std::vector<model::TensorView> outputs;
    // By name, in any order.
    const std::vector<model::TensorView> inputs = {Floats("y", y, {rows, 4}),
                                                   Floats("x", x, {rows, 4})};
    const Status status = (*instance)->Run(inputs, &outputs);
    ASSERT_TRUE(status.ok()) << status.message();
    ASSERT_EQ(outputs.size(), 1u);
    EXPECT_EQ(outputs[0].name, "z");
    EXPECT_EQ(outputs[0].shape, (model::Shape{rows, 4}));
    const auto z = Values(outputs[0]);
    for (int i = 0; i < rows * 4; ++i) EXPECT_EQ(z[i], (1.0f + rows) * std::pow(10.0f, i % 4));
    // The caller's memory is used as it is: a change shows in the next Run.
    if (rows == 0) continue;
    x[0] = 41;
    ASSERT_TRUE((*instance)->Run(inputs, &outputs).ok());
    EXPECT_EQ(Values(outputs[0])[0], 41.0f + rows);
  }
}

TEST_F(OnnxRuntimeTest, InstancesOutliveTheModelAndKeepTheirOwnOutputs) {
  for (const int threads : {1, 2}) {
    auto model = Load("sum.onnx", {.threads = threads});
    auto first = std::move(model->NewInstance()).value();
    auto second = std::move(model->NewInstance()).value();
    EXPECT_EQ(model->weights_bytes(), Bytes{threads == 1 ? 16 : 32});
    model.reset();
    std::vector<float> x = {1, 1, 1, 1}, y = {2, 2, 2, 2};
    std::vector<model::TensorView> a, b;
    ASSERT_TRUE(first->Run(std::vector{Floats("x", x, {1, 4}), Floats("y", x, {1, 4})}, &a).ok());
    ASSERT_TRUE(second->Run(std::vector{Floats("x", y, {1, 4}), Floats("y", y, {1, 4})}, &b).ok());
    EXPECT_EQ(Values(a[0])[0], 2.0f);
    EXPECT_EQ(Values(b[0])[0], 4.0f);
  }
}

TEST_F(OnnxRuntimeTest, InstancesOfOneModelRunAtOnce) {
  for (const int threads : {1, 2}) {
    const auto model = Load("sum.onnx", {.threads = threads});
    std::vector<std::thread> callers;
    for (int caller = 0; caller < 4; ++caller) {
      callers.emplace_back([&, caller] {
        auto instance = std::move(model->NewInstance()).value();
        std::vector<model::TensorView> outputs;
        for (int i = 0; i < 200; ++i) {
          const int rows = 1 + (i + caller) % 7;
          std::vector<float> x(static_cast<size_t>(rows) * 4, static_cast<float>(caller));
          const std::vector inputs{Floats("x", x, {rows, 4}), Floats("y", x, {rows, 4})};
          ASSERT_TRUE(instance->Run(inputs, &outputs).ok());
          ASSERT_EQ(Values(outputs[0]).back(), 2000.0f * static_cast<float>(caller));
        }
      });
    }
    for (std::thread& caller : callers) caller.join();
  }
}

TEST_F(OnnxRuntimeTest, InputsThatDoNotFitAreNamed) {
  const auto model = Load("sum.onnx");
  auto instance = std::move(model->NewInstance()).value();
  std::vector<float> f(12);
  std::vector<model::TensorView> outputs;
  const auto error = [&](std::vector<model::TensorView> inputs) {
    const Status status = instance->Run(inputs, &outputs);
    EXPECT_EQ(status.code(), Code::kInvalid) << status.message();
    EXPECT_TRUE(outputs.empty());
    return status.message();
  };
  std::vector<float> five(5), eight(8), four(4);
  EXPECT_EQ(error({Floats("x", five, {1, 5}), Floats("y", four, {1, 4})}),
            "input \"x\": dimension 1 is 5, the model allows 4");
  EXPECT_EQ(error({Floats("x", eight, {2, 4}), Floats("y", four, {1, 4})}),
            "input \"y\": dimension 0 (\"rows\") is 1, it is 2 in input \"x\"");
  EXPECT_EQ(error({Floats("x", four, {4}), Floats("y", four, {1, 4})}),
            "input \"x\": has shape [4], the model takes [-1,4]");
  EXPECT_EQ(error({Floats("x", four, {1, 4})}), "input \"y\": is missing");
  EXPECT_EQ(
      error({Floats("x", four, {1, 4}), Floats("x", four, {1, 4}), Floats("y", four, {1, 4})}),
      "input \"x\": is given more than once");
  EXPECT_EQ(error({Floats("w", four, {1, 4})}), "input \"w\": the model has no such input");
  EXPECT_EQ(error({Floats("x", four, {2, 4}), Floats("y", four, {1, 4})}),
            "input \"x\": has 16 bytes, its shape [2,4] needs 32");
  EXPECT_EQ(error({Floats("x", four, {-1, 4}), Floats("y", four, {1, 4})}),
            "input \"x\": dimension 0 is -1, the model allows 0 or more");
  EXPECT_EQ(error({Floats("x", four, {int64_t{1} << 61, 4}), Floats("y", four, {1, 4})}),
            "input \"x\": is larger than memory can be");
  model::TensorView whole = Floats("x", four, {1, 4});
  whole.type = model::DataType::kInt64;
  EXPECT_EQ(error({whole, Floats("y", four, {1, 4})}),
            "input \"x\": is INT64, the model takes FP32");
  EXPECT_TRUE(
      instance->Run(std::vector{Floats("x", four, {1, 4}), Floats("y", four, {1, 4})}, &outputs)
          .ok());
}

TEST_F(OnnxRuntimeTest, AGraphThatFailsIsInternalAndCanRunAgain) {
  const auto model = Load("reshape.onnx");
  auto instance = std::move(model->NewInstance()).value();
  std::vector<float> three(3), four(4);
  std::vector<model::TensorView> outputs;
  const Status status = instance->Run(std::vector{Floats("x", three, {3})}, &outputs);
  EXPECT_EQ(status.code(), Code::kInternal);
  EXPECT_NE(status.message().find("Reshape"), std::string::npos) << status.message();
  EXPECT_TRUE(outputs.empty());
  EXPECT_TRUE(instance->Run(std::vector{Floats("x", four, {4})}, &outputs).ok());
}

TEST_F(OnnxRuntimeTest, FilesThatAreNoModelAreRefusedByNameAndReason) {
  const auto expect = [&](const std::string& path, Code code, std::string_view reason) {
    const Status status = LoadError(path);
    EXPECT_EQ(status.code(), code) << status.message();
    EXPECT_TRUE(status.message().starts_with(path + ": ")) << status.message();
    EXPECT_NE(status.message().find(reason), std::string::npos) << status.message();
  };
  const auto write = [&](const std::string& name, std::string_view bytes) {
    std::ofstream(dir_ + name, std::ios::binary) << bytes;
    return dir_ + name;
  };
  expect(dir_ + "absent.onnx", Code::kNotFound, "No such file");
  expect(kTestData, Code::kInvalid, "Is a directory");
  expect(write("empty.onnx", ""), Code::kInvalid, "empty");
  expect(write("text.onnx", "this is no model"), Code::kInvalid, "not an ONNX file");
  expect(write("lfs.onnx", "version https://git-lfs.github.com/spec/v1\n"), Code::kInvalid, "LFS");
  std::ifstream file(kTestData + "sum.onnx", std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), {});
  expect(write("cut.onnx", std::string_view(bytes).substr(0, bytes.size() / 2)), Code::kInvalid,
         "not an ONNX file, or cut short");
  expect(kTestData + "opset_99.onnx", Code::kInvalid, "opset");
  EXPECT_EQ(engine_->Load(kTestData + "sum.onnx", {.threads = 0}).status().message(),
            "threads is 0, expected at least 1");
}

TEST_F(OnnxRuntimeTest, WeightsMayLieBesideTheGraph) {
  const auto model = Load("sum_external.onnx");
  EXPECT_EQ(model->facts().weight_files, std::vector<std::string>{"sum_external.weights"});
  EXPECT_EQ(model->weights_bytes(), Bytes{16});
  std::filesystem::copy_file(kTestData + "sum_external.onnx", dir_ + "alone.onnx");
  const Status status = LoadError(dir_ + "alone.onnx");
  EXPECT_NE(status.message().find("sum_external.weights"), std::string::npos) << status.message();
}

TEST_F(OnnxRuntimeTest, OperatorsInBranchesAreCounted) {
  const auto model = Load("branch.onnx");
  EXPECT_EQ(model->facts().operators.at("DynamicQuantizeLinear"), 1);
  EXPECT_EQ(model->facts().operators.at("If"), 1);
}

TEST_F(OnnxRuntimeTest, ActivationMemoryGrowsWithTheWorkAndLeavesWeightsOut) {
  const auto model = Load("sum.onnx");
  auto instance = std::move(model->NewInstance()).value();
  std::vector<model::TensorView> outputs;
  const auto run = [&](int64_t rows) {
    std::vector<float> x(rows * 4);
    ASSERT_TRUE(
        instance->Run(std::vector{Floats("x", x, {rows, 4}), Floats("y", x, {rows, 4})}, &outputs)
            .ok());
  };
  ASSERT_TRUE(model->activations().has_value());
  EXPECT_LT(model->activations()->peak, KiB(16));
  run(1 << 16);
  const auto memory = model->activations();
  EXPECT_GE(memory->peak, MiB(1));
  EXPECT_LE(memory->peak, MiB(4));
  EXPECT_GE(memory->reserved, memory->peak);
  EXPECT_FALSE(Load("sum.onnx", {.keep_memory = false})->activations().has_value());
}

TEST_F(OnnxRuntimeTest, WeightsLaidOutAnewAreNoActivations) {
  const auto model = Load("matmul.onnx");
  auto instance = std::move(model->NewInstance()).value();
  std::vector<float> x(256, 1.0f);
  std::vector<model::TensorView> outputs;
  ASSERT_TRUE(instance->Run(std::vector{Floats("x", x, {1, 256})}, &outputs).ok());
  EXPECT_EQ(Values(outputs[0])[255], 128.0f);
  EXPECT_LT(model->activations()->peak, KiB(64)) << "the weights have 256 KiB";
}

// Open files of this process whose name has `part` in it.
int OpenFiles(std::string_view part) {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code error;
    const std::string name = std::filesystem::read_symlink(entry.path(), error).string();
    count += name.find(part) != std::string::npos;
  }
  return count;
}

TEST_F(OnnxRuntimeTest, NoSocketIsOpenedAndNoThreadIsLeft) {
  const auto threads = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/task"), {});
  };
  const auto before = threads();
  const auto model = Load("sum.onnx");
  auto instance = std::move(model->NewInstance()).value();
  std::vector<float> x(4);
  std::vector<model::TensorView> outputs;
  ASSERT_TRUE(
      instance->Run(std::vector{Floats("x", x, {1, 4}), Floats("y", x, {1, 4})}, &outputs).ok());
  EXPECT_EQ(OpenFiles("socket:"), 0);
  EXPECT_EQ(OpenFiles("onnxruntime.db"), 0) << "the queue of telemetry's uploader";
  EXPECT_EQ(threads(), before) << "one thread means the caller's";
}

TEST(OnnxRuntimeLibrary, WhatCannotBeOpenedIsNamed) {
  const std::string text = ::testing::TempDir() + "text.so";
  std::ofstream(text) << "no library";
  EXPECT_EQ(CreateOnnxRuntimeEngine({.library = "/nowhere/libonnxruntime.so"}).status().message(),
            "/nowhere/libonnxruntime.so: no such file, expected libonnxruntime.so");
  EXPECT_NE(
      CreateOnnxRuntimeEngine({.library = text}).status().message().find(text + ": not a library"),
      std::string::npos);
}

}  // namespace
}  // namespace gimbal::engine
