#include "pipeline/pooling.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace gimbal::pipeline {
namespace {

// Token after token and not dimension after dimension: the inner loop then runs along memory and
// becomes vector instructions. Sums in double cost little here and leave no rounding to speak of.
void Sum(std::span<const float> states, int length, std::span<double> sums) {
  const size_t dim = sums.size();
  for (int token = 0; token < length; ++token) {
    const float* state = states.data() + token * dim;
    for (size_t i = 0; i < dim; ++i) sums[i] += state[i];
  }
}

void Max(std::span<const float> states, int length, std::span<float> out) {
  const size_t dim = out.size();
  std::copy_n(states.begin(), dim, out.begin());
  for (int token = 1; token < length; ++token) {
    const float* state = states.data() + token * dim;
    for (size_t i = 0; i < dim; ++i) out[i] = out[i] < state[i] ? state[i] : out[i];
  }
}

Status CheckOutput(const model::TensorView& output, std::span<const int> lengths) {
  const auto refuse = [&](std::string_view expected) {
    return InternalError(fmt::format("output \"{}\" is {} {}, expected {}", output.name,
                                     model::DataTypeName(output.type),
                                     model::ShapeText(output.shape), expected));
  };
  const auto rows = static_cast<int64_t>(lengths.size());
  const auto& shape = output.shape;
  if (output.type != model::DataType::kFp32) return refuse("FP32");
  if ((shape.size() != 2 && shape.size() != 3) || shape.back() < 1) {
    return refuse("[rows, dim] or [rows, length, dim]");
  }
  if (shape[0] != rows) return refuse(fmt::format("{} rows", rows));
  if (shape.size() == 2) return Status::Ok();
  for (const int length : lengths) {
    if (length < 1)
      return InternalError(fmt::format("a row of {} tokens has no embedding", length));
    if (length > shape[1]) return refuse(fmt::format("at least {} positions", length));
  }
  return Status::Ok();
}

}  // namespace

std::string_view PoolingName(Pooling pooling) {
  switch (pooling) {
    case Pooling::kMean:
      return "mean";
    case Pooling::kCls:
      return "cls";
    case Pooling::kMax:
      return "max";
    case Pooling::kMeanSqrtLen:
      return "mean_sqrt_len_tokens";
  }
  return "";
}

void PoolTokens(Pooling pooling, std::span<const float> states, int length, std::span<float> out) {
  if (pooling == Pooling::kCls) {
    std::copy_n(states.begin(), out.size(), out.begin());
    return;
  }
  if (pooling == Pooling::kMax) return Max(states, length, out);
  std::vector<double> sums(out.size());
  Sum(states, length, sums);
  const double divisor = pooling == Pooling::kMean ? length : std::sqrt(length);
  for (size_t i = 0; i < out.size(); ++i) out[i] = static_cast<float>(sums[i] / divisor);
}

void Normalize(std::span<float> values) {
  double squares = 0;
  for (const float value : values) squares += static_cast<double>(value) * value;
  const double norm = std::max(std::sqrt(squares), 1e-12);
  for (float& value : values) value = static_cast<float>(value / norm);
}

Status PoolBatch(const model::TensorView& output, std::span<const int> lengths,
                 const PoolingOptions& options, std::vector<std::vector<float>>* rows) {
  RETURN_IF_ERROR(CheckOutput(output, lengths));
  const size_t dim = output.shape.back();
  const size_t row_values = output.shape.size() == 3 ? output.shape[1] * dim : dim;
  const auto* data = static_cast<const float*>(output.data);
  rows->resize(lengths.size());
  for (size_t row = 0; row < lengths.size(); ++row) {
    std::vector<float>& out = (*rows)[row];
    out.resize(dim);
    const std::span<const float> states(data + row * row_values, row_values);
    if (output.shape.size() == 2) {
      std::copy(states.begin(), states.end(), out.begin());
    } else {
      PoolTokens(options.pooling, states, lengths[row], out);
    }
    if (options.normalize) Normalize(out);
  }
  return Status::Ok();
}

}  // namespace gimbal::pipeline
