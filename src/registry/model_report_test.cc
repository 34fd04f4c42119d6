#include "registry/model_report.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "engine/fake/fake_engine.h"

namespace gimbal::registry {
namespace {

constexpr const char* kTokenizer = R"({"version": "1.0", "added_tokens": [], "normalizer": null,
  "truncation": {"direction": "Right", "max_length": 100, "strategy": "LongestFirst", "stride": 0},
  "padding": null, "pre_tokenizer": {"type": "BertPreTokenizer"}, "post_processor": null,
  "decoder": null, "model": {"type": "WordPiece", "unk_token": "[UNK]", "vocab": {"[UNK]": 0, "a": 1},
  "continuing_subword_prefix": "##", "max_input_chars_per_word": 100}})";

// A folder whose graph a fake engine plays; a batch needs 1 KiB for each of its tokens.
class ModelReportTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = ::testing::TempDir() + "reportXXXXXX";
    dir_ = mkdtemp(pattern.data());
    std::ofstream(dir_ + "/model.onnx") << "graph";
    std::ofstream(dir_ + "/model.weights") << "weights";
    std::ofstream(dir_ + "/tokenizer.json") << kTokenizer;
    graph_.signature.inputs = {{"input_ids", model::DataType::kInt64, {-1, -1}},
                               {"attention_mask", model::DataType::kInt64, {-1, -1}}};
    graph_.signature.outputs = {{"last_hidden_state", model::DataType::kFp32, {-1, -1, 2}}};
    graph_.weights = KiB(100);
    graph_.facts.weight_files = {"model.weights"};
    graph_.run = [this](engine::FakeModel::Inputs inputs) { return Run(inputs); };
    graph_.activations = [this] { return engine::ActivationMemory{peak_, peak_}; };
  }
  void TearDown() override { std::filesystem::remove_all(dir_); }

  Result<std::vector<engine::FakeTensor>> Run(engine::FakeModel::Inputs inputs) {
    const int64_t rows = inputs[0].shape[0], length = inputs[0].shape[1];
    peak_ = std::max(peak_, KiB(rows * length));
    const std::vector<float> values(static_cast<size_t>(rows * length * 2), 1.0f);
    return std::vector{engine::FakeTensor::Floats("last_hidden_state", {rows, length, 2}, values)};
  }

  Result<ModelReport> Report(ReportOptions options) {
    engine::FakeEngine engine({{dir_ + "/model.onnx", graph_}});
    options.dir = dir_;
    peak_ = {};
    return ReportModel(options, engine);
  }

  std::string dir_;
  engine::FakeModel graph_;
  Bytes peak_;
};

TEST_F(ModelReportTest, MeasuresMemoryAndPlansWithinTheLimits) {
  const auto report = Report({.max_rows = 8, .max_tokens = 320});
  ASSERT_TRUE(report.ok()) << report.status().message();
  EXPECT_EQ(report->tokenizer_kind, "WordPiece");
  EXPECT_EQ(report->vocabulary, 2u);
  EXPECT_EQ(report->weights, KiB(100));
  ASSERT_TRUE(report->per_row_token.has_value());
  EXPECT_EQ(*report->per_row_token, KiB(1));
  ASSERT_EQ(report->plan.size(), 3u);
  EXPECT_EQ(report->plan[0].length, 16);
  EXPECT_EQ(report->plan[0].rows, 8) << "by max_rows";
  EXPECT_EQ(report->plan[1].rows, 5) << "by max_tokens";
  EXPECT_EQ(report->plan[2].length, 100);
  EXPECT_EQ(report->plan[2].rows, 3);
  EXPECT_EQ(report->plan[2].bytes, KiB(300));
  EXPECT_EQ(report->batching.safe, RowSharing::kAny);
}

TEST_F(ModelReportTest, ABudgetLimitsThePlan) {
  const auto report = Report({.memory = KiB(164)});
  ASSERT_EQ(report->plan.size(), 3u);
  EXPECT_EQ(report->plan[0].rows, 4);
  EXPECT_EQ(report->plan[1].rows, 1);
  EXPECT_EQ(report->plan[2].rows, 0);
  EXPECT_EQ(Report({.memory = KiB(1)})->plan[0].rows, 0);
}

TEST_F(ModelReportTest, HashesAllFilesThatAnswersDependOn) {
  const auto report = Report({});
  std::vector<std::string> names;
  for (const auto& [name, hash] : report->hashes) {
    names.push_back(name);
    EXPECT_EQ(hash, Sha256File(dir_ + "/" + name).value());
  }
  EXPECT_EQ(names, (std::vector<std::string>{"model.onnx", "model.weights", "tokenizer.json"}));
}

TEST_F(ModelReportTest, WhatCannotBeMeasuredIsLeftOut) {
  graph_.activations = nullptr;
  const auto report = Report({});
  EXPECT_FALSE(report->per_row_token.has_value());
  EXPECT_TRUE(report->plan.empty());
}

TEST_F(ModelReportTest, AGraphThatDoesNotFitIsNamed) {
  graph_.signature.outputs[0].name = "logits";
  EXPECT_TRUE(
      Report({}).status().message().starts_with(dir_ + "/model.onnx: the graph has no output"));
}

}  // namespace
}  // namespace gimbal::registry
