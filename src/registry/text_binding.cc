#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "registry/model_files.h"

namespace gimbal::registry {
namespace {

using model::DataType;
using model::TensorSpec;

std::string Names(const std::vector<TensorSpec>& specs) {
  std::vector<std::string> names;
  for (const TensorSpec& spec : specs) names.push_back(spec.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

Status Wrong(std::string_view what, const TensorSpec& spec, std::string_view expected) {
  return InvalidError(fmt::format("the graph's {} \"{}\" is {} {}, expected {}", what, spec.name,
                                  model::DataTypeName(spec.type), model::ShapeText(spec.shape),
                                  expected));
}

// Where an input with this name belongs; null when text embedding has no such input.
std::string* RoleOf(std::string_view name, pipeline::TextEmbeddingBinding& binding) {
  const std::pair<std::string_view, std::string*> roles[] = {
      {"input_ids", &binding.input_ids},
      {"attention_mask", &binding.attention_mask},
      {"token_type_ids", &binding.token_type_ids},
      {"position_ids", &binding.position_ids},
  };
  for (const auto& [role, target] : roles) {
    if (name == role) return target;
  }
  return nullptr;
}

Status BindInputs(const model::Signature& signature, pipeline::TextEmbeddingBinding& binding) {
  for (const TensorSpec& input : signature.inputs) {
    std::string* role = RoleOf(input.name, binding);
    if (role == nullptr) {
      return InvalidError(
          fmt::format("the graph's input \"{}\" has no part in text embedding, "
                      "expected input_ids, attention_mask, token_type_ids or "
                      "position_ids",
                      input.name));
    }
    if (input.type != DataType::kInt64 && input.type != DataType::kInt32) {
      return Wrong("input", input, "INT64 or INT32");
    }
    if (input.shape.size() != 2 || input.shape[0] >= 0 || input.shape[1] >= 0) {
      return Wrong("input", input, "[-1,-1]: any number of rows of any length");
    }
    if (&input != &signature.inputs.front() && input.type != binding.input_type) {
      return Wrong("input", input, "the type of the other inputs");
    }
    binding.input_type = input.type;
    *role = input.name;
  }
  if (!binding.input_ids.empty()) return Status::Ok();
  return InvalidError(
      fmt::format("the graph has no input \"input_ids\"; it has: {}", Names(signature.inputs)));
}

}  // namespace

Result<pipeline::TextEmbeddingBinding> BindTextEmbedding(const model::Signature& signature) {
  pipeline::TextEmbeddingBinding binding;
  RETURN_IF_ERROR(BindInputs(signature, binding));
  // A graph that ends in one vector a row has pooled as its author meant it, so that comes first.
  constexpr std::pair<std::string_view, bool> kOutputs[] = {
      {"sentence_embedding", true},
      {"last_hidden_state", false},
      {"token_embeddings", false},
  };
  for (const auto& [name, pooled] : kOutputs) {
    const auto& outputs = signature.outputs;
    const auto found = std::find_if(outputs.begin(), outputs.end(),
                                    [&](const auto& output) { return output.name == name; });
    if (found == outputs.end()) continue;
    if (found->type != DataType::kFp32) return Wrong("output", *found, "FP32");
    if (found->shape.size() != (pooled ? 2 : 3)) {
      return Wrong("output", *found, pooled ? "[rows, dim]" : "[rows, length, dim]");
    }
    binding.output = found->name;
    binding.output_index = static_cast<size_t>(found - outputs.begin());
    binding.pooled = pooled;
    binding.dim = static_cast<int>(std::max<int64_t>(0, found->shape.back()));
    return binding;
  }
  return InvalidError(
      fmt::format("the graph has no output \"last_hidden_state\", "
                  "\"sentence_embedding\" or \"token_embeddings\"; it has: {}",
                  Names(signature.outputs)));
}

}  // namespace gimbal::registry
