// Who stems from a process: by session, by group, by parent, by a tag of the environment.
#include "host/process/descendants.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>

namespace halmark {
namespace {

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
