// Limits of control groups, read from trees of files that stand for a machine.
#include "host/process/cgroup_limits.hpp"

#include "tests/unit/host/process/machine_tree.hpp"

namespace halmark {
namespace {

using CgroupLimitsTest = test::MachineTree;

TEST_F(CgroupLimitsTest, the_tightest_of_all_groups_above_binds) {
  put("/proc/self/mounts", "cgroup2 /sys/fs/cgroup cgroup2 rw 0 0");
  put("/proc/self/cgroup", "0::/a/b");
  put("/sys/fs/cgroup/a/b/cpu.max", "max 100000");
  put("/sys/fs/cgroup/a/cpu.max", "150000 100000");
  const CgroupLimits limits = cgroup_limits(root_);
  EXPECT_EQ(limits.cpus, 1.5);
  EXPECT_TRUE(limits.memory.empty());
}

TEST_F(CgroupLimitsTest, version_1_has_a_hierarchy_for_each) {
  put("/proc/self/mounts",
      "cgroup /sys/fs/cgroup/cpu cgroup rw,cpu 0 0\ncgroup /sys/fs/cgroup/memory cgroup "
      "rw,memory 0 0");
  put("/proc/self/cgroup", "4:memory:/job\n1:cpu,cpuacct:/");
  put("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "50000");
  put("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000");
  put("/sys/fs/cgroup/memory/job/memory.limit_in_bytes", "4096");
  put("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712");
  const CgroupLimits limits = cgroup_limits(root_);
  EXPECT_EQ(limits.cpus, 0.5);
  ASSERT_EQ(limits.memory.size(), 1u) << "the mount's own group has no limit";
  EXPECT_EQ(limits.memory[0].limit_bytes, 4096);
}

TEST_F(CgroupLimitsTest, no_limit_is_no_figure) {
  put("/proc/self/mounts", "cgroup2 /sys/fs/cgroup cgroup2 rw 0 0\ncgroup /cpu cgroup rw,cpu 0 0");
  put("/proc/self/cgroup", "0::/\n1:cpu:/");
  put("/sys/fs/cgroup/cpu.max", "max 100000");
  put("/sys/fs/cgroup/memory.max", "max");
  put("/cpu/cpu.cfs_quota_us", "-1");
  put("/cpu/cpu.cfs_period_us", "100000");
  const CgroupLimits limits = cgroup_limits(root_);
  EXPECT_FALSE(limits.cpus);
  EXPECT_TRUE(limits.memory.empty());
  EXPECT_FALSE(cgroup_limits(root_ + "/nothing").cpus);
}

}  // namespace
}  // namespace halmark
