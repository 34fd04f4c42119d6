#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/tensor.h"

namespace gimbal::pipeline {

// How the vectors of a row's tokens become one, as sentence-transformers defines it.
enum class Pooling {
  kMean,         // sum / number of tokens
  kCls,          // the first token's
  kMax,          // largest value of each dimension
  kMeanSqrtLen,  // sum / square root of the number of tokens
};
std::string_view PoolingName(Pooling pooling);  // "mean" | "cls" | "max" | "mean_sqrt_len_tokens"

struct PoolingOptions {
  Pooling pooling = Pooling::kMean;
  bool normalize = false;  // divide each row by its Euclidean length
};

// One vector from `states`, the row's [padded length, out.size()] values, of which the first
// `length` positions are tokens. Positions past them are never read, so whatever they hold cannot
// matter. REQUIRES: 1 <= length and length * out.size() <= states.size().
void PoolTokens(Pooling pooling, std::span<const float> states, int length, std::span<float> out);

// Divides by the Euclidean length; a vector shorter than 1e-12 is divided by that instead.
void Normalize(std::span<float> values);

// The embeddings of a batch, from what the model gave: FP32 [rows, padded length, dim], or
// [rows, dim] when the model pools by itself (then `pooling` has no meaning). `lengths` are the
// tokens of each row. `rows` is replaced. Pure; an output that does not fit is kInternal.
Status PoolBatch(const model::TensorView& output, std::span<const int> lengths,
                 const PoolingOptions& options, std::vector<std::vector<float>>* rows);

}  // namespace gimbal::pipeline
