// What the parent learns of a contained child and what it takes from it: its end, its log, its
// memory.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include "core/version.hpp"
#include "host/process/contained_process.hpp"
#include "shell.hpp"

namespace halmark {
namespace {

using testing::HasSubstr;

TEST(ContainedProcessTest, how_a_process_ended_is_told) {
  ProcessSpec spec;
  spec.program = "/bin/sh";
  spec.arguments = {"-c", "exit 3"};
  auto exited = ContainedProcess::start(spec);
  auto cause = exited->wait(protocol::deadline_after(20));
  ASSERT_TRUE(cause);
  EXPECT_EQ(cause->code, 3);
  EXPECT_EQ(cause->signal, 0);
  spec.arguments = {"-c", "kill -BUS $$"};
  auto killed = ContainedProcess::start(spec);
  cause = killed->wait(protocol::deadline_after(20));
  ASSERT_TRUE(cause);
  EXPECT_EQ(cause->signal, SIGBUS);
  EXPECT_THAT(cause->text(), HasSubstr("Bus"));
}

// Above 4 MiB nothing but the tail is kept, byte for byte, and the child writes on behind it.
TEST(ContainedProcessTest, a_long_log_is_cut_to_its_tail_once) {
  ProcessSpec spec = shell("head -c 5000000 /dev/zero | tr '\\0' x; echo; echo the last line");
  auto process = ContainedProcess::start(spec);
  ASSERT_TRUE(process->wait(protocol::deadline_after(60)));
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
  const auto said = [](const ProcessSpec& asked) {
    auto process = ContainedProcess::start(asked);
    EXPECT_TRUE(process->wait(protocol::deadline_after(20)));
    return process->log_tail();
  };
  EXPECT_EQ(said(spec), "unlimited\n");
  spec.memory_limit_bytes = std::int64_t{1} << 30;
  spec.limit_data = false;
  EXPECT_EQ(said(spec), "unlimited\n");
  spec.limit_data = true;
  EXPECT_EQ(said(spec), build_sanitizer[0] != '\0' ? "unlimited\n" : "1048576\n");
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
