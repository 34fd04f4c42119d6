#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "engine/engine.h"

namespace gimbal::engine {

// Reads from an ONNX file what can be known without running it. It looks at the protobuf's
// structure only, never at weights, so the cost does not grow with their size. Safe on any bytes.
Result<GraphFacts> ReadOnnxFacts(const std::string& path);

// The same of a file's bytes; weights in files beside it are looked for in `dir`.
Result<GraphFacts> ParseOnnxFacts(std::string_view bytes, const std::string& dir);

}  // namespace gimbal::engine
