// What the parent learns of a contained child and what it takes from it: its end, its log, its
// memory.
// Who stems from a process: by session, by group, by parent, by a tag of the environment.
#include <gmock/gmock.h>

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>

#include "core/version.hpp"
#include "host/process/cgroup.hpp"
#include "host/process/contained_process.hpp"
#include "host/process/descendants.hpp"
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

// A child that sleeps after `prepare`, and tells when it has done so. Ended and waited for.
class Sleeper {
 public:
  template <class Prepare>
  explicit Sleeper(Prepare prepare) {
    std::array<int, 2> ready{};
    if (::pipe(ready.data()) != 0) throw std::runtime_error("pipe");
    pid_ = ::fork();
    if (pid_ == 0) {
      const pid_t told = prepare();
      if (::write(ready[1], &told, sizeof told) != sizeof told) ::_exit(1);
      for (;;) ::pause();
    }
    ::close(ready[1]);
    if (::read(ready[0], &told_, sizeof told_) != sizeof told_) told_ = -1;
    ::close(ready[0]);
  }
  ~Sleeper() {
    if (told_ > 0 && told_ != pid_) ::kill(told_, SIGKILL);
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  Sleeper(const Sleeper&) = delete;
  Sleeper& operator=(const Sleeper&) = delete;
  pid_t pid() const { return pid_; }
  pid_t told() const { return told_; }  // of a grandchild

 private:
  pid_t pid_ = 0, told_ = 0;
};

bool has(const std::vector<Descendant>& found, pid_t pid) {
  return std::ranges::any_of(found, [&](const Descendant& d) { return d.pid == pid; });
}

constexpr const char* no_tag = "HALMARK_NO_SUCH_TAG=1";
constexpr pid_t nobody = 0x7ffffff0;

TEST(DescendantsOf, a_leader_are_itself_its_group_its_session_and_their_children) {
  const Sleeper leader([] {
    ::setsid();
    const pid_t child = ::fork();
    if (child == 0) {
      ::setpgid(0, 0);  // another group of the same session
      for (;;) ::pause();
    }
    return child;
  });
  ASSERT_GT(leader.told(), 0);
  const auto found = find_descendants(leader.pid(), no_tag);
  EXPECT_TRUE(has(found, leader.pid()));
  EXPECT_TRUE(has(found, leader.told()));
  EXPECT_FALSE(has(found, ::getpid()));
  EXPECT_FALSE(has(found, ::getppid()));
}

TEST(DescendantsOf, a_group_are_its_members) {
  const Sleeper leader([] {
    ::setpgid(0, 0);
    return ::getpid();
  });
  const Sleeper member([&] {
    ::setpgid(0, leader.pid());
    return ::getpid();
  });
  const Sleeper other([] {
    ::setpgid(0, 0);
    return ::getpid();
  });
  const auto found = find_descendants(leader.pid(), no_tag);
  EXPECT_TRUE(has(found, leader.pid()));
  EXPECT_TRUE(has(found, member.pid()));
  EXPECT_FALSE(has(found, other.pid()));
}

// Its parent is gone, and its group is its own: only the session tells.
TEST(DescendantsOf, a_leader_are_those_of_its_session_whoever_their_parent_is) {
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  const Sleeper leader([] {
    ::setsid();
    std::array<int, 2> ends{};
    if (::pipe(ends.data()) != 0) ::_exit(1);
    const pid_t between = ::fork();
    if (between == 0) {
      const pid_t orphan = ::fork();
      if (orphan == 0) {
        ::setpgid(0, 0);
        for (;;) ::pause();
      }
      ::_exit(::write(ends[1], &orphan, sizeof orphan) == sizeof orphan ? 0 : 1);
    }
    pid_t orphan = 0;
    if (::read(ends[0], &orphan, sizeof orphan) != sizeof orphan) ::_exit(1);
    ::waitpid(between, nullptr, 0);
    return orphan;
  });
  ASSERT_GT(leader.told(), 0);
  const auto found = find_descendants(leader.pid(), no_tag);
  EXPECT_TRUE(has(found, leader.pid()));
  EXPECT_TRUE(has(found, leader.told()));
  ::kill(leader.told(), SIGKILL);
  ::waitpid(leader.told(), nullptr, 0);
}

// It leads neither a session nor a group.
TEST(DescendantsOf, a_process_are_itself_and_its_children) {
  const Sleeper parent([] {
    const pid_t child = ::fork();
    if (child == 0) {
      for (;;) ::pause();
    }
    return child;
  });
  const Sleeper other([] { return ::getpid(); });
  const auto found = find_descendants(parent.pid(), no_tag);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_TRUE(has(found, parent.pid()));
  EXPECT_TRUE(has(found, parent.told()));
}

TEST(DescendantsOf, nobody_are_none) { EXPECT_TRUE(find_descendants(nobody, no_tag).empty()); }

TEST(DescendantsOf, a_leader_come_with_the_time_of_their_start) {
  const Sleeper sleeper([] {
    ::setpgid(0, 0);
    return ::getpid();
  });
  const auto found = find_descendants(sleeper.pid(), no_tag);
  ASSERT_EQ(found.size(), 1u);
  // Field 22 of proc(5); the name of this program has neither space nor parenthesis.
  std::ifstream file("/proc/" + std::to_string(sleeper.pid()) + "/stat");
  std::string word;
  for (int field = 1; field <= 22; ++field) file >> word;
  EXPECT_EQ(std::to_string(found[0].start_ticks), word);
  EXPECT_EQ(start_ticks_of(sleeper.pid()), found[0].start_ticks);
  EXPECT_FALSE(start_ticks_of(nobody));
}

}  // namespace
}  // namespace halmark
