#pragma once

#include <cstdint>
#include <string>

#include "base/clock.h"
#include "model/names.h"

namespace gimbal::bench {

// One measurement, as asked for.
struct Options {
  std::string target;  // "http://H:P", or "null"
  std::string model;   // empty: the only model that the target serves
  model::Protocol protocol = model::Protocol::kNative;
  int concurrency = 0;  // closed loop: requests in flight; 0: open loop
  double rate = 0;      // open loop: Poisson arrivals a second; 0: closed loop
  uint64_t seed = 1;    // of arrivals and of the order of texts
  Duration duration = std::chrono::seconds(10);  // measured time, after `warmup`
  Duration warmup{0};    // sent before that; what MSER-5 finds beyond it is left out as well
  int64_t requests = 0;  // most requests after `warmup`; 0: `duration` alone decides
  int batch_rows = 1;    // rows of each request
  std::string texts;     // a file of one text a line; empty: the built-in sentences
  Duration timeout = std::chrono::seconds(30);  // of each request
  int max_connections = 1024;                   // open loop; a request beyond them is sent late
};

}  // namespace gimbal::bench
