#include "engine/onnxruntime/input_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>

namespace gimbal::engine {
namespace {

struct NamedSize {
  int64_t size = 0;
  std::string input;
};

class InputChecker {
 public:
  explicit InputChecker(const InputRules& rules) : rules_(rules) {}

  Status Check(const model::TensorView& input) {
    const auto spec = std::find_if(rules_.specs.begin(), rules_.specs.end(),
                                   [&](const auto& s) { return s.name == input.name; });
    if (spec == rules_.specs.end()) {
      return InvalidError(fmt::format("input \"{}\": the model has no such input", input.name));
    }
    if (input.type != spec->type) {
      return Refuse(input, fmt::format("is {}, the model takes {}", model::DataTypeName(input.type),
                                       model::DataTypeName(spec->type)));
    }
    if (input.shape.size() != spec->shape.size()) {
      return Refuse(input,
                    fmt::format("has shape {}, the model takes {}", model::ShapeText(input.shape),
                                model::ShapeText(spec->shape)));
    }
    const auto& names = rules_.dimension_names[spec - rules_.specs.begin()];
    for (size_t i = 0; i < input.shape.size(); ++i) {
      RETURN_IF_ERROR(CheckDimension(input, i, spec->shape[i], names[i]));
    }
    return CheckBytes(input);
  }

 private:
  static Status Refuse(const model::TensorView& input, const std::string& why) {
    return InvalidError(fmt::format("input \"{}\": {}", input.name, why));
  }

  Status CheckDimension(const model::TensorView& input, size_t index, int64_t allowed,
                        const std::string& name) {
    const int64_t size = input.shape[index];
    if (size < 0 || (allowed >= 0 && size != allowed)) {
      return Refuse(input,
                    fmt::format("dimension {} is {}, the model allows {}", index, size,
                                allowed < 0 ? std::string("0 or more") : std::to_string(allowed)));
    }
    if (name.empty()) return Status::Ok();
    const auto [known, added] = sizes_.try_emplace(name, NamedSize{size, std::string(input.name)});
    if (added || known->second.size == size) return Status::Ok();
    return Refuse(input, fmt::format("dimension {} (\"{}\") is {}, it is {} in input \"{}\"", index,
                                     name, size, known->second.size, known->second.input));
  }

  static Status CheckBytes(const model::TensorView& input) {
    const size_t element = model::ElementSize(input.type);
    if (element == 0) return Refuse(input, "strings are not supported by this engine");
    size_t bytes = element;
    for (const int64_t size : input.shape) {
      const auto factor = static_cast<size_t>(size);
      if (factor != 0 && bytes > std::numeric_limits<size_t>::max() / factor) {
        return Refuse(input, "is larger than memory can be");
      }
      bytes *= factor;
    }
    if (bytes == input.size_bytes && (input.data != nullptr || bytes == 0)) return Status::Ok();
    return Refuse(input, fmt::format("has {} bytes, its shape {} needs {}", input.size_bytes,
                                     model::ShapeText(input.shape), bytes));
  }

  const InputRules& rules_;
  std::map<std::string, NamedSize> sizes_;
};

}  // namespace

Status CheckInputs(const InputRules& rules, std::span<const model::TensorView> inputs) {
  InputChecker checker(rules);
  for (const model::TensorView& input : inputs) RETURN_IF_ERROR(checker.Check(input));
  for (const model::TensorSpec& spec : rules.specs) {
    const auto given = std::count_if(inputs.begin(), inputs.end(),
                                     [&](const auto& input) { return input.name == spec.name; });
    if (given == 1) continue;
    return InvalidError(fmt::format("input \"{}\": {}", spec.name,
                                    given == 0 ? "is missing" : "is given more than once"));
  }
  return Status::Ok();
}

}  // namespace gimbal::engine
