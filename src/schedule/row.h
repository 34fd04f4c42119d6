#pragma once

#include <memory>
#include <vector>

#include "base/clock.h"
#include "base/status.h"
#include "base/units.h"
#include "model/names.h"
#include "model/request.h"
#include "policy/batch_policy.h"

namespace gimbal::schedule {

// A row that waits for its batch. Whoever holds it answers it exactly once: the sink by computing,
// the batcher by Fail(). What it carries besides is the pipeline's business.
class Row {
 public:
  virtual ~Row() = default;

  // Answers the row without computing it. REQUIRES: not answered yet; no lock held.
  virtual void Fail(const Status& status) = 0;

  int32_t length = 1;  // tokens; what padding is measured in
  Bytes bytes;         // held while queued
  TimePoint arrival;   // set by the batcher
  TimePoint deadline = kNever;
  model::Lane lane = model::Lane::kInteractive;
  std::shared_ptr<const model::CancelToken> cancel;  // may be null
};

// Rows that run together.
struct Batch {
  std::vector<std::unique_ptr<Row>> rows;
  int32_t padded_length = 0;  // every row is padded to this many tokens
  policy::CloseReason reason = policy::CloseReason::kIdle;
  TimePoint closed_at;
};

// Where closed batches go.
class BatchSink {
 public:
  virtual ~BatchSink() = default;

  // Runs the batch on one instance and answers each of its rows. Called by that instance's thread,
  // so never twice at a time for one instance. Returns how long the model itself took, zero when it
  // failed, for the cost model.
  virtual Duration Run(int instance, Batch batch) = 0;
};

}  // namespace gimbal::schedule
