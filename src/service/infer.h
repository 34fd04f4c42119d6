#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "model/request.h"
#include "obs/timeline.h"
#include "registry/registry.h"

namespace gimbal::service {

// One request on its way down the line, with what rides along until the answer is sent. Made by a
// frontend after receive and parse, moved down, given back in `done`.
struct InferCall {
  model::InferRequest request;
  // Set by the frontend when the client leaves; rows not yet computed are then dropped.
  std::shared_ptr<model::CancelToken> cancel;
  obs::Timeline timeline;         // receive and parse are marked; in `done` through postprocess
  obs::StageSpans spans;          // over all rows, filled in `done`
  model::InferResponse response;  // valid when status is OK
  Status status;                  // of the request as a whole; rows have their own
  // Called exactly once, on any thread, also when the request is refused at once.
  std::function<void(std::unique_ptr<InferCall>)> done;
};

// The line: resolve, admit, preprocess, queue; the pipeline's instances take it from there. Shared
// by all protocols. Owned by `app`; any thread may call it; never blocks and never throws.
class InferService {
 public:
  InferService(registry::Registry& registry, const Clock& clock);

  // Takes the call and answers through its `done`.
  void Infer(std::unique_ptr<InferCall> call);

  // What serves, by name; and one model (empty version: the one that serves), or kNotFound.
  std::vector<model::ModelInfo> Models() const;
  Result<model::ModelInfo> Model(const std::string& name, const std::string& version) const;

  // Ready: every required model has answered a real inference, and the server is not draining.
  bool ready() const;

 private:
  registry::Registry& registry_;
  const Clock& clock_;
};

}  // namespace gimbal::service
