#include "registry/batching_probe.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "preprocess/text/encoding.h"

namespace gimbal::registry {
namespace {

// Rounding differs between batch shapes by some 1e-6 of an embedding's size; a mask that is
// ignored, or a scale taken from the whole batch, by 1e-3 and more.
constexpr double kTolerance = 1e-4;

constexpr int kRowLength = 7;
constexpr int kPadding = 9;

// These compute a scale from all values of a tensor, so each row's depends on its company.
constexpr std::array kWholeTensorOperators = {"DynamicQuantizeLinear", "DynamicQuantizeMatMul",
                                              "DynamicQuantizeLSTM"};

preprocess::Encoding MadeUpRow(int length, int vocabulary, int seed) {
  preprocess::Encoding row;
  uint32_t state = static_cast<uint32_t>(seed) * 2654435761U + 1;
  for (int i = 0; i < length; ++i) {
    state = state * 1664525U + 1013904223U;
    row.ids.push_back(static_cast<int32_t>(
        1 + (state >> 8) % static_cast<uint32_t>(std::max(2, vocabulary) - 1)));
  }
  row.type_ids.assign(row.ids.size(), 0);
  return row;
}

// The first row's embedding.
Result<std::vector<float>> FirstOf(pipeline::TextEmbedder& embedder,
                                   std::vector<const preprocess::Encoding*> rows, int length) {
  embedder.Assemble(rows, length);
  RETURN_IF_ERROR(embedder.Run());
  std::vector<std::vector<float>> embeddings;
  RETURN_IF_ERROR(embedder.Pool(&embeddings));
  return std::move(embeddings[0]);
}

// Largest difference, in units of the largest value.
double Difference(const std::vector<float>& a, const std::vector<float>& b) {
  double size = 1e-12, difference = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    size = std::max<double>(size, std::abs(a[i]));
    const double here = std::abs(static_cast<double>(a[i]) - b[i]);
    if (!std::isfinite(here)) return std::numeric_limits<double>::infinity();
    difference = std::max(difference, here);
  }
  return difference / size;
}

void Restrict(RowSharing sharing, std::string reason, BatchingSafety& safety) {
  safety.safe = std::max(safety.safe, sharing);
  safety.reasons.push_back(std::move(reason));
}

void LookAtGraph(const engine::GraphFacts& facts, const pipeline::TextEmbeddingBinding& binding,
                 BatchingSafety& safety) {
  for (const char* name : kWholeTensorOperators) {
    const auto found = facts.operators.find(name);
    if (found == facts.operators.end()) continue;
    Restrict(RowSharing::kAlone,
             fmt::format("{} nodes of {} take their scale from all rows of a batch", found->second,
                         name),
             safety);
  }
  if (binding.attention_mask.empty()) {
    Restrict(RowSharing::kEqualLength,
             "the graph has no attention_mask, so it reads padding as text", safety);
  }
}

}  // namespace

std::string_view RowSharingName(RowSharing sharing) {
  switch (sharing) {
    case RowSharing::kAny:
      return "any";
    case RowSharing::kEqualLength:
      return "equal_length";
    case RowSharing::kAlone:
      return "alone";
  }
  return "";
}

Result<BatchingSafety> ProbeBatching(const engine::GraphFacts& facts,
                                     const pipeline::TextEmbeddingBinding& binding,
                                     pipeline::TextEmbedder& embedder,
                                     const ProbeOptions& options) {
  BatchingSafety safety;
  LookAtGraph(facts, binding, safety);
  const int longest = options.longest > 0 ? options.longest : kRowLength + kPadding;
  const int length = std::max(1, std::min(kRowLength, longest / 2));
  const int padded = std::min(kRowLength + kPadding, longest);
  const auto row = MadeUpRow(length, options.vocabulary, 1);
  const auto second = MadeUpRow(length, options.vocabulary, 2);
  const auto third = MadeUpRow(length, options.vocabulary, 3);
  ASSIGN_OR_RETURN(const auto alone, FirstOf(embedder, {&row}, length));
  ASSIGN_OR_RETURN(const auto in_padding, FirstOf(embedder, {&row}, padded));
  ASSIGN_OR_RETURN(const auto in_company, FirstOf(embedder, {&row, &second, &third}, length));
  const double by_padding = Difference(alone, in_padding);
  const double by_company = Difference(alone, in_company);
  if (by_company > kTolerance) {
    Restrict(RowSharing::kAlone, fmt::format("other rows changed an answer by {:.1e}", by_company),
             safety);
  }
  if (by_padding > kTolerance) {
    Restrict(RowSharing::kEqualLength,
             fmt::format("padding changed an answer by {:.1e}", by_padding), safety);
  }
  if (safety.reasons.empty()) {
    safety.reasons.push_back(fmt::format(
        "padding changed an answer by {:.1e}, other rows by {:.1e}", by_padding, by_company));
  }
  return safety;
}

}  // namespace gimbal::registry
