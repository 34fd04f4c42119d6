#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/request.h"
#include "service/infer.h"

namespace gimbal::frontend {

// What the frontend asks of the service, as an interface: the service in a server, a puppet in
// tests. The methods are those of service::InferService.
class Inference {
 public:
  virtual ~Inference() = default;
  virtual void Infer(std::unique_ptr<service::InferCall> call) = 0;
  virtual std::vector<model::ModelInfo> Models() const = 0;
  virtual Result<model::ModelInfo> Model(const std::string& name,
                                         const std::string& version) const = 0;
  virtual bool ready() const = 0;
};

// Runs a job on a worker thread soon; false, and nothing happens, when its bounded queue is full.
using Offload = std::function<bool(std::function<void()>)>;

}  // namespace gimbal::frontend
