#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "bench/target.h"

namespace gimbal::bench {

// A named value for the report, already JSON.
struct Fact {
  std::string name;
  std::string json;
};
Fact TextFact(std::string name, std::string_view value);
Fact NumberFact(std::string name, double value);
Fact NullFact(std::string name);

// What tells this machine from another: processor, cores, kernel, C library, memory, governor. What
// cannot be read is null. `root` stands in front of /proc and /sys, for tests.
std::vector<Fact> MachineFacts(const std::string& root = "/");

// Processor time of the whole machine since its start, in ticks.
struct CpuTicks {
  uint64_t steal = 0;  // wanted, but another guest ran
  uint64_t total = 0;
};
std::optional<CpuTicks> ReadCpuTicks(const std::string& root = "/");
// Share of stolen time between two readings; none when no time passed.
std::optional<double> StealShare(const CpuTicks& before, const CpuTicks& after);

// What a page of metrics (Prometheus text) tells.
ServerUsage ParseServerUsage(std::string_view prometheus);

// Makes the calling thread wake on time while it lives: timer slack 1 ns and, when `first_in_line`
// and the system allows it, the lowest real-time priority. Gives both back. One thread.
class PunctualThread {
 public:
  explicit PunctualThread(bool first_in_line);
  ~PunctualThread();
  PunctualThread(const PunctualThread&) = delete;
  PunctualThread& operator=(const PunctualThread&) = delete;

  bool real_time() const { return real_time_; }

 private:
  int slack_before_;
  bool real_time_ = false;
};

}  // namespace gimbal::bench
