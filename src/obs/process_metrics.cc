#include "obs/process_metrics.h"

#include <sys/resource.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

#include "base/clock.h"
#include "base/mutex.h"

namespace gimbal::obs {

ProcessUsage ReadProcessUsage() {
  ProcessUsage usage;
  rusage self{};
  if (getrusage(RUSAGE_SELF, &self) == 0) {
    const auto seconds = [](const timeval& t) {
      return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
    };
    usage.cpu_seconds = seconds(self.ru_utime) + seconds(self.ru_stime);
  }
  std::ifstream status("/proc/self/status");
  for (std::string key; status >> key;) {
    int64_t value = 0;
    if (key == "VmRSS:" && status >> value) usage.resident = KiB(value);
    if (key == "VmHWM:" && status >> value) usage.peak_resident = KiB(value);
    if (key == "Threads:" && status >> value) usage.threads = static_cast<int>(value);
    status.ignore(1 << 10, '\n');
  }
  std::error_code error;
  for (std::filesystem::directory_iterator it("/proc/self/fd", error), end; !error && it != end;
       it.increment(error)) {
    ++usage.open_files;
  }
  return usage;
}

namespace {

// One reading of /proc serves all gauges of a scrape.
class SharedUsage {
 public:
  ProcessUsage Get() EXCLUDES(mu_) {
    MutexLock lock(mu_);
    const TimePoint now = Clock::Steady().Now();
    if (now - read_at_ > std::chrono::milliseconds(100)) {
      usage_ = ReadProcessUsage();
      read_at_ = now;
    }
    return usage_;
  }

 private:
  Mutex mu_;
  ProcessUsage usage_ GUARDED_BY(mu_);
  TimePoint read_at_ GUARDED_BY(mu_);
};

}  // namespace

std::vector<std::shared_ptr<void>> ExportProcess(Metrics& metrics, const Log& log) {
  const auto usage = std::make_shared<SharedUsage>();
  const auto gauge = [&](const char* name, const char* help, double (*read)(const ProcessUsage&)) {
    return metrics.AddGauge(name, help, {}, [usage, read] { return read(usage->Get()); });
  };
  std::vector<std::shared_ptr<void>> out;
  out.push_back(metrics.AddReadCounter("process_cpu_seconds_total", "User and system CPU time.", {},
                                       [usage] { return usage->Get().cpu_seconds; }));
  out.push_back(gauge("process_resident_memory_bytes", "Resident memory.",
                      [](const ProcessUsage& u) { return static_cast<double>(u.resident.value); }));
  out.push_back(
      gauge("gimbal_process_peak_memory_bytes", "Most resident memory since the start.",
            [](const ProcessUsage& u) { return static_cast<double>(u.peak_resident.value); }));
  out.push_back(gauge("process_threads", "Threads.",
                      [](const ProcessUsage& u) { return static_cast<double>(u.threads); }));
  out.push_back(gauge("process_open_fds", "Open file descriptors.",
                      [](const ProcessUsage& u) { return static_cast<double>(u.open_files); }));
  out.push_back(metrics.AddReadCounter("gimbal_log_lines_dropped_total",
                                       "Log lines lost because the log could not keep up.", {},
                                       [&log] { return static_cast<double>(log.dropped()); }));
  return out;
}

}  // namespace gimbal::obs
