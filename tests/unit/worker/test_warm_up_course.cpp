// Which executions a warm-up makes of a step whose length is written down, and with which repeat it
// leaves it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "table_device.hpp"
#include "worker/request_failed.hpp"
#include "worker/warm_up.hpp"

namespace halmark::worker {
namespace {

using namespace protocol;
using enum CacheMode;
using test::state;
using test::TableDevice;
using testing::Each;
using testing::ElementsAre;

const Problem copy = test::copy(640);

// Executions take what the script says of their interval, the last figure for all that follow.
class ScriptedStep : public TimedStep {
 public:
  ScriptedStep(TableDevice& d, StagedKernel& kernel, std::vector<double> execution_ns)
      : TimedStep(*d.context, kernel, 1), clock_(d.clock), execution_ns_(std::move(execution_ns)) {}
  bool execute() override {
    const std::size_t at = std::min(executed.size(), execution_ns_.size() - 1);
    executed.push_back(repeat_);
    clock_.now_ns += once_ns + execution_ns_[at] * static_cast<double>(repeat_);
    return true;
  }
  std::int64_t repeat_max() const override { return most; }
  std::vector<std::int64_t> executed;
  std::int64_t most = 1 << 20;
  double once_ns = 0;  // of every interval

 private:
  test::ManualClock& clock_;
  std::vector<double> execution_ns_;
};

struct Warmed {
  std::vector<std::int64_t> executed;
  std::int64_t repeat = 0;
  double expected_ns = 0;
};

void expect_warmed(const Warmed& got, const std::vector<std::int64_t>& executed,
                   std::int64_t repeat, double expected_ns) {
  EXPECT_EQ(got.executed, executed);
  EXPECT_EQ(got.repeat, repeat);
  EXPECT_DOUBLE_EQ(got.expected_ns, expected_ns);
}

Warmed warmed(std::vector<double> execution_ns, const SampleRequest& request = {}, int sets = 1,
              std::int64_t most = 1 << 20) {
  TableDevice d(copy);
  const auto kernel = d.stage(rotate_all, sets);
  ScriptedStep step(d, *kernel, std::move(execution_ns));
  step.most = most;
  const double expected_ns = warm_up(step, *kernel, request, d.clock);
  return {step.executed, step.repeat(), expected_ns};
}

TEST(WarmUpCourse, grows_until_a_quarter_of_a_sample_and_fills_it_then) {
  expect_warmed(warmed({1000}), {1, 4, 16, 50, 50, 50, 50, 50, 50}, 50, 50'000);
  const Warmed rounds = warmed({1000}, {}, 3);
  EXPECT_EQ(rounds.repeat, 51) << "whole rounds of three sets";
  EXPECT_DOUBLE_EQ(rounds.expected_ns, 51'000);
  EXPECT_EQ(warmed({3125}).executed.at(2), 16) << "4 x 3125 ns are a quarter of 50 us";
  EXPECT_EQ(warmed({3125}).repeat, 16);
  EXPECT_EQ(warmed({3124}).executed.at(3), 17) << "16 x 3124 ns were the first of a quarter";
}

TEST(WarmUpCourse, grows_no_further_than_can_be_queued) {
  expect_warmed(warmed({0}, {}, 1, 16), {1, 4, 16, 16, 16, 16, 16, 16, 16}, 16, 0);
  expect_warmed(warmed({0}, {}, 1, 15), {1, 4, 15, 15, 15, 15, 15, 15}, 15, 0);
}

TEST(WarmUpCourse, fits_the_repeat_again_when_it_is_warm) {
  expect_warmed(warmed({4000, 4000, 4000, 1000}), {1, 4, 13, 13, 13, 13, 13, 13, 50, 50, 50}, 50,
                50'000);
}

// Where 3 executions of 5 ns stand beside 1 us that every interval costs, one of them seems to take
// 338 ns, and 148 of them to fill a sample, of which they are 1.5 %.
TEST(WarmUpCourse, takes_no_cost_of_an_interval_for_that_of_its_executions) {
  TableDevice d(copy);
  const auto kernel = d.stage(hot, 1);
  ScriptedStep step(d, *kernel, {20'000, 5});
  step.once_ns = 1000;
  const double expected_ns = warm_up(step, *kernel, {}, d.clock);
  EXPECT_EQ(step.executed.at(1), 3) << "the first interval was disturbed";
  const double executions_ns = 5 * static_cast<double>(step.repeat());
  EXPECT_GE(executions_ns, 0.9 * 50'000) << step.repeat();
  EXPECT_NEAR(expected_ns, step.once_ns + executions_ns, 0.05 * executions_ns);
}

TEST(WarmUpCourse, keeps_a_repeat_that_is_given) {
  SampleRequest request;
  request.rule.repeat = 7;
  expect_warmed(warmed({1000}, request), {7, 7, 7, 7, 7, 7}, 7, 7000);
  request.rule.warmup_cap_s = 0;
  expect_warmed(warmed({1000}, request), {}, 7, 0);
}

// The first call takes as long as lies between two readings of the clock.
Warmed after_first_call(double first_ns, double warmup_cap_s) {
  TableDevice d(copy);
  d.clock.per_reading_ns = first_ns;
  const auto kernel = d.stage(hot, 1);
  d.clock.per_reading_ns = 0;
  ScriptedStep step(d, *kernel, {1000});
  step.set_repeat(9);
  SampleRequest request;
  request.rule.warmup_cap_s = warmup_cap_s;
  const double expected_ns = warm_up(step, *kernel, request, d.clock);
  return {step.executed, step.repeat(), expected_ns};
}

TEST(WarmUpCourse, of_a_slow_kernel_is_its_first_call) {
  expect_warmed(after_first_call(50e6, 0.05), {}, 1, 50e6);
  const Warmed short_of_the_cap = after_first_call(50e6, 0.0501);
  EXPECT_THAT(short_of_the_cap.executed, ElementsAre(1));
  EXPECT_EQ(short_of_the_cap.expected_ns, 1000);
  EXPECT_GT(after_first_call(49.9e6, 0.01).executed.size(), 1u);
}

TEST(WarmUpCourse, fails_with_the_error_of_the_plugin) {
  TableDevice d(copy);
  const auto kernel = d.stage(hot, 1);
  const auto step = make_timed_step(*d.context, *kernel, 1);
  const auto phase = [&](TimedStep& failing) {
    const auto failed = test::failure_of([&] { interval_ns(failing, d.clock); });
    return failed.phase + " " + std::to_string(failed.code);
  };
  EXPECT_EQ(phase(*step), " 0");
  state.on_enqueue = test::launch_fails;
  EXPECT_EQ(phase(*step), "warm " + std::to_string(HM_LAUNCH_FAILED));
  state.on_enqueue = nullptr;
  const auto flushed = d.stage(flush, 1);
  const auto flushing = make_timed_step(*d.context, *flushed, 1);
  state.flush = HM_DEVICE_LOST;
  EXPECT_EQ(phase(*flushing), "warm " + std::to_string(HM_DEVICE_LOST));
}

// Two ranks as far as the kernel is concerned.
struct Collective {
  TableDevice device{
      {"all_reduce", {{"bytes", 64}, {"ranks", 2}, {"dtype", static_cast<int>(Dtype::f32)}}}};
  hm_comm_api comm{};
  Communicator communicator;
  std::unique_ptr<StagedKernel> kernel;
  Collective() {
    comm.destroy = [](hm_comm*) {};
    communicator = Communicator(&comm, reinterpret_cast<hm_comm*>(&comm));
    device.kernels[0].collective = true;
    device.context->communicator = &communicator;
    kernel = device.stage(hot, 1);
  }
  Warmed warmed(const SampleRequest& request, std::vector<double> execution_ns) {
    ScriptedStep step(device, *kernel, std::move(execution_ns));
    const double expected_ns = warm_up(step, *kernel, request, device.clock);
    return {step.executed, step.repeat(), expected_ns};
  }
};

TEST(WarmUpCourse, of_a_collective_is_five_calls_whatever_they_take) {
  Collective ranks;
  ASSERT_TRUE(ranks.kernel->is_collective());
  SampleRequest request;
  expect_warmed(ranks.warmed(request, {9000, 1000, 2000, 3000, 4000}), {1, 1, 1, 1, 1}, 1, 3000);
  request.rule.repeat = 4;
  expect_warmed(ranks.warmed(request, {1000}), {4, 4, 4, 4, 4}, 4, 4000);
}

TEST(WarmUpCourse, of_a_collective_pilot_asks_for_half_a_millisecond_or_more) {
  Collective ranks;
  SampleRequest request;
  request.pilot_only = true;
  EXPECT_EQ(ranks.warmed(request, {1000}).repeat, 500);
  EXPECT_DOUBLE_EQ(ranks.warmed(request, {1000}).expected_ns, 1000);
  request.rule.repeat = 4;
  EXPECT_EQ(ranks.warmed(request, {1000}).repeat, 500);
  request.rule.min_sample_ns = 1e6;
  EXPECT_EQ(ranks.warmed(request, {1000}).repeat, 1000);
}

}  // namespace
}  // namespace halmark::worker
