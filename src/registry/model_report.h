#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "engine/engine.h"
#include "registry/batching_probe.h"
#include "registry/model_files.h"

namespace gimbal::registry {

struct ReportOptions {
  std::string dir = {};
  int threads = 1;
  // The limits that the plan keeps to.
  int max_rows = 32;      // of a batch
  int max_tokens = 8192;  // of a batch, padding included
  Bytes memory = {};      // of the model; 0: no limit
};

// The largest batch of rows of one length that keeps to the limits, and its activations.
struct PlannedBatch {
  int length = 0;
  int rows = 0;  // 0: not even one row fits
  Bytes bytes;
};

// All that can be found out about a model before it serves.
struct ModelReport {
  ModelFiles files;
  model::Signature signature;  // of the graph
  std::string tokenizer_kind;
  size_t vocabulary = 0;
  std::map<std::string, std::string> hashes;  // file, relative to the folder: SHA-256
  BatchingSafety batching;
  Bytes weights;
  // Bytes of activations by which a batch grows for each token of another row, measured at the
  // longest input, where attention makes a token dearest. Nothing when the engine does not count.
  std::optional<Bytes> per_row_token;
  std::vector<PlannedBatch> plan;  // empty without per_row_token
};

// Loads the model with `engine`, runs it at a few shapes and lets it go again.
Result<ModelReport> ReportModel(const ReportOptions& options, engine::Engine& engine);

}  // namespace gimbal::registry
