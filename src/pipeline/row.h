#pragma once

#include <memory>
#include <vector>

#include "base/result.h"
#include "memory/budget.h"
#include "model/request.h"
#include "obs/timeline.h"
#include "preprocess/text/tokenizer.h"
#include "schedule/row.h"

namespace gimbal::pipeline {

// Receives the answers to the rows of one request. Any thread; each row answers once.
class RowSink {
 public:
  virtual ~RowSink() = default;
  virtual void OnRow(size_t index, Result<model::RowOutput> output, const obs::Timeline& timeline,
                     const model::BatchFacts& batch) = 0;
};

// A tokenised row on its way through queue and model, with everything that must live until it is
// answered: its place in the request, its stage times, its queue memory.
class TokenRow : public schedule::Row {
 public:
  void Fail(const Status& status) override { Answer(status, {}); }
  void Answer(Result<model::RowOutput> output, const model::BatchFacts& batch) {
    queue_memory.Release();
    sink->OnRow(index, std::move(output), timeline, batch);
  }

  preprocess::Encoding encoding;
  obs::Timeline timeline;
  std::shared_ptr<RowSink> sink;
  size_t index = 0;
  memory::Reservation queue_memory;
};

}  // namespace gimbal::pipeline
