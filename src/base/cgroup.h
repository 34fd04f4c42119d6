#pragma once

#include <string>

#include "base/units.h"

namespace gimbal {

// What this process may use of the machine.
struct MachineLimits {
  int cpus = 1;               // at least 1; a quota of 1.5 CPUs is 2
  Bytes memory;               // 0: unknown
  std::string cpu_source;     // what set it, for people: "cgroup cpu.max 150000 100000"
  std::string memory_source;  // "cgroup memory.max", "MemTotal"
};

// The smallest of the machine itself, the CPU affinity of the calling thread, and the quotas of
// this process's cgroup and its parents (version 1 or 2). What cannot be read does not limit.
// `root` stands in front of /proc and /sys: tests give a made-up tree, and then affinity is not
// asked.
MachineLimits ReadMachineLimits(const std::string& root = "/");

}  // namespace gimbal
