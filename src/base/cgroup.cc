#include "base/cgroup.h"

#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <functional>
#include <optional>
#include <sstream>
#include <string_view>
#include <vector>

namespace gimbal {
namespace {

// Kernels write "no limit" of version 1 as a number near 2^63; nobody has that much.
constexpr int64_t kNoLimit = int64_t{1} << 60;

std::optional<std::string> FirstLine(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  if (!std::getline(file, line)) return std::nullopt;
  return line;
}

std::optional<int64_t> Number(const std::optional<std::string>& text) {
  if (!text) return std::nullopt;
  std::istringstream stream(*text);
  int64_t value = 0;
  if (!(stream >> value)) return std::nullopt;
  return value;
}

// Where this process's cgroup of one controller lies.
struct Group {
  std::string mount;  // "/sys/fs/cgroup/cpu"
  std::string path;   // "/a/b", below it
};

// Controller "" is version 2. Lines of /proc/self/cgroup: "4:cpu,cpuacct:/a/b", "0::/a/b".
std::optional<std::string> PathOf(const std::string& root, std::string_view controller) {
  std::ifstream file(root + "/proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    const size_t first = line.find(':');
    const size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    std::istringstream names(line.substr(first + 1, second - first - 1));
    std::string name;
    if (controller.empty() && second == first + 1) return line.substr(second + 1);
    while (std::getline(names, name, ',')) {
      if (!controller.empty() && name == controller) return line.substr(second + 1);
    }
  }
  return std::nullopt;
}

// Calls `visit` with the folder of the process's cgroup and of each parent. A container that sees
// the host's path but has only its own part mounted finds its limits at the mount itself, so
// folders that do not exist are no obstacle.
void Walk(const Group& group, const std::function<void(const std::string& folder)>& visit) {
  std::string path = group.path;
  while (true) {
    while (!path.empty() && path.back() == '/') path.pop_back();
    visit(group.mount + path);
    if (path.empty()) return;
    path.resize(path.rfind('/') == std::string::npos ? 0 : path.rfind('/'));
  }
}

std::vector<Group> GroupsOf(const std::string& root, std::string_view controller) {
  std::vector<Group> groups;
  const std::string base = root + "/sys/fs/cgroup";
  if (const auto path = PathOf(root, controller)) {
    groups.push_back({fmt::format("{}/{}", base, controller), *path});
    if (controller == "cpu") groups.push_back({base + "/cpu,cpuacct", *path});
  }
  if (const auto path = PathOf(root, "")) {
    groups.push_back({base, *path});
    groups.push_back({base + "/unified", *path});  // hybrid hierarchies
  }
  return groups;
}

class Limits {
 public:
  explicit Limits(std::string root) : root_(std::move(root)) {}

  void Cpus(double cpus, std::string source) {
    // Part of a CPU still needs a thread.
    const int whole = std::max(1, static_cast<int>(std::ceil(cpus - 1e-9)));
    if (result_.cpu_source.empty() || whole < result_.cpus) {
      result_.cpus = whole;
      result_.cpu_source = std::move(source);
    }
  }

  void Memory(int64_t bytes, std::string_view source) {
    if (bytes <= 0 || bytes >= kNoLimit) return;
    if (result_.memory.value == 0 || bytes < result_.memory.value) {
      result_.memory = {bytes};
      result_.memory_source = source;
    }
  }

  void ReadCpuQuotas() {
    for (const Group& group : GroupsOf(root_, "cpu")) {
      Walk(group, [this](const std::string& folder) { ReadCpuQuota(folder); });
    }
  }

  void ReadMemoryLimits() {
    for (const Group& group : GroupsOf(root_, "memory")) {
      Walk(group, [this](const std::string& folder) {
        for (const char* name : {"memory.max", "memory.limit_in_bytes"}) {
          const auto bytes = Number(FirstLine(folder + "/" + name));
          if (bytes) Memory(*bytes, fmt::format("cgroup {}", name));
        }
      });
    }
  }

  void ReadMachine() {
    std::ifstream cpus(root_ + "/proc/cpuinfo");
    int count = 0;
    for (std::string line; std::getline(cpus, line);) count += line.starts_with("processor");
    if (count > 0) Cpus(count, "processors of the machine");
    std::ifstream memory(root_ + "/proc/meminfo");
    for (std::string line; std::getline(memory, line);) {
      if (!line.starts_with("MemTotal:")) continue;
      if (const auto kib = Number(line.substr(9))) Memory(*kib * 1024, "MemTotal");
    }
  }

  MachineLimits Take() && { return std::move(result_); }

 private:
  void ReadCpuQuota(const std::string& folder) {
    // Version 2: "max 100000" or "150000 100000"; version 1: two files, quota -1 for none.
    if (const auto line = FirstLine(folder + "/cpu.max")) {
      double quota = 0, period = 0;
      if (std::istringstream(*line) >> quota >> period && quota > 0 && period > 0) {
        Cpus(quota / period, fmt::format("cgroup cpu.max {}", *line));
      }
    }
    const auto quota = Number(FirstLine(folder + "/cpu.cfs_quota_us"));
    const auto period = Number(FirstLine(folder + "/cpu.cfs_period_us"));
    if (quota && period && *quota > 0 && *period > 0) {
      Cpus(static_cast<double>(*quota) / static_cast<double>(*period),
           fmt::format("cgroup cpu.cfs_quota_us {} of {}", *quota, *period));
    }
  }

  const std::string root_;
  MachineLimits result_;
};

void ReadAffinity(Limits& limits) {
  // 1024 CPUs fit a plain cpu_set_t; on a larger machine the call fails and does not limit.
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) == 0) {
    limits.Cpus(CPU_COUNT(&set), "CPU affinity");
  }
}

}  // namespace

MachineLimits ReadMachineLimits(const std::string& root) {
  const bool real = root == "/";
  Limits limits(real ? "" : root);
  limits.ReadMachine();
  if (real) ReadAffinity(limits);
  limits.ReadCpuQuotas();
  limits.ReadMemoryLimits();
  return std::move(limits).Take();
}

}  // namespace gimbal
