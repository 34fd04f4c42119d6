#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/log.h"
#include "base/result.h"
#include "engine/engine.h"

namespace gimbal::engine {

struct OnnxRuntimeOptions {
  // libonnxruntime.so; empty: the first of DefaultOnnxRuntimeLibraries() that exists.
  std::string library = {};
  // Where the library's own warnings and errors go; null: nowhere. Outlives the engine.
  Log* log = nullptr;
};

// Opens ONNX Runtime (CPU) at run time; nothing of ours is linked to it, so one binary runs with
// any release from the one whose headers it was built with. Telemetry is off and no socket is
// opened. The library stays loaded until the process ends. One engine a process is enough; several
// share it.
Result<std::unique_ptr<Engine>> CreateOnnxRuntimeEngine(const OnnxRuntimeOptions& options);

// Where the library may lie, best first: beside the executable as it is shipped
// (../lib/libonnxruntime.so), then where this build's headers came from.
std::vector<std::string> DefaultOnnxRuntimeLibraries();

}  // namespace gimbal::engine
