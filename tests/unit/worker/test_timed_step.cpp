// What one interval consists of, call by call, and which sets and lines it goes through.
#include "worker/timed_step.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/process/barrier.hpp"
#include "table_device.hpp"

namespace halmark::worker {
namespace {

using enum CacheMode;
using test::state;
using test::TableDevice;
using testing::ElementsAre;
using testing::IsEmpty;

const Problem copy = test::copy(640);

std::vector<std::string> calls_of(TimedStep& step) {
  state.calls.clear();
  step.execute();
  return state.calls;
}

TEST(TimedStep, goes_round_the_sets_by_as_many_as_it_executes) {
  TableDevice d(copy);
  const auto kernel = d.stage(rotate_all, 3);
  const auto step = make_timed_step(*d.context, *kernel, 2);
  std::vector<int> sets;
  std::vector<hm_buffer*> first;
  state.on_enqueue = [&](const hm_launch& launch) -> std::int32_t {
    EXPECT_EQ(launch.repeat, 2u);
    first.push_back(launch.sets[0].buffers[0]);
    return HM_OK;
  };
  for (int i = 0; i < 5; ++i) {
    int set = -1;
    ASSERT_TRUE(step->arrange(set));
    sets.push_back(set);
    ASSERT_TRUE(step->execute());
    EXPECT_EQ(first.back(), kernel->ring().handles(set)[0]);
  }
  EXPECT_THAT(sets, ElementsAre(0, 2, 1, 0, 2));
  EXPECT_EQ(step->repeat(), 2);
  EXPECT_EQ(step->launch_ns(), 0);
  EXPECT_EQ(step->repeat_max(), 1 << 20);
  EXPECT_FALSE(step->device_ns());
}

// The n-th interval marks the line at 17 n lines, around, of the outputs that it will write.
TEST(TimedStep, marks_another_line_of_the_outputs_that_it_will_write) {
  TableDevice d(copy);
  const auto kernel = d.stage(rotate_all, 3);
  const auto step = make_timed_step(*d.context, *kernel, 2);
  for (int interval = 1; interval <= 12; ++interval) {
    for (int set = 0; set < 3; ++set) std::memset(kernel->ring().buffer(set, 1).host(), 1, 640);
    int begin = -1;
    ASSERT_TRUE(step->arrange(begin));
    const int line = 17 * interval % 10;
    for (int set = 0; set < 3; ++set) {
      const bool is_written = set == begin || set == (begin + 1) % 3;
      const std::byte* bytes = kernel->ring().buffer(set, 1).host();
      for (int at = 0; at < 640; ++at) {
        const int expected = is_written && at / 64 == line ? 0xFF : 1;
        ASSERT_EQ(std::to_integer<int>(bytes[at]), expected) << interval << ' ' << set << ' ' << at;
      }
    }
  }
}

TEST(TimedStep, with_more_executions_than_sets_marks_each_once) {
  TableDevice d(copy);
  const auto kernel = d.stage(rotate_all, 2);
  const auto step = make_timed_step(*d.context, *kernel, 7);
  for (int set = 0; set < 2; ++set) std::memset(kernel->ring().buffer(set, 1).host(), 1, 640);
  int begin = -1;
  ASSERT_TRUE(step->arrange(begin));
  for (int set = 0; set < 2; ++set) {
    EXPECT_EQ(kernel->ring().buffer(set, 1).host()[7 * 64], std::byte{0xFF});
  }
}

TEST(TimedStep, flushes_and_waits_before_the_interval_in_the_mode_flush_alone) {
  TableDevice d(copy);
  const auto flushed = d.stage(flush, 1);
  const auto kernel = d.stage(hot, 1);
  int set = 0;
  state.calls.clear();
  EXPECT_TRUE(make_timed_step(*d.context, *kernel, 1)->arrange(set));
  EXPECT_THAT(state.calls, IsEmpty());
  EXPECT_TRUE(make_timed_step(*d.context, *flushed, 1)->arrange(set));
  EXPECT_THAT(state.calls, ElementsAre("flush", "wait"));
  state.wait = HM_DEVICE_LOST;
  const auto waiting = make_timed_step(*d.context, *flushed, 1);
  EXPECT_FALSE(waiting->arrange(set));
  EXPECT_EQ(waiting->error().status, HM_DEVICE_LOST);
  EXPECT_FALSE(waiting->lost_the_others());
  state.flush = HM_LAUNCH_FAILED;
  const auto flushing = make_timed_step(*d.context, *flushed, 1);
  EXPECT_FALSE(flushing->arrange(set));
  EXPECT_EQ(flushing->error().status, HM_LAUNCH_FAILED);
}

TEST(TimedStep, loses_the_others_where_their_barrier_is_given_up) {
  TableDevice d(copy);
  const auto kernel = d.stage(hot, 1);
  const auto step = make_timed_step(*d.context, *kernel, 1);
  SharedBarrier barrier = SharedBarrier::create();
  int set = 0;
  step->start_together(test::together(barrier));
  EXPECT_TRUE(step->arrange(set));
  EXPECT_FALSE(step->lost_the_others());
  barrier.abort();
  EXPECT_FALSE(step->arrange(set));
  EXPECT_TRUE(step->lost_the_others());
  EXPECT_TRUE(step->error().ok());
}

TEST(HostClockStep, enqueues_and_waits_and_keeps_the_error) {
  TableDevice d(copy);
  const auto kernel = d.stage(hot, 1);
  const auto step = make_timed_step(*d.context, *kernel, 1);
  EXPECT_THAT(calls_of(*step), ElementsAre("enqueue", "wait"));
  EXPECT_TRUE(step->error().ok());
  state.on_enqueue = test::launch_fails;
  EXPECT_FALSE(step->execute());
  EXPECT_EQ(step->error().status, HM_LAUNCH_FAILED);
}

TEST(DeviceEventStep, holds_the_stream_while_it_queues_up_to_256_executions) {
  TableDevice d(copy, 0, true);
  const auto kernel = d.stage(hot, 1);
  const auto step = make_timed_step(*d.context, *kernel, 256);
  state.elapsed_ns = 4200;
  d.clock.per_reading_ns = 100;
  EXPECT_THAT(calls_of(*step),
              ElementsAre("hold", "record", "enqueue", "record", "unhold", "wait"));
  EXPECT_EQ(step->launch_ns(), 100);
  EXPECT_EQ(step->device_ns(), 4200);
  EXPECT_EQ(step->repeat_max(), 128) << "twice as many are still held";
  step->set_repeat(257);
  EXPECT_THAT(calls_of(*step), ElementsAre("record", "enqueue", "record", "wait"));
  EXPECT_EQ(step->launch_ns(), 0);
  state.elapsed_ns = -1;
  EXPECT_FALSE(step->device_ns());
  EXPECT_EQ(step->error().status, lying_timer);
}

TEST(DeviceEventStep, does_not_hold_a_stream_on_which_the_kernel_waits) {
  TableDevice d(copy, 0, true);
  state.flags = HM_PREPARED_SYNCS_INSIDE;
  const auto kernel = d.stage(hot, 1);
  const auto step = make_timed_step(*d.context, *kernel, 1);
  EXPECT_THAT(calls_of(*step), ElementsAre("record", "enqueue", "record", "wait"));
  EXPECT_EQ(step->repeat_max(), 1 << 20);
}

TEST(DeviceEventStep, lets_go_of_the_stream_whatever_failed) {
  const auto failing = [](std::int32_t test::TableState::*entry) {
    TableDevice d(copy, 0, true);
    const auto kernel = d.stage(hot, 1);
    const auto step = make_timed_step(*d.context, *kernel, 1);
    state.*entry = HM_LAUNCH_FAILED;
    state.calls.clear();
    EXPECT_FALSE(step->execute());
    EXPECT_EQ(step->error().status, HM_LAUNCH_FAILED);
    return state.calls;
  };
  EXPECT_THAT(failing(&test::TableState::hold), ElementsAre("hold"));
  EXPECT_THAT(failing(&test::TableState::record), ElementsAre("hold", "record", "unhold"));
  EXPECT_THAT(failing(&test::TableState::unhold),
              ElementsAre("hold", "record", "enqueue", "record", "unhold"));
  EXPECT_THAT(failing(&test::TableState::wait),
              ElementsAre("hold", "record", "enqueue", "record", "unhold", "wait"));
}

}  // namespace
}  // namespace halmark::worker
