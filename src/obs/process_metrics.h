#pragma once

#include <memory>
#include <vector>

#include "base/log.h"
#include "base/units.h"
#include "obs/metrics.h"

namespace gimbal::obs {

// What the kernel says of this process, read from /proc when asked.
struct ProcessUsage {
  double cpu_seconds = 0;  // user and system, all threads
  Bytes resident;
  Bytes peak_resident;
  int threads = 0;
  int open_files = 0;
};
ProcessUsage ReadProcessUsage();

// The gauges of the process, under the names that Prometheus' own clients use. They live as long as
// the result.
std::vector<std::shared_ptr<void>> ExportProcess(Metrics& metrics, const Log& log);

}  // namespace gimbal::obs
