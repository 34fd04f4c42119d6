#pragma once

#include <string>

#include "model/tensor.h"

namespace gimbal::pipeline {

// Which tensors of a graph play which part in text embedding. Empty: the graph has none.
struct TextEmbeddingBinding {
  std::string input_ids;
  std::string attention_mask;  // 1 where a token is, 0 where padding is
  std::string token_type_ids;
  std::string position_ids;                              // 0, 1, 2 ... in each row
  model::DataType input_type = model::DataType::kInt64;  // of all inputs: kInt64 or kInt32
  std::string output;
  size_t output_index = 0;  // of `output` in the signature, hence in what Instance::Run gives
  bool pooled = false;  // output is [rows, dim], already one vector a row; else [rows, len, dim]
  int dim = 0;          // 0: the signature does not say
};

}  // namespace gimbal::pipeline
