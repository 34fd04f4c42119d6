#include "registry/batching_probe.h"

#include <gtest/gtest.h>

#include "engine/fake/fake_engine.h"

namespace gimbal::registry {
namespace {

using engine::FakeModel;
using engine::FakeTensor;

int64_t At(const model::TensorView& view, int64_t row, int64_t column) {
  return static_cast<const int64_t*>(view.data)[row * view.shape[1] + column];
}

// A model with one value a token, `value(inputs, row, column)`.
template <typename Value>
FakeModel OneValueModel(Value value) {
  FakeModel model;
  model.run = [value](FakeModel::Inputs inputs) -> Result<std::vector<FakeTensor>> {
    const int64_t rows = inputs[0].shape[0], length = inputs[0].shape[1];
    std::vector<float> values;
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t c = 0; c < length; ++c) values.push_back(value(inputs, r, c));
    }
    return std::vector{FakeTensor::Floats("last_hidden_state", {rows, length, 1}, values)};
  };
  return model;
}

BatchingSafety Probe(const FakeModel& model, bool mask = true) {
  engine::FakeEngine engine({{"m", model}});
  auto loaded = std::move(engine.Load("m", {})).value();
  pipeline::TextEmbeddingBinding binding;
  binding.input_ids = "input_ids";
  if (mask) binding.attention_mask = "attention_mask";
  binding.output = "last_hidden_state";
  pipeline::TextEmbedder embedder({binding, {}, 0, 0}, std::move(loaded->NewInstance()).value());
  auto safety =
      ProbeBatching(loaded->facts(), binding, embedder, {.longest = 128, .vocabulary = 1000});
  EXPECT_TRUE(safety.ok()) << safety.status().message();
  return *safety;
}

float TokenValue(FakeModel::Inputs inputs, int64_t r, int64_t c) {
  return static_cast<float>(At(inputs[0], r, c));
}

TEST(BatchingProbe, AModelThatReadsItsTokensOnlyMayShareWithAny) {
  const BatchingSafety safety = Probe(OneValueModel(TokenValue));
  EXPECT_EQ(safety.safe, RowSharing::kAny);
  EXPECT_EQ(safety.reasons[0], "padding changed an answer by 0.0e+00, other rows by 0.0e+00");
}

TEST(BatchingProbe, AModelThatIgnoresItsMaskIsFoundOut) {
  const BatchingSafety safety =
      Probe(OneValueModel([](FakeModel::Inputs inputs, int64_t r, int64_t c) {
        return TokenValue(inputs, r, c) + static_cast<float>(inputs[0].shape[1]);
      }));
  EXPECT_EQ(safety.safe, RowSharing::kEqualLength);
}

TEST(BatchingProbe, AModelThatMixesRowsIsFoundOut) {
  const BatchingSafety safety =
      Probe(OneValueModel([](FakeModel::Inputs inputs, int64_t r, int64_t c) {
        return TokenValue(inputs, r, c) * static_cast<float>(inputs[0].shape[0]);
      }));
  EXPECT_EQ(safety.safe, RowSharing::kAlone);
}

TEST(BatchingProbe, OperatorsAndInputsSpeakToo) {
  EXPECT_EQ(Probe(OneValueModel(TokenValue), /*mask=*/false).safe, RowSharing::kEqualLength);
  FakeModel quantized = OneValueModel(TokenValue);
  quantized.facts.operators["DynamicQuantizeLinear"] = 3;
  const BatchingSafety safety = Probe(quantized);
  EXPECT_EQ(safety.safe, RowSharing::kAlone);
  EXPECT_EQ(safety.reasons[0],
            "3 nodes of DynamicQuantizeLinear take their scale from all rows of a batch");
}

}  // namespace
}  // namespace gimbal::registry
