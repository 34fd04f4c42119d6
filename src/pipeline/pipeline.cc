#include "pipeline/pipeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace gimbal::pipeline {
namespace {

using obs::Stage;

// Shapes that a model is run at before it is ready: enough to place the cost model's line, and the
// first runs of each shape class, which allocate, happen here and not in front of a client.
struct WarmUpShapeSpec {
  int rows;
  int length;
};
constexpr WarmUpShapeSpec kWarmUpShapes[] = {{1, 8},  {1, 32}, {2, 16}, {4, 16},
                                             {8, 16}, {8, 32}, {1, 128}};

// Ids, mask, types and positions, eight bytes each.
constexpr int64_t kInputBytesPerToken = 4 * 8;

TokenRow& AsTokenRow(const std::unique_ptr<schedule::Row>& row) {
  return static_cast<TokenRow&>(*row);
}

// What a queued row holds: its struct, ids and type ids.
Bytes QueuedBytes(const preprocess::Encoding& encoding) {
  return {static_cast<int64_t>(sizeof(TokenRow) + 2 * sizeof(int32_t) * encoding.ids.size())};
}

}  // namespace

// The metrics of one model version. Gauges own what they read (obs/metrics.h), hence the shared
// state.
struct Pipeline::Series {
  std::shared_ptr<obs::Histogram> batch_rows;
  std::shared_ptr<obs::Histogram> padding;
  std::shared_ptr<obs::Counter> useful_tokens;
  std::shared_ptr<obs::Counter> padded_tokens;
  std::shared_ptr<obs::Counter> abandoned_rows;
  std::array<std::shared_ptr<obs::Counter>, policy::kCloseReasonCount> closed;

  Series(obs::Metrics& metrics, const std::string& name, const std::string& version) {
    const obs::Labels labels = {{"model", name}, {"version", version}};
    static constexpr std::array kRatios = {0.0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.75};
    batch_rows = metrics.AddHistogram("gimbal_batch_rows", "Rows of each executed batch.", labels,
                                      obs::RowsBuckets());
    padding = metrics.AddHistogram("gimbal_batch_padding_ratio",
                                   "Share of a batch's tokens that is padding.", labels, kRatios);
    useful_tokens = metrics.AddCounter("gimbal_tokens_total", "Tokens of rows that ran.", labels);
    padded_tokens = metrics.AddCounter("gimbal_padded_tokens_total",
                                       "Tokens that ran, padding included.", labels);
    abandoned_rows =
        metrics.AddCounter("gimbal_rows_computed_for_nobody_total",
                           "Rows whose client had left when their answer was ready.", labels);
    for (size_t i = 0; i < closed.size(); ++i) {
      obs::Labels with_reason = labels;
      with_reason.emplace_back("reason",
                               std::string(CloseReasonName(static_cast<policy::CloseReason>(i))));
      closed[i] = metrics.AddCounter("gimbal_batches_total",
                                     "Batches by the reason why they closed.", with_reason);
    }
  }
};

Pipeline::Pipeline(Options options, Deps deps)
    : options_(std::move(options)),
      clock_(*deps.clock),
      budget_(*deps.budget),
      tokenizer_(std::move(deps.tokenizer)),
      series_(std::make_unique<Series>(*deps.metrics, options_.name, options_.version)) {
  for (auto& instance : deps.instances) {
    embedders_.push_back(std::make_unique<TextEmbedder>(options_.embedder, std::move(instance)));
  }
  input_memory_.resize(embedders_.size());
}

Pipeline::~Pipeline() { Stop(); }

Result<std::unique_ptr<Pipeline>> Pipeline::Create(Options options, Deps deps) {
  std::unique_ptr<Pipeline> pipeline(new Pipeline(std::move(options), std::move(deps)));
  for (memory::Reservation& held : pipeline->input_memory_) {
    ASSIGN_OR_RETURN(held, pipeline->budget_.Reserve(memory::Kind::kBatchInputs, Bytes{0}));
  }
  policy::CostModel cost;
  RETURN_IF_ERROR(pipeline->WarmUp(&cost).WithContext("warm-up"));
  pipeline->Start(std::move(cost));
  return pipeline;
}

Status Pipeline::WarmUp(policy::CostModel* cost) {
  for (size_t i = 0; i < embedders_.size(); ++i) {
    for (const WarmUpShapeSpec& shape : kWarmUpShapes) {
      if (shape.rows > options_.batching.limits.max_rows) continue;
      // A model with a shorter limit is still tried, at that.
      const int length =
          options_.max_tokens > 0 ? std::min(shape.length, options_.max_tokens) : shape.length;
      RETURN_IF_ERROR(WarmUpShape(static_cast<int>(i), shape.rows, length, cost));
    }
  }
  return WarmUpExtremes(cost);
}

// One run with what the files allow but few texts reach: the longest row, and the tokenizer's
// largest id. A graph that has no room for either would fail some client's batch much later.
Status Pipeline::WarmUpExtremes(policy::CostModel* cost) {
  if (options_.max_tokens > 0) {
    RETURN_IF_ERROR(WarmUpShape(0, 1, options_.max_tokens, cost)
                        .WithContext(fmt::format("a text of {} tokens, the most that the files "
                                                 "allow",
                                                 options_.max_tokens)));
  }
  preprocess::Encoding encoding;
  encoding.ids = {tokenizer_->largest_id()};
  encoding.type_ids = {0};
  const preprocess::Encoding* row = &encoding;
  embedders_[0]->Assemble({&row, 1}, 1);
  return embedders_[0]->Run().WithContext(fmt::format(
      "the tokenizer's largest id is {}, which the graph does not take", tokenizer_->largest_id()));
}

Status Pipeline::WarmUpShape(int instance, int rows, int length, policy::CostModel* cost) {
  // A real text, repeated until it fills the shape: what is measured is what will be served.
  preprocess::Encoding encoding;
  preprocess::EncodeOptions encode;
  encode.max_length = static_cast<size_t>(length);
  std::string text;
  for (int i = 0; i < length; ++i) text += "warm up ";
  RETURN_IF_ERROR(tokenizer_->Encode(text, encode, &encoding));
  const std::vector<const preprocess::Encoding*> batch(static_cast<size_t>(rows), &encoding);
  TextEmbedder& embedder = *embedders_[static_cast<size_t>(instance)];
  std::vector<std::vector<float>> embeddings;
  // The first run of a shape allocates, the second is the one that a client would see.
  for (int run = 0; run < 2; ++run) {
    embedder.Assemble(batch, static_cast<int>(encoding.ids.size()));
    const TimePoint start = clock_.Now();
    RETURN_IF_ERROR(embedder.Run());
    if (run == 1) cost->Seed(rows, static_cast<int>(encoding.ids.size()), clock_.Now() - start);
  }
  RETURN_IF_ERROR(embedder.Pool(&embeddings));
  for (const std::vector<float>& embedding : embeddings) {
    if (std::all_of(embedding.begin(), embedding.end(), [](float v) { return std::isfinite(v); }))
      continue;
    return InternalError("the model answered a plain text with values that are not finite");
  }
  dimension_ = static_cast<int>(embeddings.front().size());
  return Status::Ok();
}

void Pipeline::Start(policy::CostModel cost) {
  schedule::BatchSink& sink = *this;  // a private base, so converted here
  batcher_ = std::make_unique<schedule::Batcher>(options_.batching, clock_, sink, std::move(cost));
}

TimePoint Pipeline::DefaultDeadline(TimePoint first_byte) const {
  const bool online = options_.batching.limits.scenario == model::Scenario::kOnline;
  return online && options_.slo > Duration::zero() ? first_byte + options_.slo : kNever;
}

// More rows than one batch takes are a job, not somebody who waits at a screen.
model::Lane Pipeline::LaneOf(const model::InferRequest& request) const {
  const bool job = std::cmp_greater(request.rows.size(), options_.batching.limits.max_rows);
  return request.lane.value_or(job ? model::Lane::kBulk : model::Lane::kInteractive);
}

Status Pipeline::Admit(const model::InferRequest& request, TimePoint now) const {
  if (request.rows.empty()) return InvalidError("inputs: expected at least one row, got none");
  if (request.deadline <= now)
    return DeadlineError("the deadline had passed before any work was done");
  return batcher_->Admit(static_cast<int>(request.rows.size()), LaneOf(request));
}

Result<std::unique_ptr<TokenRow>> Pipeline::Preprocess(const model::InferRequest& request,
                                                       const model::RowInput& input) const {
  if (input.text.empty())
    return InvalidError("text: expected at least one character, got an empty text");
  auto row = std::make_unique<TokenRow>();
  preprocess::EncodeOptions encode;
  encode.max_length = static_cast<size_t>(options_.max_tokens);
  if (input.text_pair) {
    RETURN_IF_ERROR(tokenizer_->EncodePair(input.text, *input.text_pair, encode, &row->encoding));
  } else {
    RETURN_IF_ERROR(tokenizer_->Encode(input.text, encode, &row->encoding));
  }
  if (row->encoding.truncated && !request.truncate) {
    return UnprocessableError(fmt::format(
        "text: longer than the {} tokens that model {} allows, and truncation was not asked for",
        options_.max_tokens, options_.name));
  }
  row->length = static_cast<int32_t>(row->encoding.ids.size());
  row->bytes = QueuedBytes(row->encoding);
  row->deadline = request.deadline;
  row->lane = LaneOf(request);
  ASSIGN_OR_RETURN(row->queue_memory, budget_.Reserve(memory::Kind::kQueue, row->bytes));
  return row;
}

void Pipeline::Enqueue(std::vector<std::unique_ptr<schedule::Row>> rows) {
  const Status status = batcher_->Submit(rows);
  if (status.ok()) return;
  for (const auto& row : rows) row->Fail(status);
}

Duration Pipeline::Run(int instance, schedule::Batch batch) {
  CountBatch(batch);
  TextEmbedder& embedder = *embedders_[static_cast<size_t>(instance)];
  for (const auto& row : batch.rows) AsTokenRow(row).timeline.End(Stage::kQueue, batch.closed_at);
  // The input tensors grow to the largest batch so far; a growth that the budget has no room for
  // fails this batch and no other.
  const Bytes input{static_cast<int64_t>(batch.rows.size()) * batch.padded_length *
                    kInputBytesPerToken};
  memory::Reservation& held = input_memory_[static_cast<size_t>(instance)];
  if (input > held.bytes()) {
    if (const Status status = held.Resize(input); !status.ok()) {
      for (const auto& row : batch.rows) row->Fail(status);
      return Duration::zero();
    }
  }
  return Compute(embedder, batch);
}

Duration Pipeline::Compute(TextEmbedder& embedder, const schedule::Batch& batch) {
  std::vector<const preprocess::Encoding*> encodings;
  for (const auto& row : batch.rows) encodings.push_back(&AsTokenRow(row).encoding);
  embedder.Assemble(encodings, batch.padded_length);
  const TimePoint assembled = clock_.Now();
  const Status ran = embedder.Run();
  const TimePoint model_done = clock_.Now();
  std::vector<std::vector<float>> embeddings;
  const Status status = ran.ok() ? embedder.Pool(&embeddings) : ran;
  const model::BatchFacts facts{static_cast<int>(batch.rows.size()), batch.padded_length};
  for (size_t i = 0; i < batch.rows.size(); ++i) {
    TokenRow& row = AsTokenRow(batch.rows[i]);
    if (row.cancel && row.cancel->cancelled()) series_->abandoned_rows->Add();
    row.timeline.End(Stage::kAssemble, assembled);
    row.timeline.End(Stage::kModel, model_done);
    row.timeline.End(Stage::kPostprocess, clock_.Now());
    if (!status.ok()) {
      row.Answer(status, facts);
      continue;
    }
    model::RowOutput output{std::move(embeddings[i]), row.length};
    row.Answer(std::move(output), facts);
  }
  return status.ok() ? model_done - assembled : Duration::zero();
}

void Pipeline::CountBatch(const schedule::Batch& batch) {
  int64_t tokens = 0;
  for (const auto& row : batch.rows) tokens += row->length;
  const int64_t padded = static_cast<int64_t>(batch.rows.size()) * batch.padded_length;
  series_->batch_rows->Observe(static_cast<double>(batch.rows.size()));
  series_->padding->Observe(1.0 - static_cast<double>(tokens) / static_cast<double>(padded));
  series_->useful_tokens->Add(static_cast<uint64_t>(tokens));
  series_->padded_tokens->Add(static_cast<uint64_t>(padded));
  series_->closed[static_cast<size_t>(batch.reason)]->Add();
}

void Pipeline::Stop() {
  if (batcher_) batcher_->Stop();
}

}  // namespace gimbal::pipeline
