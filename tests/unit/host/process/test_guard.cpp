// The supervisor is killed at random instants, and so is its guard: whatever the contained process
// started, in sessions of its own, without our environment and deaf to signals, is ended.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>

#include "host/process/contained_process.hpp"
#include "host/process/descendants.hpp"
#include "host/process/leftovers.hpp"
#include "host/process/out_of_memory.hpp"

namespace halmark {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using testing::HasSubstr;

// Processes that are not zombies and have `mark` on their command line.
std::vector<pid_t> marked(const std::string& mark) {
  std::vector<pid_t> out;
  std::error_code gone;
  for (const auto& entry : fs::directory_iterator("/proc", gone)) {
    const std::string name = entry.path().filename().string();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    std::ifstream file(entry.path() / "cmdline", std::ios::binary);
    std::string text;
    std::getline(file, text, '\xff');  // an error of a process that is gone is no line
    if (text.find(mark) != std::string::npos && std::stoi(name) != ::getpid()) {
      out.push_back(std::stoi(name));
    }
  }
  return out;
}

// Nothing is left soon; what is, is ended here, so that a failure leaves nothing either. One look
// misses what is about to become another program, as long as the guard is still at it.
int survivors(const std::string& mark) {
  constexpr int looks = 5;
  const auto give_up = Clock::now() + std::chrono::seconds(10);
  for (int empty = 0; empty < looks && Clock::now() < give_up; ::usleep(2000)) {
    empty = marked(mark).empty() ? empty + 1 : 0;
  }
  const std::vector<pid_t> left = marked(mark);
  for (const pid_t pid : left) ::kill(pid, SIGKILL);
  return static_cast<int>(left.size());
}

// Double forks with setsid, one of them without any environment; all ignore what can be ignored.
ProcessSpec daemons(const std::string& mark, bool use_cgroup) {
  ProcessSpec spec;
  spec.program = "/bin/sh";
  spec.arguments = {
      "-c",
      "trap '' TERM HUP INT QUIT; "
      "(setsid env -i /bin/sh -c \"trap '' TERM HUP INT; sleep $0\" $0 >/dev/null 2>&1 &) ; "
      "(setsid /bin/sh -c \"trap '' TERM HUP INT; (setsid sleep $0 &) ; sleep $0\" $0 &) ; "
      "while :; do (setsid sleep $0 &) ; sleep 0.01; done",
      mark};
  spec.environment = {{"PATH", "/usr/bin:/bin"}};
  spec.use_cgroup = use_cgroup;
  return spec;
}

std::string fresh_mark(std::mt19937& random) {
  return "1000." + std::to_string(::getpid()) + std::to_string(random() % 1000000);
}

int kills_wanted() {
  const char* text = std::getenv("HALMARK_KILLS");
  return text != nullptr ? std::atoi(text) : 50;
}

// Starts daemons in a supervisor of their own, which dies when `live` has returned.
template <class Live>
void supervise_and_die(const std::string& mark, bool use_cgroup, Live live) {
  const pid_t supervisor = ::fork();
  if (supervisor == 0) {
    const auto process = ContainedProcess::start(daemons(mark, use_cgroup));
    for (;;) ::pause();
  }
  live();
  ::kill(supervisor, SIGKILL);
  ::waitpid(supervisor, nullptr, 0);
}

// From the start of a supervisor until something runs that it started.
std::chrono::microseconds time_to_daemons(const std::string& mark) {
  const auto begin = Clock::now();
  Clock::duration took{};
  supervise_and_die(mark, true, [&] {
    while (marked(mark).empty() && Clock::now() - begin < std::chrono::seconds(20)) ::usleep(500);
    took = Clock::now() - begin;
  });
  return std::chrono::duration_cast<std::chrono::microseconds>(took);
}

TEST(Guard, leaves_nothing_when_its_supervisor_is_killed_at_any_instant) {
  std::mt19937 random(14);
  const std::string first = fresh_mark(random);
  const auto soon = time_to_daemons(first);
  int with_daemons = 0, left = survivors(first);
  for (int i = 0; i < kills_wanted(); ++i) {
    const std::string mark = fresh_mark(random);
    // From before the guard runs to well after the daemons do.
    const std::int64_t life_us = static_cast<std::int64_t>(random()) %
                                 std::max<std::int64_t>(60'000, 4 * std::int64_t{soon.count()});
    supervise_and_die(mark, i % 2 == 0, [&] { ::usleep(static_cast<useconds_t>(life_us)); });
    with_daemons += marked(mark).empty() ? 0 : 1;
    left += survivors(mark);
  }
  EXPECT_EQ(left, 0);
  EXPECT_GT(with_daemons, kills_wanted() / 10) << "too few of them had started anything";
}

TEST(Guard, that_is_killed_leaves_its_charges_to_the_supervisor) {
  std::mt19937 random(15);
  const std::string mark = fresh_mark(random);
  ProcessSpec spec = daemons(mark, false);
  // What cleared its environment is known by its parents, while these live.
  spec.arguments[1] = "(setsid sleep $0 &) ; sleep $0";
  auto process = ContainedProcess::start(spec);
  const auto give_up = Clock::now() + std::chrono::seconds(20);
  while (marked(mark).size() < 4 && Clock::now() < give_up) ::usleep(1000);  // guard, shell, sleeps
  std::ifstream status("/proc/" + std::to_string(process->pid()) + "/status");
  pid_t guard = 0;
  for (std::string word; status >> word;) {
    if (word == "PPid:") status >> guard;
  }
  ASSERT_GT(guard, 1);
  ASSERT_NE(guard, ::getpid()) << "no guard stands between";
  ASSERT_EQ(::kill(guard, SIGKILL), 0);
  const auto cause = process->wait(protocol::deadline_after(20));
  ASSERT_TRUE(cause);
  EXPECT_EQ(cause->signal, SIGKILL);
  EXPECT_FALSE(cause->out_of_memory);
  EXPECT_THAT(cause->evidence, HasSubstr("guard"));
  EXPECT_TRUE(process->kill_all());
  EXPECT_EQ(survivors(mark), 0);
}

// Orphans that other cases made come to this process, some of them while they still end.
bool is_rid_of_children() {
  const auto give_up = Clock::now() + std::chrono::seconds(20);
  while (Clock::now() < give_up) {
    const pid_t found = ::waitpid(-1, nullptr, WNOHANG);
    if (found < 0) return true;
    if (found == 0) ::usleep(1000);
  }
  return false;
}

TEST(Guard, is_gone_with_its_charge) {
  ASSERT_TRUE(is_rid_of_children()) << "an earlier case left one that does not end";
  ProcessSpec spec;
  spec.program = "/bin/sh";
  spec.arguments = {"-c", "exit 0"};
  auto process = ContainedProcess::start(spec);
  ASSERT_TRUE(process->wait(protocol::deadline_after(20)));
  EXPECT_TRUE(process->kill_all());
  process.reset();
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1) << "a child is left";
}

pid_t sleeping(const std::string& mark, const std::string& tag) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    const char* const arguments[] = {"sleep", mark.c_str(), nullptr};
    const char* const environment[] = {"A=1", tag.c_str(), nullptr};
    ::execve("/bin/sleep", const_cast<char**>(arguments), const_cast<char**>(environment));
    ::_exit(1);
  }
  return pid;
}

// How many leftovers this process ended, two of them made here for it to find.
int ended_of_two(const std::string& mark) {
  const std::string ours = new_containment_tag();
  const std::string self = "-" + std::to_string(::getpid()) + "-";
  const auto with_pid = [&](const std::string& middle) {
    std::string tag = ours;
    const auto at = tag.find(self);
    const auto end = tag.rfind('-');
    return tag.substr(0, at) + middle + tag.substr(end);
  };
  const pid_t gone = sleeping(mark, with_pid("-2147483632-1"));
  const pid_t reused = sleeping(mark, with_pid(self + "1"));
  const pid_t alive = sleeping(mark, ours);
  const pid_t elsewhere = sleeping(mark, "HALMARK_CONTAINED=1-2147483632-1-ab");
  const auto give_up = Clock::now() + std::chrono::seconds(20);
  const auto is_over = [](pid_t pid) {
    siginfo_t info{};
    return ::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
                   info.si_pid == pid
               ? std::size_t{1}
               : std::size_t{0};
  };
  while (marked(mark).size() + is_over(gone) + is_over(reused) < 4 && Clock::now() < give_up) {
    ::usleep(1000);
  }
  const int ended = end_leftovers();
  for (const pid_t pid : {gone, reused}) {
    int status = 0;
    EXPECT_EQ(::waitpid(pid, &status, 0), pid);
    EXPECT_TRUE(WIFSIGNALED(status));
  }
  for (const pid_t pid : {alive, elsewhere}) {
    EXPECT_EQ(::kill(pid, 0), 0) << "its supervisor may live";
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
  }
  return ended;
}

// Where the guards were killed too: what carries the tag of a supervisor that is no more. Each
// process that begins to contain others ends leftovers of the whole machine and may have come
// before this one.
TEST(Leftovers, of_supervisors_that_are_gone_are_ended_and_no_others) {
  std::mt19937 random(16);
  int ended = 0;
  for (int i = 0; i < 20 && ended < 2; ++i) ended = ended_of_two(fresh_mark(random));
  EXPECT_GE(ended, 2) << "those of tests beside this one count too";
}

TEST(OomEvidence, decides_who_sent_a_kill) {
  EXPECT_TRUE(judge_kill({.in_group = 1, .limit_bytes = 64 << 20}).is_out_of_memory);
  EXPECT_THAT(judge_kill({.in_group = 1, .limit_bytes = 64 << 20}).text, HasSubstr("64 MiB"));
  // The group's own count stands, whatever else the kernel killed.
  EXPECT_FALSE(judge_kill({.in_group = 0, .at_start = 3, .at_end = 4}).is_out_of_memory);
  EXPECT_TRUE(judge_kill({.at_start = 3, .at_end = 4}).is_out_of_memory);
  EXPECT_FALSE(judge_kill({.at_start = 3, .at_end = 3}).is_out_of_memory);
  EXPECT_FALSE(judge_kill({}).is_out_of_memory);
  EXPECT_THAT(judge_kill({}).text, HasSubstr("counts no"));
}

}  // namespace
}  // namespace halmark
