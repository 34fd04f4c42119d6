#pragma once

#include <memory>

#include "base/units.h"
#include "codec/answer.h"
#include "frontend/http/inference.h"
#include "frontend/http/open_request.h"
#include "frontend/http/routes.h"

namespace gimbal::frontend {

// The inference routes, from a complete body to the answer: decode, hand to the service, encode.
// Has no state of its own; any thread. Outlives the requests it has started.
class InferFlow {
 public:
  struct Options {
    codec::DecodeLimits limits;
    // Bodies and answers above it are decoded, tokenised and encoded off the I/O thread.
    Bytes offload_over = KiB(64);
  };
  struct Deps {
    Inference* inference = nullptr;
    const Clock* clock = nullptr;
    Offload offload;
  };
  InferFlow(Options options, Deps deps);

  // On the exchange's I/O thread, inside OnRequest. REQUIRES: match.route->infers.
  void Start(std::shared_ptr<OpenRequest> request, RouteMatch match) const;

 private:
  struct State;
  using StatePtr = std::shared_ptr<State>;

  void Decode(const StatePtr& state) const;
  Status DecodeBody(State& state, model::InferRequest& request) const;
  void Reject(State& state, const Status& status, const model::InferRequest& request) const;
  void OnDone(const StatePtr& state, std::unique_ptr<service::InferCall> call) const;
  void Encode(State& state) const;

  const Options options_;
  const Deps deps_;
};

}  // namespace gimbal::frontend
