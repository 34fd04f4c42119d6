#include "pipeline/pipeline.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <limits>

#include "base/manual_clock.h"
#include "engine/fake/fake_engine.h"

namespace gimbal::pipeline {
namespace {

using engine::FakeTensor;
using model::DataType;

// A vocabulary in which each letter is a token, so that a text's length in tokens is seen.
constexpr std::string_view kTokenizer = R"({
  "normalizer": {"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true,
                 "strip_accents": null, "lowercase": true},
  "pre_tokenizer": {"type": "BertPreTokenizer"},
  "post_processor": {"type": "TemplateProcessing",
    "single": [{"SpecialToken": {"id": "[CLS]", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}},
               {"SpecialToken": {"id": "[SEP]", "type_id": 0}}],
    "pair": [{"SpecialToken": {"id": "[CLS]", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}},
             {"SpecialToken": {"id": "[SEP]", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}},
             {"SpecialToken": {"id": "[SEP]", "type_id": 1}}],
    "special_tokens": {"[CLS]": {"id": "[CLS]", "ids": [1], "tokens": ["[CLS]"]},
                       "[SEP]": {"id": "[SEP]", "ids": [2], "tokens": ["[SEP]"]}}},
  "added_tokens": [],
  "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100,
            "vocab": {"[PAD]": 0, "[CLS]": 1, "[SEP]": 2, "[UNK]": 3, "a": 4, "b": 5, "c": 6,
                      "warm": 7, "up": 8}}})";

model::Signature EncoderSignature() {
  model::Signature s;
  s.inputs = {{"input_ids", DataType::kInt64, {-1, -1}},
              {"attention_mask", DataType::kInt64, {-1, -1}}};
  s.outputs = {{"last_hidden_state", DataType::kFp32, {-1, -1, 2}}};
  return s;
}

// Each token's vector is (id, 1); where the mask is zero it is not a number, so that a wrong mask
// or a wrong pooling is seen.
Result<std::vector<FakeTensor>> EchoIds(engine::FakeModel::Inputs inputs) {
  const auto* ids = static_cast<const int64_t*>(inputs[0].data);
  const auto* mask = static_cast<const int64_t*>(inputs[1].data);
  const int64_t cells = inputs[0].shape[0] * inputs[0].shape[1];
  std::vector<float> values;
  for (int64_t i = 0; i < cells; ++i) {
    values.push_back(mask[i] ? static_cast<float>(ids[i])
                             : std::numeric_limits<float>::quiet_NaN());
    values.push_back(1);
  }
  return std::vector<FakeTensor>{
      FakeTensor::Floats("last_hidden_state", {inputs[0].shape[0], inputs[0].shape[1], 2}, values)};
}

class Collector : public RowSink {
 public:
  explicit Collector(size_t rows) : outputs_(rows, Status(Code::kInternal, "open")), open_(rows) {}
  void OnRow(size_t index, Result<model::RowOutput> output, const obs::Timeline& timeline,
             const model::BatchFacts&) override {
    MutexLock lock(mu_);
    outputs_[index] = std::move(output);
    timeline_ = timeline;
    --open_;
    changed_.NotifyAll();
  }
  std::vector<Result<model::RowOutput>> Await() {
    MutexLock lock(mu_);
    while (open_ > 0) changed_.Wait(mu_);
    return outputs_;
  }
  obs::Timeline timeline() {
    MutexLock lock(mu_);
    return timeline_;
  }

 private:
  Mutex mu_;
  CondVar changed_;
  std::vector<Result<model::RowOutput>> outputs_ GUARDED_BY(mu_);
  obs::Timeline timeline_ GUARDED_BY(mu_);
  size_t open_ GUARDED_BY(mu_);
};

class PipelineTest : public testing::Test {
 protected:
  Result<std::unique_ptr<Pipeline>> Make(
      std::function<Result<std::vector<FakeTensor>>(engine::FakeModel::Inputs)> run,
      int max_tokens = 8) {
    engine::FakeModel model;
    model.signature = EncoderSignature();
    model.run = std::move(run);
    engine_ = std::make_unique<engine::FakeEngine>(
        std::map<std::string, engine::FakeModel>{{"m", std::move(model)}});
    auto graph = engine_->Load("m", {});
    Pipeline::Options options;
    options.name = "m";
    options.version = "1";
    options.max_tokens = max_tokens;
    options.slo = slo_;
    options.batching.name = "m";
    options.batching.limits.length_bucket = 1;
    options.embedder.binding.input_ids = "input_ids";
    options.embedder.binding.attention_mask = "attention_mask";
    Pipeline::Deps deps;
    deps.clock = &clock_;
    deps.metrics = &metrics_;
    deps.budget = &budget_;
    deps.tokenizer = preprocess::Tokenizer::FromJson(kTokenizer, "test").value();
    deps.instances.push_back(graph.value()->NewInstance().value());
    return Pipeline::Create(std::move(options), std::move(deps));
  }

  std::vector<Result<model::RowOutput>> Infer(Pipeline& pipeline, std::vector<std::string> texts) {
    model::InferRequest request;
    collector_ = std::make_shared<Collector>(texts.size());
    std::vector<std::unique_ptr<schedule::Row>> rows;
    for (size_t i = 0; i < texts.size(); ++i) {
      auto row = pipeline.Preprocess(request, {texts[i], {}});
      if (!row.ok()) {
        collector_->OnRow(i, row.status(), {}, {});
        continue;
      }
      row.value()->index = i;
      row.value()->sink = collector_;
      rows.push_back(std::move(row).value());
    }
    pipeline.Enqueue(std::move(rows));
    return collector_->Await();
  }

  ManualClock clock_;
  Duration slo_{};
  obs::Metrics metrics_;
  memory::Budget budget_{"test", MiB(64)};
  std::unique_ptr<engine::FakeEngine> engine_;
  std::shared_ptr<Collector> collector_;
};

TEST_F(PipelineTest, RowsOfDifferentLengthGiveTheirOwnMean) {
  auto pipeline = Make(EchoIds);
  ASSERT_TRUE(pipeline.ok()) << pipeline.status().message();
  const auto out = Infer(*pipeline.value(), {"a", "a b c", "c"});
  // [CLS] a [SEP] = (1 + 4 + 2) / 3, and so on; padding is not a number and would spoil it.
  EXPECT_FLOAT_EQ(out[0].value().embedding[0], 7.0f / 3);
  EXPECT_FLOAT_EQ(out[1].value().embedding[0], 18.0f / 5);
  EXPECT_FLOAT_EQ(out[2].value().embedding[0], 3.0f);
  EXPECT_EQ(out[1].value().tokens, 5);
  EXPECT_TRUE(collector_->timeline().Marked(obs::Stage::kPostprocess));
  EXPECT_EQ(budget_.used(memory::Kind::kQueue), Bytes{0});
}

TEST_F(PipelineTest, ALongTextIsCutOrRefusedAsAsked) {
  auto pipeline = Make(EchoIds, 4);
  ASSERT_TRUE(pipeline.ok());
  model::InferRequest request;
  EXPECT_EQ(pipeline.value()->Preprocess(request, {"a b c", {}}).value()->length, 4);
  request.truncate = false;
  const auto refused = pipeline.value()->Preprocess(request, {"a b c", {}});
  EXPECT_EQ(refused.status().code(), Code::kUnprocessable);
  EXPECT_NE(refused.status().message().find("longer than the 4 tokens"), std::string::npos);
  EXPECT_EQ(pipeline.value()->Preprocess(request, {"", {}}).status().code(), Code::kInvalid);
}

TEST_F(PipelineTest, AModelThatFailsOnePlainTextNeverStarts) {
  auto nan = Make([](engine::FakeModel::Inputs inputs) {
    auto out = EchoIds(inputs).value();
    std::vector<float> values(static_cast<size_t>(inputs[0].shape[0] * inputs[0].shape[1] * 2),
                              NAN);
    return std::vector<FakeTensor>{FakeTensor::Floats("last_hidden_state", out[0].shape, values)};
  });
  EXPECT_NE(nan.status().message().find("not finite"), std::string::npos) << nan.status().message();
}

TEST_F(PipelineTest, TheModelsTimeIsTheModelsAlone) {
  auto pipeline = Make([this](engine::FakeModel::Inputs inputs) {
    clock_.Advance(std::chrono::milliseconds(5));
    return EchoIds(inputs);
  });
  ASSERT_TRUE(pipeline.ok());
  Infer(*pipeline.value(), {"a"});
  const obs::Timeline t = collector_->timeline();
  EXPECT_EQ(t.Of(obs::Stage::kModel), std::chrono::milliseconds(5));
  for (const obs::Stage other : {obs::Stage::kAssemble, obs::Stage::kPostprocess}) {
    EXPECT_EQ(t.Of(other), Duration::zero()) << StageName(other);
  }
}

TEST_F(PipelineTest, ARowTakesLaneAndDeadlineAndQueueMemoryFromItsRequest) {
  slo_ = std::chrono::milliseconds(25);
  auto pipeline = Make(EchoIds);
  ASSERT_TRUE(pipeline.ok());
  model::InferRequest request;
  request.lane = model::Lane::kBulk;
  request.deadline = clock_.Now() + std::chrono::milliseconds(7);
  const auto row = pipeline.value()->Preprocess(request, {"a b", {}});
  ASSERT_TRUE(row.ok());
  EXPECT_EQ(row.value()->lane, model::Lane::kBulk);
  EXPECT_EQ(row.value()->deadline, request.deadline);
  EXPECT_EQ(budget_.used(memory::Kind::kQueue), row.value()->bytes);
  EXPECT_GT(row.value()->bytes, Bytes{0});
  EXPECT_EQ(pipeline.value()->DefaultDeadline(clock_.Now()), clock_.Now() + slo_);
}

TEST_F(PipelineTest, AdmitRefusesWhatCanOnlyFail) {
  auto pipeline = Make(EchoIds);
  ASSERT_TRUE(pipeline.ok());
  model::InferRequest request;
  EXPECT_EQ(pipeline.value()->Admit(request, clock_.Now()).code(), Code::kInvalid) << "no rows";
  request.rows.push_back(model::RowInput{"a", {}});
  EXPECT_TRUE(pipeline.value()->Admit(request, clock_.Now()).ok());
  request.deadline = clock_.Now();
  EXPECT_EQ(pipeline.value()->Admit(request, clock_.Now()).code(), Code::kDeadline);
}

TEST_F(PipelineTest, ABatchWithoutMemoryForItsInputsFailsAloneAndWithNumbers) {
  auto pipeline = Make(EchoIds);
  ASSERT_TRUE(pipeline.ok());
  const Bytes used = budget_.used();
  auto rest = budget_.Reserve(memory::Kind::kOther, MiB(64) - used - Bytes{600});
  ASSERT_TRUE(rest.ok());
  const auto refused = Infer(*pipeline.value(), {"a b c a b c", "a", "b", "c"});
  size_t failed = 0;
  for (const auto& row : refused) failed += !row.ok();
  EXPECT_GT(failed, 0u);
  rest.value().Release();
  EXPECT_TRUE(Infer(*pipeline.value(), {"a b c"})[0].ok());
}

// A limit below every warm-up shape: the model is still tried before it is ready.
TEST_F(PipelineTest, AModelOfShortTextsIsWarmedUpToo) {
  auto pipeline = Make(EchoIds, 3);
  ASSERT_TRUE(pipeline.ok()) << pipeline.status().message();
  EXPECT_EQ(pipeline.value()->dimension(), 2);
}

TEST_F(PipelineTest, AFailedBatchFailsItsRowsAndTheNextOneRuns) {
  auto broken = std::make_shared<std::atomic<bool>>(false);
  auto pipeline =
      Make([broken](engine::FakeModel::Inputs inputs) -> Result<std::vector<FakeTensor>> {
        if (broken->load()) return InternalError("the graph broke");
        return EchoIds(inputs);
      });
  ASSERT_TRUE(pipeline.ok());
  broken->store(true);
  EXPECT_EQ(Infer(*pipeline.value(), {"a"})[0].status().code(), Code::kInternal);
  broken->store(false);
  EXPECT_TRUE(Infer(*pipeline.value(), {"a"})[0].ok());
}

TEST_F(PipelineTest, StoppedPipelinesRefuse) {
  auto pipeline = Make(EchoIds);
  ASSERT_TRUE(pipeline.ok());
  pipeline.value()->Stop();
  EXPECT_EQ(Infer(*pipeline.value(), {"a"})[0].status().code(), Code::kUnavailable);
}

TEST_F(PipelineTest, MetricsSayWhyBatchesClosedAndHowFullTheyWere) {
  auto pipeline = Make(EchoIds);
  ASSERT_TRUE(pipeline.ok());
  Infer(*pipeline.value(), {"a"});
  const std::string text = metrics_.Text();
  EXPECT_NE(text.find("gimbal_batch_rows_count{model=\"m\",version=\"1\"} 1\n"), std::string::npos)
      << text;
  EXPECT_NE(text.find("gimbal_batches_total{model=\"m\",version=\"1\",reason=\"idle\"} 1\n"),
            std::string::npos)
      << text;
}

}  // namespace
}  // namespace gimbal::pipeline
