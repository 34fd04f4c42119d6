#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "model/names.h"

namespace gimbal::bench {

// What is asked: the rows of each request, in an order that the seed decides. Immutable.
class Workload {
 public:
  // REQUIRES: texts is not empty, batch_rows > 0.
  Workload(std::vector<std::string> texts, uint64_t seed, int batch_rows);

  // How many requests differ: request i asks the same as request i + distinct().
  size_t distinct() const;
  int batch_rows() const { return batch_rows_; }
  size_t texts() const { return texts_.size(); }
  std::vector<std::string_view> Rows(uint64_t request) const;

 private:
  std::vector<std::string> texts_;  // in their order
  int batch_rows_;
};

// Path and body of a request. REQUIRES: native or openai.
std::string RequestPath(model::Protocol protocol, std::string_view model);
std::string RequestBody(model::Protocol protocol, std::string_view model,
                        const std::vector<std::string_view>& rows);

// Times of Poisson arrivals since the start, in order, all before `until`; at most `limit` of them
// at or after `warmup` (0: no limit). Depends on nothing but its arguments.
struct ArrivalOptions {
  double rate = 1;  // a second, > 0
  uint64_t seed = 1;
  Duration warmup{0};
  Duration until{0};
  int64_t limit = 0;
};
std::vector<Duration> PoissonArrivals(const ArrivalOptions& options);

}  // namespace gimbal::bench
