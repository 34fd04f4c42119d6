#include "pipeline/text_embedder.h"

#include <algorithm>

namespace gimbal::pipeline {

TextEmbedder::TextEmbedder(Options options, std::unique_ptr<engine::Instance> instance)
    : options_(std::move(options)), instance_(std::move(instance)) {}

template <typename T>
void TextEmbedder::Fill(std::span<const preprocess::Encoding* const> rows, int padded_length) {
  const size_t length = static_cast<size_t>(padded_length);
  const size_t bytes = rows.size() * length * sizeof(T);
  const auto values = [&](std::vector<std::byte>& buffer) {
    if (buffer.size() < bytes) buffer.resize(bytes);
    return reinterpret_cast<T*>(buffer.data());
  };
  T* ids = values(ids_);
  T* mask = values(mask_);
  T* types = values(types_);
  for (const preprocess::Encoding* row : rows) {
    const size_t n = row->ids.size();
    std::copy_n(row->ids.begin(), n, ids);
    std::fill(ids + n, ids + length, static_cast<T>(options_.pad_token_id));
    std::fill(mask, mask + n, T{1});
    std::fill(mask + n, mask + length, T{0});
    std::copy_n(row->type_ids.begin(), n, types);
    std::fill(types + n, types + length, static_cast<T>(options_.pad_type_id));
    ids += length;
    mask += length;
    types += length;
  }
  if (options_.binding.position_ids.empty()) return;
  T* positions = values(positions_);
  for (size_t r = 0; r < rows.size(); ++r) {
    for (size_t i = 0; i < length; ++i) *positions++ = static_cast<T>(i);
  }
}

void TextEmbedder::Assemble(std::span<const preprocess::Encoding* const> rows, int padded_length) {
  const bool wide = options_.binding.input_type == model::DataType::kInt64;
  if (wide) {
    Fill<int64_t>(rows, padded_length);
  } else {
    Fill<int32_t>(rows, padded_length);
  }
  lengths_.clear();
  for (const preprocess::Encoding* row : rows)
    lengths_.push_back(static_cast<int>(row->ids.size()));
  inputs_.clear();
  const size_t bytes = rows.size() * static_cast<size_t>(padded_length) * (wide ? 8 : 4);
  const auto add = [&](const std::string& name, std::vector<std::byte>& data) {
    if (name.empty()) return;
    inputs_.push_back({name,
                       options_.binding.input_type,
                       {static_cast<int64_t>(rows.size()), padded_length},
                       data.data(),
                       bytes});
  };
  add(options_.binding.input_ids, ids_);
  add(options_.binding.attention_mask, mask_);
  add(options_.binding.token_type_ids, types_);
  add(options_.binding.position_ids, positions_);
}

Status TextEmbedder::Run() { return instance_->Run(inputs_, &outputs_); }

Status TextEmbedder::Pool(std::vector<std::vector<float>>* embeddings) {
  if (options_.binding.output_index >= outputs_.size()) {
    return InternalError("the model gave " + std::to_string(outputs_.size()) + " outputs, \"" +
                         options_.binding.output + "\" is not among them");
  }
  return PoolBatch(outputs_[options_.binding.output_index], lengths_, options_.pooling, embeddings);
}

}  // namespace gimbal::pipeline
