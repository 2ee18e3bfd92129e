// Two that share a CPU wait for one another.
#include "measure/sampling/run_delay.hpp"
#include "tests/scoped_environment.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>

namespace halmark {
namespace {

TEST(CpuWait, is_the_whole_time_of_two_that_share_a_cpu) {
  const test::ScopedAffinity together(sched_getcpu());
  const pid_t other = fork();
  if (other == 0) {
    alarm(10);  // should nobody be left to end it
    for (volatile unsigned turns = 0;;) turns = turns + 1;
  }
  const auto begin = std::chrono::steady_clock::now();
  const CpuWait wait(other);
  double took_ns = 0;
  while (took_ns < 2e8) {
    took_ns =
        std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count();
  }
  const auto waited_ns = wait.so_far_ns();
  kill(other, SIGKILL);
  waitpid(other, nullptr, 0);
  if (!waited_ns) GTEST_SKIP() << "this kernel counts no delay";
  // Others of this machine may keep both waiting.
  EXPECT_GT(*waited_ns, 0.5 * took_ns);
  EXPECT_LT(*waited_ns, 2.1 * took_ns);
}

TEST(CpuWait, is_not_known_of_a_process_that_is_not_there) {
  const CpuWait wait(0);
  EXPECT_FALSE(wait.so_far_ns());
}

}  // namespace
}  // namespace halmark
