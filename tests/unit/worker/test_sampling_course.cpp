// One sampling in its order: what is warmed, poisoned, probed and taken, under a clock of which
// every reading takes 0.2 ms and every execution 1 us.
#include "worker/sampling.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/process/barrier.hpp"
#include "table_device.hpp"
#include "worker/request_failed.hpp"

namespace halmark::worker {
namespace {

using namespace protocol;
using test::of;
using test::outcome_at;
using test::state;
using test::TableDevice;
using test::together;
using testing::ElementsAre;

constexpr double reading_ns = 200'000, execution_ns = 1000;
const Problem copy = test::copy(640);

struct Bench {
  explicit Bench(bool has_events = false, std::uint32_t device_flags = 0)
      : device(copy, 0, has_events) {
    flags = device_flags;
    if (!has_events && device_flags == 0) make_asynchronous();
    kernel = device.stage(CacheMode::rotate_all, 2);
    device.clock.per_reading_ns = reading_ns;
    probes.remember_placement();
    state.on_enqueue = [this](const hm_launch& launch) -> std::int32_t {
      repeats.push_back(static_cast<std::int64_t>(launch.repeat));
      pending = static_cast<double>(launch.repeat);
      if (on_enqueue) on_enqueue(launch);
      return HM_OK;
    };
    state.on_wait = [this] {
      device.clock.now_ns += execution_ns * pending + extra_ns;
      state.elapsed_ns = elapsed_ns * pending;
      pending = 0;
    };
  }
  void make_asynchronous() {
    device.tables.device.describe = [](hm_plugin* p, std::uint32_t i, hm_device_info* info,
                                       hm_error* e) {
      const std::int32_t status = table_plugin::device_describe(p, i, info, e);
      info->flags = 0;
      return status;
    };
    device.reopen();
  }
  SampleResult run(const SampleRequest& request, CommonStart start = {}) {
    repeats.clear();
    phases.clear();
    return sample(*device.context, *kernel, request, start, probes,
                  [this](const char* phase) { phases.emplace_back(phase); });
  }
  std::uint32_t flags = 0;
  TableDevice device;
  MachineProbes probes{device.clock};
  std::unique_ptr<StagedKernel> kernel;
  std::vector<std::int64_t> repeats;  // of each enqueue
  std::vector<std::string> phases;
  std::function<void(const hm_launch&)> on_enqueue;
  double pending = 0, extra_ns = 0;
  double elapsed_ns = 700;  // what the device's clock says of an execution
};

constexpr std::uint32_t synchronous = HM_DEVICE_SYNCHRONOUS;

SampleRequest count_of(std::int64_t count, std::int64_t repeat) {
  SampleRequest request;
  request.id = 41;
  request.wall_cap_s = 600;
  request.rule.stop = Stop::count;
  request.rule.count = count;
  request.rule.repeat = repeat;
  request.rule.warmup_cap_s = 0;
  return request;
}

TEST(SamplingCourse, takes_as_many_as_were_asked_for_and_states_them_per_execution) {
  Bench bench(false, synchronous);
  const SampleResult result = bench.run(count_of(5, 4));
  EXPECT_THAT(bench.phases, ElementsAre("warm", "sample"));
  EXPECT_THAT(bench.repeats, ElementsAre(4, 4, 4, 4, 4));
  EXPECT_EQ(result.measured.id, 41);
  EXPECT_EQ(result.measured.repeat, 4);
  EXPECT_EQ(result.measured.samples, 5);
  EXPECT_EQ(result.measured.stop_rule, StopReason::count);
  EXPECT_EQ(result.measured.environment, bench.probes.environment());
  EXPECT_EQ(result.measured.signals.size(), 8u)
      << "a device that works in this thread has no slope";
  EXPECT_DOUBLE_EQ(result.measured.clock_hz.before.value(), 3 * 100'000 / reading_ns * 1e9);
  EXPECT_DOUBLE_EQ(result.measured.clock_hz.after.value(), 3 * 100'000 / reading_ns * 1e9);
  EXPECT_EQ(result.measured.peak_flops.before, result.measured.peak_flops.after);
  ASSERT_EQ(result.samples.size(), 5u);
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_DOUBLE_EQ(result.samples[i].wall_ns, (reading_ns + 4 * execution_ns) / 4);
    EXPECT_EQ(result.samples[i].set, 0) << "four executions go twice round two sets";
    EXPECT_NE(result.samples[i].label, SampleLabel::unlabelled);
  }
}

TEST(SamplingCourse, takes_one_sample_at_least_and_more_than_the_maximum_where_counted) {
  Bench bench(false, synchronous);
  EXPECT_EQ(bench.run(count_of(0, 1)).samples.size(), 1u);
  auto many = count_of(30, 1);
  many.rule.max_samples = 10;
  EXPECT_EQ(bench.run(many).samples.size(), 30u);
  auto automatic = count_of(0, 1);
  automatic.rule.stop = Stop::automatic;
  automatic.rule.max_samples = 0;
  EXPECT_EQ(bench.run(automatic).samples.size(), 1u);
  automatic.rule.max_samples = 12;
  automatic.rule.budget_s = 600;
  automatic.rule.ci_half_width = 1e-12;
  EXPECT_LE(bench.run(automatic).samples.size(), 12u);
}

TEST(SamplingCourse, poisons_outputs_between_the_warm_up_and_the_loop) {
  Bench bench(false, synchronous);
  auto request = count_of(3, 1);
  request.rule.warmup_cap_s = 0.5;
  std::vector<bool> poisoned;
  bench.on_enqueue = [&](const hm_launch& launch) {
    std::byte* out = of(launch.sets[0].buffers[1]).data;
    poisoned.push_back(
        std::all_of(out, out + 640, [](std::byte b) { return b == std::byte{255}; }));
    std::memset(out, 1, 640);
  };
  bench.run(request);
  ASSERT_EQ(poisoned.size(), 6u + 3);
  for (std::size_t i = 2; i < 6; ++i) EXPECT_FALSE(poisoned[i]) << "the warm-up goes on writing";
  EXPECT_TRUE(poisoned[6] && poisoned[7]) << "both sets";
  EXPECT_FALSE(poisoned[8]);
}

TEST(SamplingCourse, of_a_pilot_is_its_repeat) {
  Bench bench(false, synchronous);
  SampleRequest request;
  request.pilot_only = true;
  request.rule.repeat = 6;
  const SampleResult pilot = bench.run(request);
  EXPECT_TRUE(pilot.samples.empty());
  EXPECT_EQ(pilot.measured.stop_rule, StopReason::pilot);
  EXPECT_EQ(pilot.measured.repeat, 6);
  EXPECT_THAT(bench.phases, ElementsAre("warm"));
}

double value_of(const SampleResult& result, const std::string& name) {
  for (const Signal& signal : result.measured.signals) {
    if (signal.name == name) return signal.value.value_or(-1);
  }
  return -2;
}

// Each interval also has a launch of one reading and four further readings: all of that cancels.
TEST(SamplingCourse, of_a_device_ends_with_its_slopes) {
  Bench bench(true);
  const SampleResult result = bench.run(count_of(3, 8));
  EXPECT_NEAR(value_of(result, "slope_wall_ns"), execution_ns, 1e-6);
  EXPECT_NEAR(value_of(result, "slope_device_ns"), 700, 1e-6);
  EXPECT_EQ(result.measured.repeat, 8);
  ASSERT_EQ(bench.repeats.size(), 3u + 8 * 10) << "clocks that disagree are asked eight times";
  for (std::size_t i = 0; i < 80; ++i) {
    const std::int64_t once = 8 << std::min<std::size_t>(i / 10, 4);
    EXPECT_EQ(bench.repeats[3 + i], i % 10 < 5 ? once : 2 * once)
        << "longer each time, as far as a held queue takes them";
  }
  EXPECT_DOUBLE_EQ(result.samples.at(0).device_ns.value(), 700);
}

TEST(SamplingCourse, asks_clocks_that_agree_once) {
  Bench bench(true);
  bench.elapsed_ns = 0.96 * execution_ns;
  EXPECT_NEAR(value_of(bench.run(count_of(3, 8)), "slope_device_ns"), 960, 1e-6);
  EXPECT_EQ(bench.repeats.size(), 3u + 10);
}

// Both clocks see it when others keep the device from working: only tries tell that from a loop
// whose time is false.
TEST(SamplingCourse, asks_again_where_a_slope_is_above_the_loop) {
  for (const auto& [disturbed, slope, asked] :
       {std::tuple(0, 1.0, 10u), {20, 1.0, 30u}, {1000, 1.6, 80u}}) {
    Bench bench(true);
    int calls = 0;
    bench.on_enqueue = [&, last = 3 + disturbed](const hm_launch& launch) {
      const bool is_longer = ++calls > 3 && calls <= last && launch.repeat == 16;
      bench.extra_ns = is_longer ? 0.3 * execution_ns * 16 : 0;
      bench.elapsed_ns = is_longer ? 1.3 * execution_ns : execution_ns;
    };
    EXPECT_NEAR(value_of(bench.run(count_of(3, 8)), "slope_device_ns"), slope * execution_ns, 1e-6);
    EXPECT_EQ(bench.repeats.size(), 3 + asked);
  }
}

// Waking the thread that works takes up to 3 us more, another time more: of two executions, 2 us.
TEST(SamplingCourse, asks_for_slopes_of_intervals_that_are_long_beside_what_they_cost_once) {
  Bench bench(true);
  bench.device.clock.per_reading_ns = 10;
  bench.elapsed_ns = execution_ns;
  std::uint32_t seed = 7;
  bench.on_enqueue = [&](const hm_launch&) {
    seed = seed * 1664525 + 1013904223;
    bench.extra_ns = 3000.0 * (seed >> 8) / (1 << 24);
  };
  const SampleResult result = bench.run(count_of(3, 2));
  EXPECT_NEAR(value_of(result, "slope_wall_ns"), execution_ns, 30);
  EXPECT_GE(bench.repeats.back(), 200);
  EXPECT_EQ(result.measured.repeat, 2);
}

TEST(SamplingCourse, takes_the_shortest_of_five_intervals_for_a_slope) {
  Bench bench(true);
  bench.elapsed_ns = execution_ns;
  int calls = 0;
  bench.on_enqueue = [&](const hm_launch&) {
    // All but the third interval of either five are longer.
    const int at = ++calls - 3;
    bench.extra_ns = at == 3 || at == 8 ? 0 : 9000.0 * calls;
  };
  const SampleResult result = bench.run(count_of(3, 8));
  EXPECT_NEAR(value_of(result, "slope_wall_ns"), execution_ns, 1e-6);
}

TEST(SamplingCourse, of_a_device_without_events_has_no_slope_of_its_own) {
  Bench bench(false, 0);
  const SampleResult result = bench.run(count_of(3, 8));
  EXPECT_NEAR(value_of(result, "slope_wall_ns"), execution_ns, 1e-6);
  EXPECT_EQ(value_of(result, "slope_device_ns"), -1);
  const auto& signals = result.measured.signals;
  const auto slope = std::ranges::find(signals, "slope_device_ns", &Signal::name);
  ASSERT_NE(slope, signals.end());
  EXPECT_EQ(slope->reason, "the device keeps no time");
  EXPECT_EQ(signals.back().name, "request_ns");
  EXPECT_GT(signals.back().value, 3 * 8 * execution_ns)
      << "what the parent's clock is held against";
}

TEST(SamplingCourse, ends_at_the_wall_cap_and_lets_the_others_go) {
  Bench bench(false, synchronous);
  SharedBarrier barrier = SharedBarrier::create();
  auto request = count_of(100'000, 1);
  request.wall_cap_s = 0.1;
  const SampleResult result = bench.run(request, together(barrier));
  EXPECT_EQ(result.measured.stop_rule, StopReason::deadline);
  EXPECT_GT(result.samples.size(), 50u);
  EXPECT_LT(result.samples.size(), 500u);
  EXPECT_EQ(outcome_at(barrier), BarrierOutcome::aborted);
  SharedBarrier kept = SharedBarrier::create();
  bench.run(count_of(3, 1), together(kept));
  EXPECT_EQ(outcome_at(kept), BarrierOutcome::released);
}

TEST(SamplingCourse, is_over_when_the_others_are_gone) {
  Bench bench(true);
  SharedBarrier barrier = SharedBarrier::create();
  barrier.abort();
  const SampleResult result = bench.run(count_of(3, 1), together(barrier, 2));
  EXPECT_EQ(result.measured.stop_rule, StopReason::aborted);
  EXPECT_TRUE(result.samples.empty());
  EXPECT_NEAR(value_of(result, "slope_wall_ns"), execution_ns, 1e-6)
      << "alone, without the barrier";
}

TEST(SamplingCourse, that_the_plugin_fails_lets_the_others_go) {
  Bench bench(false, synchronous);
  SharedBarrier barrier = SharedBarrier::create();
  int calls = 0;
  state.on_enqueue = [&](const hm_launch&) -> std::int32_t {
    return ++calls == 4 ? HM_DEVICE_LOST : HM_OK;
  };
  const auto failed = test::failure_of([&] { bench.run(count_of(9, 1), together(barrier)); });
  EXPECT_EQ(failed.phase, "sample");
  EXPECT_EQ(failed.code, HM_DEVICE_LOST);
  EXPECT_EQ(outcome_at(barrier), BarrierOutcome::aborted);
}

}  // namespace
}  // namespace halmark::worker
