// The harness itself: a test program that cannot see a failure proves nothing.
#include <gtest/gtest.h>

#include <csignal>

#include "process.hpp"

namespace halmark::integration {
namespace {

Launch shell(const std::string& script) { return {.arguments = {"/bin/sh", "-c", script}}; }

TEST(Harness, tells_exit_code_and_both_streams) {
  const Outcome o = run(shell("echo out; echo err >&2; exit 7"));
  EXPECT_EQ(o.exit_code, 7);
  EXPECT_EQ(o.signal, 0);
  EXPECT_EQ(o.out, "out\n");
  EXPECT_EQ(o.err, "err\n");
}

TEST(Harness, tells_the_signal_that_ended_a_process) {
  const Outcome o = run(shell("kill -9 $$"));
  EXPECT_EQ(o.signal, SIGKILL);
  EXPECT_EQ(o.exit_code, -1);
}

TEST(Harness, kills_what_outlives_its_limit) {
  Launch launch = shell("sleep 60");
  launch.limit_s = 0.2;
  const Outcome o = run(launch);
  EXPECT_TRUE(o.timed_out);
  EXPECT_EQ(o.signal, SIGKILL);
}

TEST(Harness, waits_for_lines_of_stderr) {
  Process process(shell("for i in 1 2 3; do echo step $i >&2; done; exec sleep 60"));
  EXPECT_TRUE(process.await_lines("step", 3));
  process.signal(SIGTERM);
  EXPECT_EQ(process.wait().signal, SIGTERM);
}

TEST(Harness, a_process_that_ends_early_is_not_waited_for) {
  Process process(shell("echo step >&2"));
  EXPECT_FALSE(process.await_lines("step", 2));
}

TEST(Harness, gives_stderr_a_terminal_of_the_asked_width) {
  Launch launch = shell("test -t 2 && stty size <&2");
  launch.terminal_columns = 40;
  const Outcome o = run(launch);
  EXPECT_EQ(o.exit_code, 0);
  EXPECT_EQ(o.out, "24 40\n");
  EXPECT_NE(run(shell("test -t 2")).exit_code, 0);
}

TEST(Harness, a_closed_reader_is_felt_by_the_writer) {
  Launch launch = shell("echo x; echo y");
  launch.closes_stdout = true;
  const Outcome o = run(launch);
  EXPECT_TRUE(o.signal == SIGPIPE || o.exit_code != 0);
}

}  // namespace
}  // namespace halmark::integration
