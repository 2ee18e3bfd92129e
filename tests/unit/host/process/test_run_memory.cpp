// What a run may use, read from trees of files that stand for a machine and its control groups.
#include "host/process/run_memory.hpp"

#include <gmock/gmock.h>

#include "tests/unit/host/process/machine_tree.hpp"

namespace halmark {
namespace {

constexpr std::int64_t mib = 1 << 20;

class RunMemoryTest : public test::MachineTree {
 protected:
  RunMemoryTest() {
    put("/proc/meminfo", "MemTotal:       8388608 kB\nMemAvailable:   6291456 kB");
    put("/proc/self/mounts", "cgroup2 /sys/fs/cgroup cgroup2 rw 0 0");
    put("/proc/self/cgroup", "0::/pod/run");
  }
  void put_v2(const std::string& group, std::int64_t limit_mib, std::int64_t used_mib,
              std::int64_t inactive_mib) const {
    const std::string folder = "/sys/fs/cgroup" + group;
    put(folder + "/memory.max", std::to_string(limit_mib * mib));
    put(folder + "/memory.current", std::to_string(used_mib * mib));
    put(folder + "/memory.stat", "anon 17\ninactive_file " + std::to_string(inactive_mib * mib));
    put(folder + "/memory.swap.max", "max");
  }
};

TEST_F(RunMemoryTest, without_a_limit_is_what_the_machine_has_available) {
  const RunMemory memory = run_memory(root_);
  EXPECT_EQ(memory.machine_bytes, 8192 * mib);
  EXPECT_EQ(memory.limit_bytes, 8192 * mib);
  EXPECT_EQ(memory.free_bytes, 6144 * mib);
  EXPECT_EQ(memory.limited_by, "");
  EXPECT_EQ(memory.reserve_bytes(), 512 * mib) << "a sixteenth";
  EXPECT_EQ(memory.may_use_bytes(), 5632 * mib);
  EXPECT_EQ(memory.at_most_bytes(), 8192 * mib) << "as on every machine before there were limits";
  EXPECT_EQ(memory.worker_bytes(2), 2816 * mib);
  EXPECT_EQ(memory.worker_bytes(0), 5632 * mib);
  EXPECT_EQ(memory.text(),
            "5632 MiB of 8192 MiB (the machine's memory; 2048 MiB in use, 512 MiB kept free)");
}

// The group with the tightest limit need not be the one that has the least left.
TEST_F(RunMemoryTest, every_group_above_leaves_its_limit_minus_its_usage) {
  put_v2("/pod/run", 2048, 100, 0);
  put_v2("/pod", 4096, 3596, 200);
  const RunMemory memory = run_memory(root_);
  EXPECT_EQ(memory.limit_bytes, 2048 * mib);
  EXPECT_EQ(memory.limited_by, "/sys/fs/cgroup/pod/run");
  EXPECT_EQ(memory.free_bytes, 700 * mib) << "of the group above: page cache can be dropped";
  EXPECT_EQ(memory.reserve_bytes(), 128 * mib);
  EXPECT_EQ(memory.may_use_bytes(), 572 * mib);
  EXPECT_EQ(memory.at_most_bytes(), 1920 * mib);
  EXPECT_THAT(memory.text(),
              testing::HasSubstr("limit of /sys/fs/cgroup/pod/run; 1348 MiB in use"));
}

TEST_F(RunMemoryTest, swap_does_not_count_and_a_soft_limit_does) {
  put_v2("/pod/run", 4096, 0, 0);
  put("/sys/fs/cgroup/pod/run/memory.high", std::to_string(1024 * mib));
  put("/sys/fs/cgroup/pod/run/memory.swap.max", std::to_string(65536 * mib));
  EXPECT_EQ(run_memory(root_).free_bytes, 1024 * mib);
}

TEST_F(RunMemoryTest, version_1_is_read_with_what_lies_below_each_group) {
  put("/proc/self/mounts", "cgroup /sys/fs/cgroup/memory cgroup rw,memory 0 0");
  put("/proc/self/cgroup", "4:memory:/docker/a1\n1:cpu:/");
  put("/sys/fs/cgroup/memory/memory.limit_in_bytes", std::to_string(512 * mib));
  put("/sys/fs/cgroup/memory/memory.usage_in_bytes", std::to_string(300 * mib));
  put("/sys/fs/cgroup/memory/memory.stat",
      "inactive_file 0\ntotal_inactive_file " + std::to_string(100 * mib));
  const RunMemory memory = run_memory(root_);
  EXPECT_EQ(memory.limited_by, "/sys/fs/cgroup/memory") << "a container sees its own group there";
  EXPECT_EQ(memory.free_bytes, 312 * mib);
  EXPECT_EQ(memory.reserve_bytes(), 48 * mib) << "at least";
}

TEST_F(RunMemoryTest, a_limit_beyond_the_machine_limits_nothing) {
  put_v2("/pod", 65536, 100, 0);
  EXPECT_EQ(run_memory(root_).limited_by, "");
  EXPECT_EQ(run_memory(root_).free_bytes, 6144 * mib);
}

TEST_F(RunMemoryTest, nothing_left_is_no_negative_figure_and_a_worker_can_still_start) {
  put_v2("/pod/run", 512, 600, 0);
  const RunMemory memory = run_memory(root_);
  EXPECT_EQ(memory.free_bytes, 0);
  EXPECT_EQ(memory.may_use_bytes(), 0);
  EXPECT_EQ(memory.worker_bytes(4), 64 * mib);
  put("/sys/fs/cgroup/pod/memory.max", "max");
  put("/sys/fs/cgroup/pod/run/memory.oom.group", "1");
  EXPECT_TRUE(run_memory(root_).kills_whole_group);
  EXPECT_FALSE(memory.kills_whole_group);
}

TEST(RunMemory, of_this_machine_is_more_than_nothing) {
  const RunMemory memory = run_memory();
  EXPECT_GT(memory.machine_bytes, 0);
  EXPECT_LE(memory.free_bytes, memory.machine_bytes);
  EXPECT_LE(memory.limit_bytes, memory.machine_bytes);
}

}  // namespace
}  // namespace halmark
