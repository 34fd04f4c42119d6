#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "engine/engine.h"
#include "pipeline/text_binding.h"
#include "pipeline/text_embedder.h"

namespace gimbal::registry {

// Which rows may share a batch without changing each other's answers.
enum class RowSharing {
  kAny,          // rows of any length
  kEqualLength,  // padding would change answers
  kAlone,        // any company would
};
std::string_view RowSharingName(RowSharing sharing);  // "any" | "equal_length" | "alone"

struct BatchingSafety {
  RowSharing safe = RowSharing::kAny;
  std::vector<std::string> reasons;  // for people; at least one
};

struct ProbeOptions {
  int longest = 0;     // input in tokens; 0: no limit
  int vocabulary = 0;  // token ids to try are below it; > 1
};

// Looks at the graph's operators and inputs, then runs one made-up row alone, padded, and with
// other rows, and compares its answers. What it finds unsafe is unsafe; what it finds safe is safe
// for the rows that it tried. REQUIRES: nobody else uses `embedder`.
Result<BatchingSafety> ProbeBatching(const engine::GraphFacts& facts,
                                     const pipeline::TextEmbeddingBinding& binding,
                                     pipeline::TextEmbedder& embedder, const ProbeOptions& options);

}  // namespace gimbal::registry
