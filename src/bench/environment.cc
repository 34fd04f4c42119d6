#include "bench/environment.h"

#include <gnu/libc-version.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/utsname.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <sstream>
#include <thread>

#include "base/cgroup.h"
#include "base/json_writer.h"

namespace gimbal::bench {
namespace {

// Value of the first line "key : value" of a file of /proc; empty when there is none.
std::string LineValue(const std::string& file, std::string_view key) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with(key)) continue;
    const size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    const size_t first = line.find_first_not_of(" \t", colon + 1);
    return first == std::string::npos ? "" : line.substr(first);
  }
  return "";
}

std::string FirstLine(const std::string& file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  return line;
}

Fact TextOrNull(std::string name, const std::string& value) {
  return value.empty() ? NullFact(std::move(name)) : TextFact(std::move(name), value);
}

// Sum of a metric over its label sets, so that an added label does not lose it.
std::optional<double> MetricValue(std::string_view text, std::string_view name) {
  std::optional<double> sum;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!line.starts_with(name)) continue;
    line.remove_prefix(name.size());
    if (line.starts_with('{')) line.remove_prefix(std::min(line.rfind('}') + 1, line.size()));
    if (!line.starts_with(' ')) continue;
    line.remove_prefix(1);
    double value = 0;
    const auto [stop, error] = std::from_chars(line.data(), line.data() + line.size(), value);
    if (error == std::errc()) sum = sum.value_or(0) + value;
  }
  return sum;
}

}  // namespace

Fact TextFact(std::string name, std::string_view value) {
  JsonWriter w;
  w.String(value);
  return {std::move(name), std::move(w).Take()};
}

Fact NumberFact(std::string name, double value) {
  JsonWriter w;
  w.Double(value);
  return {std::move(name), std::move(w).Take()};
}

Fact NullFact(std::string name) { return {std::move(name), "null"}; }

std::vector<Fact> MachineFacts(const std::string& root) {
  std::vector<Fact> facts;
  facts.push_back(TextOrNull("cpu", LineValue(root + "proc/cpuinfo", "model name")));
  facts.push_back(NumberFact("cores", std::thread::hardware_concurrency()));
  facts.push_back(NumberFact("usable_cores", ReadMachineLimits(root).cpus));
  utsname system{};
  const bool known = uname(&system) == 0;
  facts.push_back(TextOrNull("kernel", known ? system.release : ""));
  facts.push_back(TextOrNull("architecture", known ? system.machine : ""));
  facts.push_back(TextFact("glibc", gnu_get_libc_version()));
  const std::string memory = LineValue(root + "proc/meminfo", "MemTotal");
  double kib = 0;
  std::istringstream in(memory);
  facts.push_back(in >> kib ? NumberFact("memory", kib * 1024) : NullFact("memory"));
  facts.push_back(TextOrNull(
      "governor", FirstLine(root + "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")));
  return facts;
}

std::optional<CpuTicks> ReadCpuTicks(const std::string& root) {
  std::istringstream line(FirstLine(root + "proc/stat"));
  std::string cpu;
  line >> cpu;
  if (cpu != "cpu") return std::nullopt;
  // user nice system idle iowait irq softirq steal; what follows is counted in the first two.
  constexpr int kSteal = 7;
  CpuTicks ticks;
  uint64_t value = 0;
  int column = 0;
  for (; column <= kSteal && line >> value; ++column) {
    ticks.total += value;
    if (column == kSteal) ticks.steal = value;
  }
  if (column <= kSteal) return std::nullopt;
  return ticks;
}

std::optional<double> StealShare(const CpuTicks& before, const CpuTicks& after) {
  if (after.total <= before.total || after.steal < before.steal) return std::nullopt;
  return static_cast<double>(after.steal - before.steal) /
         static_cast<double>(after.total - before.total);
}

ServerUsage ParseServerUsage(std::string_view prometheus) {
  return {MetricValue(prometheus, "process_cpu_seconds_total"),
          MetricValue(prometheus, "process_resident_memory_bytes"),
          MetricValue(prometheus, "gimbal_process_peak_memory_bytes")};
}

PunctualThread::PunctualThread(bool first_in_line)
    : slack_before_(prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0)) {
  prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
  const sched_param lowest{1};
  // Another policy than the usual one was somebody's choice, and stays.
  if (first_in_line && sched_getscheduler(0) == SCHED_OTHER) {
    real_time_ = sched_setscheduler(0, SCHED_FIFO, &lowest) == 0;
  }
}

PunctualThread::~PunctualThread() {
  const sched_param none{0};
  if (real_time_) sched_setscheduler(0, SCHED_OTHER, &none);
  if (slack_before_ > 0) prctl(PR_SET_TIMERSLACK, slack_before_, 0, 0, 0);
}

}  // namespace gimbal::bench
