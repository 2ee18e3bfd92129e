// Whole stacks of steps in a worker.
#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "fake_worker.hpp"
#include "kernels/contract.hpp"
#include "kernels/inputs.hpp"
#include "tests/unit/kernels/written.hpp"

namespace halmark {
namespace {

using test::expect_product;

using test::FakeWorker;
using test::gemm;
using test::sequence_of;
using test::small_stage;
using test::stage_of;
using test::written;

TEST(WorkerSequence, times_every_step_and_gives_the_outputs_of_its_steps) {
  FakeWorker worker("latency_ns=100000", 8 << 20);
  const Problem problem = gemm(3, 4, 5);
  ASSERT_TRUE(worker->stage(stage_of(1, problem, CacheMode::rotate_const, 2)));
  ASSERT_TRUE(worker->stage(
      stage_of(2, {"residual_add", written("rows=2 cols=8 src_dtype=f32 dst_dtype=f32")},
               CacheMode::rotate_const, 1)));
  auto run = worker->sequence(sequence_of({{1, 0}, {2, 0}, {1, 1}}, 4, 1));
  ASSERT_TRUE(run) << run.failure.reason;
  ASSERT_EQ(run->steps.size(), 4u * 3);
  EXPECT_EQ(run->measured.samples, 4);
  double end_ns = 0;
  for (const TimedSample& step : run->steps) {
    EXPECT_GE(step.wall_ns, 100'000);
    EXPECT_GE(step.begin_ns, end_ns);
    end_ns = step.begin_ns + step.wall_ns;
    EXPECT_NE(step.label, SampleLabel::unlabelled);
  }
  EXPECT_EQ(run->steps[2].set, 1);
  auto shown = worker->reveal({1, {0, 1}});
  ASSERT_TRUE(shown);
  expect_product(problem, *shown, 1, 0);
}

TEST(WorkerSequence, repetitions_go_on_through_the_argument_sets) {
  FakeWorker worker("latency_ns=1000", 8 << 20);
  ASSERT_TRUE(worker->stage(stage_of(1, gemm(3, 4, 5), CacheMode::rotate_const, 5)));
  ASSERT_TRUE(worker->stage(stage_of(2, gemm(3, 5, 4), CacheMode::rotate_const, 3)));
  for (const bool chains : {false, true}) {
    auto request = sequence_of({{1, 0, 2}, {1, 1, 2}, {2, 1}}, 4);
    request.chains_activations = chains;
    const auto run = worker->sequence(request);
    ASSERT_TRUE(run) << run.failure.reason;
    std::vector<int> sets;
    for (const TimedSample& step : run->steps) sets.push_back(step.set);
    EXPECT_EQ(sets, (std::vector<int>{0, 1, 1, 2, 3, 1, 4, 0, 1, 1, 2, 1}));
  }
}

// Chunks of half a millisecond: what lost its CPU is labelled, what lies in other chunks is not.
TEST(WorkerSequence, steps_that_lost_their_cpu_are_labelled) {
  FakeWorker worker("latency_ns=1000000;nap=enqueue;nap_every=5;nap_ns=3000000");
  ASSERT_TRUE(worker->stage(small_stage()));
  const auto run = worker->sequence(sequence_of({{1, 0}, {1, 0}}, 20));
  ASSERT_TRUE(run) << run.failure.reason;
  int napped = 0;
  for (const TimedSample& step : run->steps) {
    if (step.wall_ns < 3.5e6) continue;
    ++napped;
    EXPECT_EQ(step.label, SampleLabel::disturbed) << step.wall_ns;
  }
  EXPECT_GE(napped, 7);
}

// The first call on which the device may be lost without anybody noticing.
std::int64_t calls_of(std::int64_t warmup, std::int64_t repeat) {
  for (std::int64_t lost_at = 3; lost_at < 40; ++lost_at) {
    FakeWorker worker("device_lost_at=" + std::to_string(lost_at));
    if (!worker->stage(small_stage())) continue;
    if (!worker->stage(stage_of(2, gemm(2, 3, 2), CacheMode::hot, 1))) continue;
    if (worker->sequence(sequence_of({{1, 0}, {2, 0}}, repeat, warmup))) return lost_at;
  }
  return -1;
}

TEST(WorkerSequence, executes_every_step_as_often_as_it_is_warmed_and_repeated) {
  const std::int64_t least = calls_of(0, 1);
  ASSERT_GT(least, 0);
  EXPECT_EQ(calls_of(0, 3), least + 2 * 2);
  EXPECT_EQ(calls_of(1, 1), least + 2 * 1);
  EXPECT_EQ(calls_of(3, 2), least + 2 * 4);
}

// A router's choice has the type and size of the table that dispatch is given. Chained, it would
// send the rows elsewhere than the FLOPs and bytes of the problem say.
TEST(WorkerSequence, a_given_routing_is_not_replaced_by_the_output_of_an_earlier_step) {
  FakeWorker worker;
  const Problem route =
      complete_problem({"moe_route", written("tokens=6 experts=6 top_k=2 src_dtype=f32")});
  const Problem dispatch =
      complete_problem({"moe_dispatch", written("tokens=6 experts=6 top_k=2 hidden=8 dtype=f32")});
  ASSERT_TRUE(worker->stage(stage_of(1, route, CacheMode::hot, 1)));
  ASSERT_TRUE(worker->stage(stage_of(2, dispatch, CacheMode::hot, 1)));
  auto request = sequence_of({{1, 0}, {2, 0}}, 1);
  request.chains_activations = true;
  const auto run = worker->sequence(request);
  ASSERT_TRUE(run) << run.failure.reason;

  const OpContract& contract = *find_contract("moe_dispatch");
  const auto operands = contract.operands(dispatch.params);
  const GeneratedInputs inputs(7, operands, 0);
  std::vector<std::int64_t> elements(static_cast<std::size_t>(operands[2].elements()));
  std::iota(elements.begin(), elements.end(), std::int64_t{0});
  std::vector<Expected> expected(elements.size());
  contract.reference(dispatch.params, inputs, 0, 2, elements, expected);
  const auto chosen = worker->reveal({1, {0}}), moved = worker->reveal({2, {0}});
  ASSERT_TRUE(chosen && moved);
  const auto choice = chosen->part(chosen->revealed.parts[0]);
  bool differs = false;
  for (std::size_t i = 0; i < 12; ++i) {
    const double picked = load_element(Dtype::s32, choice.data(), static_cast<std::int64_t>(i));
    differs = differs || picked != static_cast<double>(operands[1].given->get()[i]);
  }
  EXPECT_TRUE(differs) << "else this test shows nothing";
  const auto rows = moved->part(moved->revealed.parts[0]);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(load_element(Dtype::f32, rows.data(), elements[i]), expected[i].value) << i;
  }
}

TEST(WorkerSequence, the_wall_cap_keeps_whole_repetitions) {
  FakeWorker worker("latency_ns=2000000");
  ASSERT_TRUE(worker->stage(small_stage()));
  auto request = sequence_of({{1, 0}, {1, 0}}, 100'000);
  request.wall_cap_s = 0.05;
  auto run = worker->sequence(request);
  ASSERT_TRUE(run) << run.failure.reason;
  EXPECT_EQ(run->measured.stop_rule, protocol::StopReason::deadline);
  EXPECT_EQ(run->steps.size(), 2 * static_cast<std::size_t>(run->measured.samples));
  EXPECT_LE(run->measured.samples, 13);
}

}  // namespace
}  // namespace halmark
