#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/engine.h"
#include "pipeline/pooling.h"
#include "pipeline/text_binding.h"
#include "preprocess/text/tokenizer.h"

namespace gimbal::pipeline {

// Turns token ids into embeddings on one instance: pads into tensors, runs the graph, pools. Split
// in two so that the caller can stamp each stage. Owns its input buffers and reuses them; one
// thread at a time.
class TextEmbedder {
 public:
  struct Options {
    TextEmbeddingBinding binding;
    PoolingOptions pooling;
    int64_t pad_token_id = 0;
    int64_t pad_type_id = 0;
  };
  TextEmbedder(Options options, std::unique_ptr<engine::Instance> instance);

  // Stage assemble: the rows' ids, padded at the end to `padded_length`, into [rows, padded_length]
  // tensors. REQUIRES: at least one row, none longer than `padded_length`.
  void Assemble(std::span<const preprocess::Encoding* const> rows, int padded_length);
  // Stage model, on what was assembled last.
  Status Run();
  // Stage postprocess: one vector for each row assembled last. `embeddings` is replaced.
  Status Pool(std::vector<std::vector<float>>* embeddings);

 private:
  template <typename T>
  void Fill(std::span<const preprocess::Encoding* const> rows, int padded_length);

  const Options options_;
  const std::unique_ptr<engine::Instance> instance_;
  std::vector<std::byte> ids_, mask_, types_, positions_;
  std::vector<model::TensorView> inputs_;
  std::vector<model::TensorView> outputs_;
  std::vector<int> lengths_;
};

}  // namespace gimbal::pipeline
