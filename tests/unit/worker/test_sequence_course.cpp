// Which buffers each step of a sequence is given, through which sets repetitions go, and how one
// ends; under a clock of which every reading takes 0.2 ms.
#include "worker/sequence.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/process/barrier.hpp"
#include "measure/probe/cpu_features.hpp"
#include "measure/probe/peak_paths.hpp"
#include "table_device.hpp"
#include "worker/request_failed.hpp"

namespace halmark::worker {
namespace {

using namespace protocol;
using test::copy;
using test::outcome_at;
using test::state;
using test::TableDevice;
using test::together;
using testing::ElementsAre;

constexpr double reading_ns = 200'000;
Problem gemm(std::int64_t m, Dtype dtype) {
  return {"gemm", halmark::test::written("m=? n=4 k=5 src_dtype=? wei_dtype=? dst_dtype=?", m,
                                         dtype, dtype, dtype)};
}

Problem add(std::int64_t columns, Dtype dtype = Dtype::f32) {
  return {"residual_add",
          halmark::test::written("rows=1 cols=? src_dtype=? dst_dtype=?", columns, dtype, dtype)};
}

struct Stack {
  TableDevice device{copy(64)};
  MachineProbes probes{device.clock};
  StagedKernels staged;
  std::vector<std::vector<hm_buffer*>> given;  // buffers of each execution
  Stack() {
    device.clock.per_reading_ns = reading_ns;
    probes.remember_placement();
  }
  StagedKernel& stage(std::int64_t id, const Problem& problem, int sets = 1) {
    state.problem = complete_problem(problem);
    device.kernels[0].op = problem.op;
    state.on_enqueue = nullptr;
    staged[id] = device.stage(CacheMode::rotate_all, sets);
    return *staged[id];
  }
  SequenceResult run(const SequenceRequest& request, CommonStart start = {}) {
    given.clear();
    if (!state.on_enqueue) {
      state.on_enqueue = [this](const hm_launch& launch) -> std::int32_t {
        given.emplace_back(launch.sets[0].buffers, launch.sets[0].buffers + launch.sets[0].count);
        return HM_OK;
      };
    }
    return run_sequence(*device.context, staged, request, start, probes, [](const char*) {});
  }
};

SequenceRequest request_of(std::vector<SequenceStep> steps, std::int64_t repeat,
                           std::int64_t warmup = 0) {
  return {.steps = std::move(steps), .repeat = repeat, .warmup = warmup, .wall_cap_s = 600};
}

TEST(SequenceCourse, goes_on_through_the_sets_from_the_warm_up_into_the_samples) {
  Stack stack;
  StagedKernel& a = stack.stage(1, copy(64), 3);
  StagedKernel& b = stack.stage(2, copy(128), 2);
  const auto run = stack.run(request_of({{1, 0, 1}, {2, 1, 0}, {1, 2, -1}}, 3, 2));
  EXPECT_EQ(run.measured.samples, 3);
  EXPECT_EQ(run.measured.stop_rule, StopReason::count);
  EXPECT_EQ(run.measured.environment, stack.probes.environment());
  ASSERT_EQ(stack.given.size(), 5u * 3);
  ASSERT_EQ(run.steps.size(), 3u * 3);
  for (std::size_t repetition = 0; repetition < 5; ++repetition) {
    const int set = static_cast<int>(repetition % 3);
    EXPECT_EQ(stack.given[3 * repetition], a.ring().handles(set)) << repetition;
    EXPECT_EQ(stack.given[3 * repetition + 1], b.ring().handles(1));
    EXPECT_EQ(stack.given[3 * repetition + 2], a.ring().handles(2)) << "it never goes back";
    if (repetition < 2) continue;
    EXPECT_EQ(run.steps[3 * (repetition - 2)].set, set);
    EXPECT_EQ(run.steps[3 * (repetition - 2) + 1].set, 1);
  }
}

// A step lasts from one reading to the next; where a chunk has ended another one lies between.
TEST(SequenceCourse, times_each_step_from_the_end_of_the_one_before) {
  Stack stack;
  stack.stage(1, copy(64));
  state.on_enqueue = [&](const hm_launch&) -> std::int32_t {
    stack.device.clock.now_ns += 1e6;
    return HM_OK;
  };
  const auto long_steps = stack.run(request_of({{1, 0}, {1, 0}}, 2)).steps;
  ASSERT_EQ(long_steps.size(), 4u);
  for (const TimedSample& step : long_steps) EXPECT_EQ(step.wall_ns, 1e6 + reading_ns);
  EXPECT_EQ(long_steps[1].begin_ns, long_steps[0].begin_ns + long_steps[0].wall_ns + reading_ns);
  state.on_enqueue = nullptr;
  const auto short_steps = stack.run(request_of({{1, 0}, {1, 0}}, 2)).steps;
  ASSERT_EQ(short_steps.size(), 4u);
  EXPECT_EQ(short_steps[0].wall_ns, reading_ns);
  EXPECT_EQ(short_steps[1].begin_ns, short_steps[0].begin_ns + reading_ns);
  for (const TimedSample& step : short_steps) EXPECT_NE(step.label, SampleLabel::unlabelled);
}

TEST(SequenceCourse, without_repetitions_only_warms_up) {
  Stack stack;
  stack.stage(1, copy(64));
  const auto run = stack.run(request_of({{1, 0}}, 0, 3));
  EXPECT_EQ(stack.given.size(), 3u);
  EXPECT_TRUE(run.steps.empty());
  EXPECT_FALSE(run.measured.clock_hz.before);
}

TEST(SequenceCourse, reports_its_two_phases) {
  Stack stack;
  stack.stage(1, copy(64));
  std::vector<std::string> phases;
  const auto request = request_of({{1, 0}}, 1);
  run_sequence(*stack.device.context, stack.staged, request, {}, stack.probes,
               [&](const char* phase) { phases.emplace_back(phase); });
  EXPECT_THAT(phases, ElementsAre("warm", "sample"));
}

TEST(SequenceCourse, refuses_what_is_not_staged) {
  Stack stack;
  stack.stage(1, copy(64), 2);
  const auto message = [&](SequenceStep step) {
    return test::failure_of([&] { stack.run(request_of({step}, 1)); }).message;
  };
  EXPECT_EQ(message({1, 1}), "accepted");
  EXPECT_EQ(message({7, 0}), "nothing is staged as 7");
  EXPECT_EQ(message({1, -1}), "set -1 of 2 staged as 1");
  EXPECT_EQ(message({1, 2}), "set 2 of 2 staged as 1");
}

// Each repetition takes 4 ms and a reading or more.
TEST(SequenceCourse, ends_at_the_wall_cap_and_lets_the_others_go) {
  Stack stack;
  stack.stage(1, copy(64));
  SharedBarrier barrier = SharedBarrier::create();
  auto request = request_of({{1, 0}}, 1000);
  request.wall_cap_s = 1;
  state.on_enqueue = [&](const hm_launch&) -> std::int32_t {
    stack.device.clock.now_ns += 4e6;
    return HM_OK;
  };
  const auto run = stack.run(request, together(barrier));
  EXPECT_EQ(run.measured.stop_rule, StopReason::deadline);
  EXPECT_GT(run.measured.samples, 100);
  EXPECT_LT(run.measured.samples, 250);
  EXPECT_EQ(run.steps.size(), static_cast<std::size_t>(run.measured.samples));
  EXPECT_EQ(outcome_at(barrier), BarrierOutcome::aborted);
}

TEST(SequenceCourse, of_which_the_time_is_over_before_it_begins_says_so) {
  Stack stack;
  stack.stage(1, copy(64));
  auto request = request_of({{1, 0}}, 5);
  request.wall_cap_s = 0;
  EXPECT_EQ(stack.run(request).measured.stop_rule, StopReason::deadline);
}

TEST(SequenceCourse, is_over_when_the_others_are_gone) {
  Stack stack;
  stack.stage(1, copy(64));
  SharedBarrier barrier = SharedBarrier::create();
  barrier.abort();
  const auto run = stack.run(request_of({{1, 0}}, 5, 1), together(barrier, 2));
  EXPECT_EQ(stack.given.size(), 1u) << "the warm-up needs nobody";
  EXPECT_EQ(run.measured.stop_rule, StopReason::aborted);
  EXPECT_EQ(run.measured.samples, 0);
}

TEST(SequenceCourse, fails_in_the_phase_in_which_the_plugin_does) {
  for (const int fails_at : {2, 4}) {
    Stack stack;
    stack.stage(1, copy(64));
    SharedBarrier barrier = SharedBarrier::create();
    int calls = 0;
    state.on_enqueue = [&](const hm_launch&) -> std::int32_t {
      return ++calls == fails_at ? HM_DEVICE_LOST : HM_OK;
    };
    const auto failed = test::failure_of([&] {
      stack.run(request_of({{1, 0}}, 5, 2), together(barrier));
    });
    EXPECT_EQ(failed.phase, fails_at == 2 ? "warm" : "sample");
    EXPECT_EQ(failed.code, HM_DEVICE_LOST);
    EXPECT_EQ(calls, fails_at);
    EXPECT_EQ(outcome_at(barrier), BarrierOutcome::aborted);
  }
}

double peak_of(Dtype dtype) {
  double flops = 0;
  for (const PeakPath& path : peak_paths()) {
    const bool is_allowed = path.isa != "avx512_core_amx" || request_amx_permission();
    if (path.dtype == dtype && is_allowed) flops = path.flops_per_iteration;
  }
  return flops * 2 / reading_ns * 1e9;  // 0.4 ms hold two readings
}

TEST(SequenceCourse, is_probed_in_the_type_in_which_most_is_multiplied) {
  Stack stack;
  stack.stage(1, gemm(2, Dtype::f32));
  stack.stage(2, gemm(9, Dtype::bf16));
  const auto run = stack.run(request_of({{1, 0}, {2, 0}, {1, 0}}, 1));
  EXPECT_DOUBLE_EQ(run.measured.peak_flops.before.value(), peak_of(Dtype::bf16));
  EXPECT_DOUBLE_EQ(run.measured.peak_flops.after.value(), peak_of(Dtype::bf16));
  EXPECT_DOUBLE_EQ(run.measured.clock_hz.before.value(), 3 * 100'000 / reading_ns * 1e9);
  EXPECT_DOUBLE_EQ(run.measured.clock_hz.after.value(), 3 * 100'000 / reading_ns * 1e9);
  EXPECT_EQ(run.measured.signals.size(), 7u);
  const auto empty = stack.run(request_of({}, 1));
  EXPECT_DOUBLE_EQ(empty.measured.peak_flops.before.value(), peak_of(Dtype::f32));
}

SequenceRequest chained(std::vector<SequenceStep> steps) {
  auto request = request_of(std::move(steps), 1);
  request.chains_activations = true;
  return request;
}

TEST(SequenceChain, gives_a_step_the_newest_outputs_of_its_size) {
  Stack stack;
  StagedKernel& a = stack.stage(1, add(16));
  StagedKernel& b = stack.stage(2, add(32));
  StagedKernel& c = stack.stage(3, add(16));
  StagedKernel& d = stack.stage(4, add(16));
  stack.run(chained({{1, 0}, {2, 0}, {3, 0}, {4, 0}}));
  ASSERT_EQ(stack.given.size(), 4u);
  EXPECT_EQ(stack.given[0], a.ring().handles(0));
  EXPECT_EQ(stack.given[1], b.ring().handles(0)) << "nothing of its size was written";
  EXPECT_THAT(stack.given[2],
              ElementsAre(a.ring().handles(0)[2], c.ring().handles(0)[1], c.ring().handles(0)[2]));
  EXPECT_THAT(stack.given[3],
              ElementsAre(c.ring().handles(0)[2], a.ring().handles(0)[2], d.ring().handles(0)[2]));
  stack.run(request_of({{1, 0}, {3, 0}}, 1));
  EXPECT_EQ(stack.given[1], c.ring().handles(0)) << "not chained";
}

TEST(SequenceChain, never_gives_a_step_its_own_output) {
  Stack stack;
  StagedKernel& a = stack.stage(1, add(16));
  stack.run(chained({{1, 0}, {1, 0}}));
  EXPECT_EQ(stack.given[1], a.ring().handles(0));
}

TEST(SequenceChain, asks_for_the_same_type_as_well) {
  Stack stack;
  stack.stage(1, gemm(2, Dtype::f32));
  StagedKernel& bytes = stack.stage(2, add(16, Dtype::bf16));
  stack.run(chained({{1, 0}, {2, 0}}));
  EXPECT_EQ(stack.given[1], bytes.ring().handles(0)) << "32 bytes, but not bytes";
}

TEST(SequenceChain, remembers_sixteen_outputs) {
  for (const int between : {15, 16}) {
    Stack stack;
    StagedKernel& first = stack.stage(0, add(16));
    std::vector<SequenceStep> steps = {{0, 0}};
    for (int i = 1; i <= between; ++i) {
      stack.stage(i, add(16 + 16 * i));
      steps.push_back({i, 0});
    }
    StagedKernel& last = stack.stage(99, add(16));
    steps.push_back({99, 0});
    stack.run(chained(steps));
    const auto& own = last.ring().handles(0);
    EXPECT_EQ(stack.given.back()[0], between == 15 ? first.ring().handles(0)[2] : own[0]);
  }
}

TEST(SequenceChain, follows_the_sets_of_its_steps) {
  Stack stack;
  StagedKernel& a = stack.stage(1, add(16), 3);
  StagedKernel& b = stack.stage(2, add(16));
  auto request = chained({{1, 0, 1}, {2, 0}});
  request.repeat = 3;
  stack.run(request);
  for (std::size_t i = 0; i < 3; ++i) {
    const auto& from = a.ring().handles(static_cast<int>(i));
    EXPECT_EQ(stack.given[2 * i], from);
    EXPECT_THAT(stack.given[2 * i + 1],
                ElementsAre(from[2], b.ring().handles(0)[1], b.ring().handles(0)[2]))
        << i;
  }
}

}  // namespace
}  // namespace halmark::worker
