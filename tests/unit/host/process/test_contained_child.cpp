// What a contained child is started with, told by the child itself, and how its end is read.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>

#include "core/text/error.hpp"
#include "core/version.hpp"
#include "host/process/cgroup.hpp"
#include "host/process/contained_process.hpp"
#include "host/process/descendants.hpp"
#include "shell.hpp"
#include "tests/scoped_environment.hpp"

namespace halmark {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using Clock = std::chrono::steady_clock;

ExitCause cause_of(const std::string& script, bool is_launcher) {
  ProcessSpec spec = shell(script);
  spec.is_launcher = is_launcher;
  return end_of(spec);
}

std::filesystem::path scratch(const std::string& name) {
  const auto path = std::filesystem::path(testing::TempDir()) /
                    ("halmark_" + name + "_" + std::to_string(::getpid()));
  std::filesystem::remove(path);
  return path;
}

TEST(ContainedChild, has_bounded_files_no_core_and_is_the_first_to_be_killed_for_memory) {
  rlimit files{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &files), 0);
  const std::string most = std::to_string(std::min<rlim_t>(files.rlim_max, 4096));
  EXPECT_EQ(said(shell("ulimit -Hn; ulimit -Sn")), most + "\n" + most + "\n");
  EXPECT_EQ(said(shell("ulimit -Hc")), "0\n");
  EXPECT_EQ(said(shell("cat /proc/self/oom_score_adj")), "1000\n");
  ProcessSpec keeping = shell("ulimit -Hc");
  keeping.keep_core = true;
  rlimit core{};
  ASSERT_EQ(::getrlimit(RLIMIT_CORE, &core), 0);
  if (core.rlim_max == 0) GTEST_SKIP() << "this process may not dump either";
  EXPECT_NE(said(keeping), "0\n");
}

// Standard input under descriptor 3 too, whatever that was before.
class OpenAsThree {
 public:
  OpenAsThree() { is_open_ = ::dup2(STDIN_FILENO, 3) == 3; }
  ~OpenAsThree() {
    if (kept_ < 0) {
      ::close(3);
      return;
    }
    ::dup2(kept_, 3);
    ::close(kept_);
  }
  bool is_open() const { return is_open_; }

 private:
  const int kept_ = ::fcntl(3, F_DUPFD_CLOEXEC, 10);  // -1 where 3 is free
  bool is_open_ = false;
};

TEST(ContainedChild, reads_nothing_and_inherits_no_descriptor) {
  const OpenAsThree open;
  ASSERT_TRUE(open.is_open());
  // The listing itself has the folder open as 3.
  EXPECT_EQ(said(shell("cd /proc/self/fd; for f in 0 1 2 3 4 5; do [ -e $f ] && echo $f; done")),
            "0\n1\n2\n");
  EXPECT_EQ(said(shell("readlink /proc/self/fd/0")), "/dev/null\n");
}

TEST(ContainedChild, ignores_an_interrupt_and_dies_of_a_broken_pipe) {
  EXPECT_EQ(said(shell("kill -INT $$; echo alive")), "alive\n");
  struct sigaction before {};
  ::sigaction(SIGPIPE, nullptr, &before);
  ::signal(SIGPIPE, SIG_IGN);
  EXPECT_EQ(cause_of("kill -PIPE $$; exit 0", false).signal, SIGPIPE);
  ::sigaction(SIGPIPE, &before, nullptr);
}

TEST(ContainedChild, runs_on_the_cpus_that_it_is_given) {
  const int last = cut(1).front().cpus.back();
  ProcessSpec spec = shell("grep Cpus_allowed_list /proc/self/status");
  spec.cpus = CpuSet{{last}};
  EXPECT_EQ(said(spec), "Cpus_allowed_list:\t" + std::to_string(last) + "\n");
}

TEST(ContainedChild, has_no_signal_blocked) {
  sigset_t set, before;
  ::sigemptyset(&set);
  ::sigaddset(&set, SIGUSR1);
  ::sigprocmask(SIG_BLOCK, &set, &before);
  const std::string blocked = said(shell("grep SigBlk /proc/self/status"));
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
  EXPECT_EQ(blocked, "SigBlk:\t0000000000000000\n");
}

TEST(ContainedChild, carries_a_tag_of_its_own) {
  const std::string one = said(shell("echo $HALMARK_CONTAINED"));
  // Namespace, supervisor, its start, a random number: who is gone is known by them.
  const std::string supervisor =
      "-" + std::to_string(::getpid()) + "-" + std::to_string(start_ticks_of(::getpid()).value());
  EXPECT_THAT(one, HasSubstr(supervisor + "-"));
  EXPECT_NE(said(shell("echo $HALMARK_CONTAINED")), one);
}

TEST(ContainedChild, cannot_run_in_one_byte) {
  ProcessSpec spec = shell("exit 0");
  spec.use_cgroup = false;
  spec.memory_limit_bytes = 1;
  if (build_sanitizer[0] != '\0') GTEST_SKIP() << "address space is not bounded here";
  const ExitCause cause = end_of(spec);
  EXPECT_TRUE(cause.code != 0 || cause.signal != 0);
}

TEST(ContainedChild, comes_home_when_its_parent_is_gone) {
  ASSERT_EQ(::prctl(PR_SET_CHILD_SUBREAPER, 0), 0);
  auto process = ContainedProcess::start(shell("exit 0"));
  int is_reaper = 0;
  ASSERT_EQ(::prctl(PR_GET_CHILD_SUBREAPER, &is_reaper), 0);
  EXPECT_EQ(is_reaper, 1);
}

// Without a connection whose end it could notice.
TEST(ContainedChild, is_killed_when_its_parent_is) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t parent = ::fork();
  if (parent == 0) {
    ProcessSpec spec = shell("exec sleep 100");
    spec.use_cgroup = false;
    auto process = ContainedProcess::start(spec);
    const pid_t pid = process->pid();
    [[maybe_unused]] const auto written = ::write(ends[1], &pid, sizeof pid);
    // Until it sleeps: the signal is asked for before the program is run.
    const std::string name = "/proc/" + std::to_string(pid) + "/comm";
    for (std::string comm; comm != "sleep";) std::ifstream(name) >> comm;
    ::kill(::getpid(), SIGKILL);
  }
  pid_t child = 0;
  ASSERT_EQ(::read(ends[0], &child, sizeof child), static_cast<ssize_t>(sizeof child));
  ASSERT_EQ(::waitpid(parent, nullptr, 0), parent);
  const auto give_up = Clock::now() + std::chrono::seconds(20);
  while (::kill(child, 0) == 0 && Clock::now() < give_up) {
    ::waitpid(child, nullptr, WNOHANG);
    ::usleep(1000);
  }
  EXPECT_NE(::kill(child, 0), 0);
  ::kill(child, SIGKILL);
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST(ContainedChild, that_cannot_be_run_leaves_with_127) {
  const auto path = scratch("no_program");
  std::ofstream(path) << '\0';
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  ProcessSpec spec;
  spec.program = path.string();
  EXPECT_EQ(end_of(spec).code, 127);
  EXPECT_EQ(end_of(spec).text(), "exit code 127");
  std::filesystem::remove(path);
  spec.program = "/nonexistent/program";
  EXPECT_THROW(ContainedProcess::start(spec), Error);
}

TEST(ContainedEnd, of_a_launcher_is_the_signal_of_its_rank) {
  const struct {
    int exit;
    bool is_launcher;
    int signal, code;
  } ends[] = {{139, true, SIGSEGV, 0},
              {139, false, 0, 139},
              {129, true, SIGHUP, 0},
              {128, true, 0, 128},
              {128 + SIGRTMAX, true, SIGRTMAX, 0},
              {129 + SIGRTMAX, true, 0, 129 + SIGRTMAX}};
  for (const auto& [exit, is_launcher, signal, code] : ends) {
    const ExitCause cause = cause_of("exit " + std::to_string(exit), is_launcher);
    EXPECT_EQ(cause.signal, signal) << exit;
    EXPECT_EQ(cause.code, code) << exit;
  }
}

TEST(ContainedEnd, is_told_apart_from_a_kill_of_our_own) {
  auto ours = ContainedProcess::start(shell("exec sleep 100"));
  EXPECT_TRUE(ours->running());
  EXPECT_FALSE(ours->wait(protocol::deadline_after(0.01)));
  EXPECT_TRUE(ours->kill_all());
  EXPECT_TRUE(ours->kill_all()) << "and stays so";
  EXPECT_FALSE(ours->running());
  const auto killed = ours->wait(protocol::deadline_after(0));
  ASSERT_TRUE(killed);
  EXPECT_EQ(killed->signal, SIGKILL);
  EXPECT_TRUE(killed->killed_by_us);
  EXPECT_FALSE(killed->out_of_memory);
  auto theirs = ContainedProcess::start(shell("kill -KILL $$"));
  const auto died = theirs->wait(protocol::deadline_after(60));
  ASSERT_TRUE(died);
  EXPECT_EQ(died->signal, SIGKILL);
  EXPECT_FALSE(died->killed_by_us);
  EXPECT_TRUE(theirs->kill_all());
  EXPECT_FALSE(theirs->wait({})->killed_by_us) << "it was gone before";
  auto left = ended(shell("exit 3"));
  EXPECT_TRUE(left->kill_all());
  EXPECT_FALSE(left->wait({})->killed_by_us);
}

TEST(ContainedEnd, for_its_memory_is_neither_ours_nor_a_crash) {
  const CgroupPlaces& places = cgroup_places();
  if (places.memory_v1.empty() && !places.has_memory_v2) {
    GTEST_SKIP() << "no writable memory cgroup";
  }
  ProcessSpec spec = shell("exec tail /dev/zero");
  spec.memory_limit_bytes = 64 << 20;
  auto process = ContainedProcess::start(spec);
  const auto cause = process->wait(protocol::deadline_after(60));
  ASSERT_TRUE(cause);
  EXPECT_EQ(cause->signal, SIGKILL);
  EXPECT_TRUE(cause->out_of_memory);
  EXPECT_FALSE(cause->killed_by_us);
}

TEST(ContainedEnd, takes_what_the_child_left_behind_with_it) {
  for (const bool use_cgroup : {true, false}) {
    const auto pids = scratch("left_behind");
    ProcessSpec spec = shell("sleep 100 & echo $! > " + pids.string());
    spec.use_cgroup = use_cgroup;
    auto process = ended(spec);
    pid_t pid = 0;
    std::ifstream(pids) >> pid;
    ASSERT_GT(pid, 0);
    EXPECT_TRUE(start_ticks_of(pid));
    EXPECT_TRUE(process->kill_all());
    EXPECT_FALSE(start_ticks_of(pid)) << use_cgroup;
    std::filesystem::remove(pids);
  }
}

TEST(ContainedLog, is_left_alone_up_to_four_mebibytes) {
  const auto path = scratch("log");
  ProcessSpec spec = shell("head -c 4194304 /dev/zero");
  spec.log_path = path.string();
  auto process = ended(spec);
  process->trim_log();
  EXPECT_EQ(std::filesystem::file_size(path), 4u << 20);
  std::ofstream(path, std::ios::app) << 'x';
  process->trim_log();
  EXPECT_EQ(std::filesystem::file_size(path), 0u);
  EXPECT_EQ(process->log_tail().size(), 64u << 10);
  struct stat status {};
  ASSERT_EQ(::stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777u, 0600u);
  std::filesystem::remove(path);
}

TEST(ContainedLog, goes_on_behind_the_cut) {
  const auto go = scratch("go");
  auto process = ContainedProcess::start(
      shell("head -c 5000000 /dev/zero | tr '\\0' x; echo; echo before; while [ ! -e " +
            go.string() + " ]; do sleep 0.01; done; echo after"));
  const auto give_up = Clock::now() + std::chrono::seconds(60);
  while (!process->log_tail().ends_with("before\n") && Clock::now() < give_up) ::usleep(1000);
  const std::string before = process->log_tail();
  process->trim_log();
  std::ofstream(go) << 1;
  ASSERT_TRUE(process->wait(protocol::deadline_after(60)));
  EXPECT_EQ(process->log_tail(), before.substr(6) + "after\n");
  std::filesystem::remove(go);
}

TEST(ContainedLog, is_kept_in_memory_where_no_folder_takes_it) {
  const test::ScopedVariable nowhere("TMPDIR", "/proc");
  EXPECT_THAT(said(shell("head -c 5000000 /dev/zero; echo end")), EndsWith("end\n"));
}

TEST(ContainedLog, of_a_path_that_cannot_be_written_is_refused) {
  ProcessSpec spec = shell("exit 0");
  spec.log_path = "/nonexistent/folder/log";
  EXPECT_THROW(ContainedProcess::start(spec), Error);
}

TEST(Containment, is_as_good_as_the_groups_that_can_be_made) {
  const CgroupPlaces& places = cgroup_places();
  const ContainmentLevel expected = places.unified.empty() ? ContainmentLevel::none
                                    : places.has_memory_v2 ? ContainmentLevel::cgroup_v2
                                                           : ContainmentLevel::hybrid;
  EXPECT_EQ(containment_level(), expected);
  for (const auto& [level, means] : {std::pair(ContainmentLevel::none, "subreaper"),
                                     {ContainmentLevel::hybrid, "v1"},
                                     {ContainmentLevel::cgroup_v2, "v2"}}) {
    EXPECT_THAT(std::string(containment_text(level)), HasSubstr(means));
  }
}

}  // namespace
}  // namespace halmark
