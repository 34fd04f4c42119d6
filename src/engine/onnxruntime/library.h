#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "base/status.h"
#include "engine/onnxruntime/onnxruntime_engine.h"

namespace Ort {
struct Env;
}

namespace gimbal::engine {

// The opened ONNX Runtime and its one environment. Shared by the engine and its models; any thread.
class OnnxRuntimeLibrary {
 public:
  static Result<std::shared_ptr<OnnxRuntimeLibrary>> Open(const OnnxRuntimeOptions& options);
  ~OnnxRuntimeLibrary();

  const std::string& version() const { return version_; }
  Ort::Env& env() { return *env_; }

 private:
  OnnxRuntimeLibrary(std::string version, std::unique_ptr<Ort::Env> env);

  const std::string version_;
  const std::unique_ptr<Ort::Env> env_;
};

// What the exception in flight means, with `context` in front. REQUIRES: called in a catch block.
Status StatusOfException(const std::string& context);

}  // namespace gimbal::engine
