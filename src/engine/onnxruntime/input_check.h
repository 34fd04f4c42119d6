#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "model/tensor.h"

namespace gimbal::engine {

// What a graph declares of its inputs, with the names of dimensions that may vary ("batch"); an
// empty name stands for a fixed size or for a free one without a name.
struct InputRules {
  std::vector<model::TensorSpec> specs;
  std::vector<std::vector<std::string>> dimension_names;  // as specs
};

// Whether `inputs` are exactly the declared ones, in type, shape and byte count, with dimensions of
// one name of one size. Errors are kInvalid and read
//   input "attention_mask": dimension 1 is 129, the model allows 128
Status CheckInputs(const InputRules& rules, std::span<const model::TensorView> inputs);

}  // namespace gimbal::engine
