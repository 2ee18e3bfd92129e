#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>
#include <vector>

#include "host/process/barrier.hpp"

namespace halmark {
namespace {

using namespace std::chrono_literals;

SharedBarrier map_again(const SharedBarrier& barrier) {
  return SharedBarrier::map(FileDescriptor(::dup(barrier.fd())));
}

TEST(Barrier, nobody_leaves_a_generation_before_everybody_has_arrived) {
#if defined(__SANITIZE_THREAD__)
  constexpr int parties = 3, generations = 50;  // each takes seconds beside others on two CPUs
#else
  constexpr int parties = 3, generations = 200;
#endif
  auto barrier = SharedBarrier::create();
  std::atomic<int> arrived{0};
  std::atomic<int> early{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < parties; ++i) {
    threads.emplace_back([&] {
      auto mine = map_again(barrier);
      for (int generation = 1; generation <= generations; ++generation) {
        arrived.fetch_add(1);
        EXPECT_EQ(mine.arrive_and_spin(parties, 30s), BarrierOutcome::released);
        if (arrived.load() < generation * parties) early.fetch_add(1);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(early.load(), 0);
  EXPECT_EQ(arrived.load(), parties * generations);
}

TEST(Barrier, works_between_processes) {
  auto barrier = SharedBarrier::create();
  const pid_t child = ::fork();
  if (child == 0) {
    auto mine = map_again(barrier);
    int released = 0;
    for (int i = 0; i < 50; ++i) {
      released += mine.arrive_and_spin(2, 30s) == BarrierOutcome::released;
    }
    ::_exit(released == 50 ? 0 : 1);
  }
  for (int i = 0; i < 50; ++i) EXPECT_EQ(barrier.arrive_and_spin(2, 30s), BarrierOutcome::released);
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST(Barrier, a_party_that_waits_too_long_releases_all_others_as_aborted) {
  auto barrier = SharedBarrier::create();
  EXPECT_EQ(barrier.arrive_and_spin(2, 5ms), BarrierOutcome::timed_out);
  EXPECT_EQ(map_again(barrier).arrive_and_spin(2, 30s), BarrierOutcome::aborted);
}

TEST(Barrier, an_abort_ends_a_wait_that_has_begun) {
  auto barrier = SharedBarrier::create();
  std::atomic<bool> waiting{false};
  BarrierOutcome outcome = BarrierOutcome::released;
  std::thread waiter([&] {
    auto mine = map_again(barrier);
    waiting = true;
    outcome = mine.arrive_and_spin(2, 30s);
  });
  while (!waiting) std::this_thread::yield();
  barrier.abort();
  waiter.join();
  EXPECT_EQ(outcome, BarrierOutcome::aborted);
}

TEST(Barrier, a_single_party_never_waits) {
  auto barrier = SharedBarrier::create();
  EXPECT_EQ(barrier.arrive_and_spin(1, 0ns), BarrierOutcome::released);
}

}  // namespace
}  // namespace halmark
