#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bench/environment.h"
#include "bench/options.h"
#include "bench/recording.h"
#include "stats/interval.h"

namespace gimbal::bench {

// A run is INVALID over these: then the figures say more about the client or the machine than about
// the target. docs/measuring.md tells why each has its value.
inline constexpr double kLatenessShareLimit = 0.01;  // p99 of sender lateness over p99 of latency
inline constexpr double kLatenessLimitMs = 0.2;      // the same, absolute
inline constexpr double kClientCpuLimit = 0.7;       // of one core, for the sender thread
inline constexpr double kStealLimit = 0.02;          // of the machine's processor time

// A figure that could not be given honestly is nothing, and `unresolved` says why.
using Figure = std::optional<double>;

struct Report {
  std::string target;
  std::string scenario;  // "closed" | "server"
  uint64_t seed = 1;

  uint64_t requests = 0;  // sent in the measured time
  uint64_t rows = 0;
  uint64_t samples =
      0;  // of them, those behind the figures: answered well, after the warm-up found
  std::map<std::string, uint64_t> errors;  // of `requests`, by type
  Figure throughput_per_s, rows_per_s;     // samples over their time

  struct Latency {
    Figure mean, p50, p90, p99, max;
    std::optional<stats::Interval> p99_ci95;
  };
  Latency latency_ms;
  Latency first_byte_ms;  // without an interval
  struct Stage {
    std::string name;
    Figure mean, p50, p99;
  };
  std::vector<Stage> stages_ms;
  Figure batch_size_mean;

  Figure lateness_p50_ms, lateness_p99_ms;  // sent - scheduled
  Figure client_cpu_share;                  // of one core
  Figure generator_cpu_us;                  // for each request
  uint64_t blocked = 0;
  Figure server_cpu_s_per_1000, server_memory_peak, server_memory_resident;
  Figure steal_share;

  uint64_t warmup_requests = 0;        // sent during the warm-up that was asked for
  uint64_t warmup_found_requests = 0;  // measured, but found to be warm-up, too
  double measured_s = 0;               // time of the samples

  bool valid() const { return invalid.empty(); }
  std::vector<std::string> invalid;
  std::vector<std::string> unresolved;
  std::vector<Fact> settings;
  std::vector<Fact> machine;
};

// What the recording itself does not show.
struct Surroundings {
  bool null_target = false;
  std::optional<double> steal_share;
  ServerUsage server_before, server_after;
  std::string no_server_usage;  // why it is not known; empty: it is
  std::vector<Fact> settings;
  std::vector<Fact> machine;
};

// The figures of a run and whether they hold. Pure.
Report MakeReport(const Recording& recording, const Options& options, Surroundings surroundings);

std::string ReportJson(const Report& report);  // one object, as the formats state it
std::string ReportText(const Report& report);  // for people

}  // namespace gimbal::bench
