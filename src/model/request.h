#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "model/names.h"
#include "model/tensor.h"

namespace gimbal::model {

// One row of a request, as the client gave it.
struct RowInput {
  std::string text;
  std::optional<std::string> text_pair;
};

// A request for one model, decoded from any protocol. Rows that the decoder could not read carry
// their error, so that one bad row never fails the others.
struct InferRequest {
  std::string id;       // the client's label, echoed; not a key
  std::string model;    // name or alias
  std::string version;  // empty: the version that serves
  Protocol protocol = Protocol::kNative;
  std::optional<Lane> lane;         // none: by the number of rows
  std::optional<Duration> timeout;  // from the body; the frontend joins it with the header's
  TimePoint deadline = kNever;
  bool truncate = true;  // false: a text over the model's limit is an error, not cut
  std::vector<Result<RowInput>> rows;
};

// What the model answered for one row.
struct RowOutput {
  std::vector<float> embedding;
  int tokens = 0;  // of the input, special tokens included
};

// How the work was done, of the row that finished last.
struct BatchFacts {
  int batch_rows = 0;
  int padded_tokens = 0;  // row length after padding; of a response: of all its rows together
};

struct InferResponse {
  std::string model;
  std::string version;
  std::vector<Result<RowOutput>> rows;  // in request order
  BatchFacts batch;
};

// Set once when the client leaves; each stage looks before it spends work. Any thread.
class CancelToken {
 public:
  void Cancel() { cancelled_.store(true, std::memory_order_relaxed); }
  bool cancelled() const { return cancelled_.load(std::memory_order_relaxed); }

 private:
  std::atomic<bool> cancelled_{false};
};

// What a client or an operator may ask about a served model.
struct ModelInfo {
  std::string name;
  std::string version;
  Task task = Task::kTextEmbedding;
  std::string platform;  // "onnx_onnxv1"
  Signature signature;   // of the served chain (text in, embedding out)
  int max_tokens = 0;    // longest input; 0: no limit
  bool ready = false;
  int64_t created_unix_s = 0;
};

}  // namespace gimbal::model
