#include "device/limits.h"

#include <gtest/gtest.h>

#include "scratch_folder.h"

namespace tare::device {
namespace {

TEST(Limits, Version2TakesTheTightestOnTheWayUp) {
  ScratchFolder root;
  root.write("proc/self/cgroup", "0::/machine/job\n");
  root.write("sys/fs/cgroup/machine/cpu.max", "400000 100000\n");
  root.write("sys/fs/cgroup/machine/memory.max", "8589934592\n");
  root.write("sys/fs/cgroup/machine/memory.current", "4294967296\n");
  root.write("sys/fs/cgroup/machine/memory.stat",
             "anon 1\ninactive_file 1073741824\nactive_file 0\n");
  root.write("sys/fs/cgroup/machine/job/cpu.max", "150000 100000\n");
  root.write("sys/fs/cgroup/machine/job/memory.max", "max\n");
  const GroupLimits limits = group_limits(root.path());
  EXPECT_DOUBLE_EQ(limits.processors, 1.5);
  EXPECT_EQ(limits.memory_bytes, 8ull << 30);
  EXPECT_EQ(limits.memory_used_bytes, 3ull << 30);
}

TEST(Limits, Version2WithoutLimits) {
  ScratchFolder root;
  root.write("proc/self/cgroup", "0::/\n");
  root.write("sys/fs/cgroup/cpu.max", "max 100000\n");
  root.write("sys/fs/cgroup/memory.max", "max\n");
  const GroupLimits limits = group_limits(root.path());
  EXPECT_EQ(limits.processors, 0);
  EXPECT_EQ(limits.memory_bytes, 0u);
}

TEST(Limits, Version1) {
  ScratchFolder root;
  root.write("proc/self/cgroup",
             "4:memory:/docker/abc\n2:cpu,cpuacct:/docker/abc\n1:name=systemd:/\n");
  // Inside a container the group's path is its host's; its own limits are at the top of the mount.
  root.write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "50000\n");
  root.write("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  root.write("sys/fs/cgroup/memory/memory.limit_in_bytes", "1073741824\n");
  root.write("sys/fs/cgroup/memory/memory.usage_in_bytes", "536870912\n");
  root.write("sys/fs/cgroup/memory/memory.stat",
             "inactive_file 7\ntotal_inactive_file 268435456\n");
  const GroupLimits limits = group_limits(root.path());
  EXPECT_DOUBLE_EQ(limits.processors, 0.5);
  EXPECT_EQ(limits.memory_bytes, 1ull << 30);
  EXPECT_EQ(limits.memory_used_bytes, 256ull << 20);
}

TEST(Limits, Version1WithoutLimits) {
  ScratchFolder root;
  root.write("proc/self/cgroup", "4:memory:/\n1:cpu:/\n");
  root.write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
  root.write("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  root.write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  const GroupLimits limits = group_limits(root.path());
  EXPECT_EQ(limits.processors, 0);
  EXPECT_EQ(limits.memory_bytes, 0u);
}

TEST(Limits, NoControlGroupsAtAll) {
  ScratchFolder root;
  EXPECT_EQ(group_limits(root.path()).processors, 0);
  root.write("proc/self/cgroup", "garbage\n::\n:\n");
  EXPECT_EQ(group_limits(root.path()).memory_bytes, 0u);
}

}  // namespace
}  // namespace tare::device
