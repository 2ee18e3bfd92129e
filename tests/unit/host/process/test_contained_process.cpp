// What the parent learns of a contained child and what it takes from it: its end, its log, its
// memory.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "core/version.hpp"
#include "host/process/cgroup.hpp"
#include "host/process/contained_process.hpp"
#include "host/process/out_of_memory.hpp"
#include "host/process/program.hpp"
#include "shell.hpp"

namespace halmark {
namespace {

using testing::HasSubstr;

TEST(ContainedProcessTest, how_a_process_ended_is_told) {
  EXPECT_EQ(end_of(shell("exit 3")).code, 3);
  EXPECT_EQ(end_of(shell("exit 3")).signal, 0);
  const ExitCause killed = end_of(shell("kill -BUS $$"));
  EXPECT_EQ(killed.signal, SIGBUS);
  EXPECT_THAT(killed.text(), HasSubstr("Bus"));
}

// Above 4 MiB nothing but the tail is kept, byte for byte, and the child writes on behind it.
TEST(ContainedProcessTest, a_long_log_is_cut_to_its_tail_once) {
  auto process = ended(shell("head -c 5000000 /dev/zero | tr '\\0' x; echo; echo the last line"));
  const std::string before = process->log_tail();
  EXPECT_EQ(before.size(), 64u << 10);
  EXPECT_THAT(before, testing::EndsWith("x\nthe last line\n"));
  process->trim_log();
  EXPECT_EQ(process->log_tail(), before);
  process->trim_log();
  EXPECT_EQ(process->log_tail(), before) << "a short log is left alone";
}

TEST(ContainedProcessTest, its_data_is_bounded_where_nothing_else_bounds_its_memory) {
  ProcessSpec spec = shell("ulimit -Sd");
  spec.use_cgroup = false;

  EXPECT_EQ(said(spec), "unlimited\n");
  spec.memory_limit_bytes = std::int64_t{1} << 30;
  spec.limit_data = false;
  EXPECT_EQ(said(spec), "unlimited\n");
  spec.limit_data = true;
  EXPECT_EQ(said(spec), build_sanitizer[0] != '\0' ? "unlimited\n" : "1048576\n");
}

TEST(ContainedProcessTest, its_memory_is_bounded_by_the_best_that_there_is) {
  const CgroupPlaces& places = cgroup_places();
  const std::string_view means = memory_limit_means();
  if (places.has_memory_v2) {
    EXPECT_EQ(means, "cgroup v2");
  } else if (!places.memory_v1.empty()) {
    EXPECT_EQ(means, "cgroup v1");
  } else {
    EXPECT_THAT(means, testing::AnyOf("RLIMIT_DATA", "none: a sanitizer build"));
  }
}

TEST(ContainedProcessTest, a_launcher_has_the_memory_of_all_its_processes) {
  const CgroupPlaces& places = cgroup_places();
  if (places.memory_v1.empty() || places.has_memory_v2) GTEST_SKIP() << "not bounded by v1 here";
  // Of all groups of this process the one that the shell is in.
  ProcessSpec spec =
      shell("for group in " + places.memory_v1 + "/halmark-" + std::to_string(::getpid()) +
            "-*; do grep -qx $$ $group/cgroup.procs && "
            "cat $group/memory.limit_in_bytes; done");
  spec.memory_limit_bytes = 64 << 20;
  spec.processes = 3;
  const auto process = ended(spec);
  EXPECT_EQ(process->log_tail(), std::to_string(192 << 20) + "\n");
  EXPECT_EQ(process->memory_limit_bytes(), 64 << 20) << "of each";
}

// /proc/vmstat once more.
TEST(KernelOomKills, are_those_that_the_kernel_counts) {
  std::ifstream file("/proc/vmstat");
  std::optional<std::int64_t> by_hand;
  std::string key;
  for (std::int64_t value = 0; file >> key >> value;) {
    if (key == "oom_kill") by_hand = value;
  }
  const auto told = kernel_oom_kills();
  ASSERT_EQ(told.has_value(), by_hand.has_value());
  EXPECT_GE(told.value_or(0), by_hand.value_or(0));
}

TEST(OomEvidence, is_told_with_its_counts_and_its_limit) {
  EXPECT_EQ(judge_kill({.in_group = 2, .limit_bytes = 64 << 20}).text,
            "its control group counts 2 out-of-memory kills, limit 64 MiB");
  EXPECT_EQ(judge_kill({.in_group = 0}).text, "its control group counts no out-of-memory kill");
  EXPECT_EQ(judge_kill({.at_start = 3, .at_end = 5}).text,
            "the kernel's out-of-memory kills rose by 2 meanwhile");
  EXPECT_EQ(judge_kill({.at_start = 3, .at_end = 3}).text,
            "the kernel counted no out-of-memory kill meanwhile");
  EXPECT_FALSE(judge_kill({.at_start = 3}).is_out_of_memory);
  EXPECT_EQ(judge_kill({.at_end = 3}).text, "the kernel counts no out-of-memory kills here");
}

TEST(ProgramBeside, is_in_the_folder_of_this_program_or_in_bin) {
  namespace fs = std::filesystem;
  const fs::path self = fs::read_symlink("/proc/self/exe");
  EXPECT_EQ(program_beside(self.filename().string()), self.string());
  EXPECT_EQ(program_beside("hm-absent"), (self.parent_path() / "hm-absent").string());
}

// By hand it is of no use, and says so.
TEST(GuardProgram, is_started_by_halmark_alone) {
  for (const char* arguments : {"", " 0 0", " 0 0 0 /bin/true"}) {
    const auto process = ended(shell("exec " + program_beside("halmark-guard") + arguments));
    EXPECT_EQ(process->wait({})->code, 2) << arguments;
    EXPECT_EQ(process->log_tail(), "halmark-guard is started by halmark; run halmark instead\n");
  }
}

TEST(ContainedProcessTest, a_limit_of_its_data_can_be_lifted_while_it_runs) {
  if (build_sanitizer[0] != '\0') GTEST_SKIP() << "data is not bounded here";
  const std::string go = testing::TempDir() + "halmark_lift_" + std::to_string(::getpid());
  ::unlink(go.c_str());
  ProcessSpec spec =
      shell("ulimit -Sd; while [ ! -e " + go + " ]; do sleep 0.01; done; ulimit -Sd");
  spec.use_cgroup = false;
  spec.memory_limit_bytes = std::int64_t{1} << 30;
  auto process = ContainedProcess::start(spec);
  while (process->running() && process->log_tail().empty()) ::usleep(1000);
  ContainedProcess::lift_data_limit(process->pid());
  ::close(::open(go.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
  ASSERT_TRUE(process->wait(protocol::deadline_after(20)));
  EXPECT_EQ(process->log_tail(), "1048576\nunlimited\n");
  ::unlink(go.c_str());
}

}  // namespace
}  // namespace halmark
