#pragma once

#include <vector>

#include "bench/target.h"

namespace gimbal::bench {

// A target that answers at once and costs nothing, so that what remains is the generator: its own
// cost for each request and how late its timer wakes.
class NullTarget : public Target {
 public:
  explicit NullTarget(Duration spin) : spin_(spin) {}  // as of net::HttpClient

  bool Issue(uint64_t request) override;
  void Poll(TimePoint until, OutcomeSink& sink) override;

 private:
  const Duration spin_;
  std::vector<uint64_t> issued_;
};

}  // namespace gimbal::bench
