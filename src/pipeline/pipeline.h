#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "base/result.h"
#include "engine/engine.h"
#include "memory/budget.h"
#include "model/request.h"
#include "obs/metrics.h"
#include "pipeline/row.h"
#include "pipeline/text_embedder.h"
#include "preprocess/text/tokenizer.h"
#include "schedule/batcher.h"

namespace gimbal::pipeline {

// The stages of one model version, from a text to its embedding. Owned by the registry's version;
// any thread may call Admit, Preprocess and Enqueue.
class Pipeline : private schedule::BatchSink {
 public:
  struct Options {
    std::string name;
    std::string version;
    schedule::Batcher::Options batching;
    TextEmbedder::Options embedder;
    int max_tokens = 0;  // longest input, special tokens included; 0: no limit
    Duration slo{};      // latency objective of the online scenario; 0: none
  };
  struct Deps {
    const Clock* clock = nullptr;
    obs::Metrics* metrics = nullptr;
    memory::Budget* budget = nullptr;  // the model's; outlives the pipeline
    std::unique_ptr<const preprocess::Tokenizer> tokenizer;
    std::vector<std::unique_ptr<engine::Instance>> instances;  // at least one
  };

  // Warms each instance up, which seeds the cost model, and makes a real inference; then starts to
  // accept rows. An error names what the model did wrong.
  static Result<std::unique_ptr<Pipeline>> Create(Options options, Deps deps);
  ~Pipeline() override;

  // The deadline of a request that states none: the scenario's objective, or kNever.
  TimePoint DefaultDeadline(TimePoint first_byte) const;
  // Stage admit: whether the request may enter now, before any work is spent on it.
  Status Admit(const model::InferRequest& request, TimePoint now) const;
  // Stage preprocess: tokenises one row of `request`. The caller adds sink, index and timeline.
  Result<std::unique_ptr<TokenRow>> Preprocess(const model::InferRequest& request,
                                               const model::RowInput& row) const;
  // Hands rows over; each is answered through its sink exactly once, here when the queue refuses
  // it.
  void Enqueue(std::vector<std::unique_ptr<schedule::Row>> rows);

  // Refuses new rows, finishes the queued ones, joins. Idempotent.
  void Stop();

  int dimension() const { return dimension_; }
  // How many rows wait, lane by lane; shared with the metrics, which may outlive the pipeline.
  std::shared_ptr<const schedule::Depth> depth() const { return batcher_->depth(); }

 private:
  struct Series;
  model::Lane LaneOf(const model::InferRequest& request) const;
  Pipeline(Options options, Deps deps);

  Status WarmUp(policy::CostModel* cost);
  Status WarmUpExtremes(policy::CostModel* cost);
  Status WarmUpShape(int instance, int rows, int length, policy::CostModel* cost);
  void Start(policy::CostModel cost);
  Duration Run(int instance, schedule::Batch batch) override;
  Duration Compute(TextEmbedder& embedder, const schedule::Batch& batch);
  void CountBatch(const schedule::Batch& batch);

  // Constant after construction.
  const Options options_;
  const Clock& clock_;
  memory::Budget& budget_;
  const std::unique_ptr<const preprocess::Tokenizer> tokenizer_;
  const std::unique_ptr<Series> series_;
  int dimension_ = 0;

  // Each owned by its instance's thread once started.
  std::vector<std::unique_ptr<TextEmbedder>> embedders_;
  std::vector<memory::Reservation> input_memory_;

  std::unique_ptr<schedule::Batcher> batcher_;  // set once, by Start
};

}  // namespace gimbal::pipeline
