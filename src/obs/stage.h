#pragma once

#include <string_view>

namespace gimbal::obs {

// The steps of a request, in order, and the only list of them. Timeline stamps, metric labels,
// Server-Timing, the cost object, bench columns and the headings of docs/life_of_a_request.md are
// these names.
enum class Stage {
  kReceive,      // first byte of the request read, to its body complete
  kParse,        // bytes to InferRequest
  kAdmit,        // model found, limits and queue looked at
  kPreprocess,   // text to token ids
  kQueue,        // waiting for a batch to close
  kAssemble,     // rows to padded input tensors
  kModel,        // the engine runs
  kPostprocess,  // output tensors to answers
  kSerialize,    // answers to bytes
  kSend,         // bytes handed to the socket
};

inline constexpr int kStageCount = static_cast<int>(Stage::kSend) + 1;

std::string_view StageName(Stage stage);  // "receive", ...

}  // namespace gimbal::obs
