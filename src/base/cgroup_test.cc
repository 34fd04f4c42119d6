#include "base/cgroup.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

namespace gimbal {
namespace {

// A made-up /proc and /sys: eight processors, 16 GiB.
class CgroupTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = ::testing::TempDir() + "cgroupXXXXXX";
    root_ = mkdtemp(pattern.data());
    std::string cpus;
    for (int i = 0; i < 8; ++i) cpus += "processor\t: 0\nflags\t: fpu\n\n";
    Write("proc/cpuinfo", cpus);
    Write("proc/meminfo", "MemTotal:       16777216 kB\nMemFree:  5 kB\n");
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  void Write(const std::string& path, const std::string& text) {
    const std::filesystem::path file = std::filesystem::path(root_) / path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  MachineLimits Read() const { return ReadMachineLimits(root_); }

  std::string root_;
};

TEST_F(CgroupTest, WithoutCgroupsTheMachineIsTheLimit) {
  EXPECT_EQ(Read().cpus, 8);
  EXPECT_EQ(Read().memory, GiB(16));
  EXPECT_EQ(Read().memory_source, "MemTotal");
}

TEST_F(CgroupTest, NothingReadableMeansOneCpuAndUnknownMemory) {
  const MachineLimits limits = ReadMachineLimits(root_ + "/nowhere");
  EXPECT_EQ(limits.cpus, 1);
  EXPECT_EQ(limits.memory, Bytes{0});
}

TEST_F(CgroupTest, Version2TakesTheSmallestOnTheWayUp) {
  Write("proc/self/cgroup", "0::/pods/server\n");
  Write("sys/fs/cgroup/pods/server/cpu.max", "400000 100000\n");
  Write("sys/fs/cgroup/pods/cpu.max", "150000 100000\n");
  Write("sys/fs/cgroup/pods/server/memory.max", "2147483648\n");
  Write("sys/fs/cgroup/pods/memory.max", "max\n");
  EXPECT_EQ(Read().cpus, 2) << "1.5 CPUs need two threads";
  EXPECT_EQ(Read().cpu_source, "cgroup cpu.max 150000 100000");
  EXPECT_EQ(Read().memory, GiB(2));
  EXPECT_EQ(Read().memory_source, "cgroup memory.max");
}

TEST_F(CgroupTest, Version2WithoutLimits) {
  Write("proc/self/cgroup", "0::/\n");
  Write("sys/fs/cgroup/cpu.max", "max 100000\n");
  Write("sys/fs/cgroup/memory.max", "max\n");
  EXPECT_EQ(Read().cpus, 8);
  EXPECT_EQ(Read().memory, GiB(16));
}

TEST_F(CgroupTest, APathThatIsNotMountedHereFallsBackToTheMount) {
  Write("proc/self/cgroup", "0::/host/path/of/the/container\n");
  Write("sys/fs/cgroup/cpu.max", "50000 100000\n");
  Write("sys/fs/cgroup/memory.max", "536870912\n");
  EXPECT_EQ(Read().cpus, 1);
  EXPECT_EQ(Read().memory, MiB(512));
}

TEST_F(CgroupTest, Version1HasAFolderForEachController) {
  Write("proc/self/cgroup", "9:name=systemd:/x\n4:cpu,cpuacct:/a/b\n3:memory:/a\n");
  Write("sys/fs/cgroup/cpu,cpuacct/a/b/cpu.cfs_quota_us", "300000\n");
  Write("sys/fs/cgroup/cpu,cpuacct/a/b/cpu.cfs_period_us", "100000\n");
  Write("sys/fs/cgroup/memory/a/memory.limit_in_bytes", "1073741824\n");
  Write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_EQ(Read().cpus, 3);
  EXPECT_EQ(Read().cpu_source, "cgroup cpu.cfs_quota_us 300000 of 100000");
  EXPECT_EQ(Read().memory, GiB(1));
}

TEST_F(CgroupTest, Version1WithoutLimits) {
  Write("proc/self/cgroup", "4:cpu:/\n3:memory:/\n");
  Write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
  Write("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  Write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_EQ(Read().cpus, 8);
  EXPECT_EQ(Read().memory, GiB(16));
}

TEST_F(CgroupTest, AQuotaAboveTheMachineDoesNotRaiseIt) {
  Write("proc/self/cgroup", "0::/\n");
  Write("sys/fs/cgroup/cpu.max", "3200000 100000\n");
  Write("sys/fs/cgroup/memory.max", "34359738368\n");
  EXPECT_EQ(Read().cpus, 8);
  EXPECT_EQ(Read().memory, GiB(16));
}

TEST_F(CgroupTest, BrokenFilesDoNotLimit) {
  Write("proc/self/cgroup", "rubbish\n::\n0:/nope\n0::relative\n");
  Write("sys/fs/cgroup/cpu.max", "0 0\n");
  Write("sys/fs/cgroup/memory.max", "-5\n");
  EXPECT_EQ(Read().cpus, 8);
  EXPECT_EQ(Read().memory, GiB(16));
}

TEST(Cgroup, AffinityOfThisThreadLimits) {
  cpu_set_t before;
  ASSERT_EQ(sched_getaffinity(0, sizeof(before), &before), 0);
  cpu_set_t one;
  CPU_ZERO(&one);
  for (int cpu = 0; CPU_COUNT(&one) == 0; ++cpu) {
    if (CPU_ISSET(cpu, &before)) CPU_SET(cpu, &one);
  }
  ASSERT_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
  EXPECT_EQ(ReadMachineLimits().cpus, 1);
  ASSERT_EQ(sched_setaffinity(0, sizeof(before), &before), 0);
  EXPECT_GT(ReadMachineLimits().memory, MiB(64));
}

}  // namespace
}  // namespace gimbal
