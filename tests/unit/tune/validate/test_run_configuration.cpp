// One configuration on the device: what is refused before anything starts, and what a plugin that
// does not load or an interruption leaves.
// What a run of a stack is given of the time that there is: fewer and shorter turns before none.
// The sum of kernels that took turns with the run, against sums made by hand.
#include <gmock/gmock.h>

#include "core/numeric/cast.hpp"
#include "tests/checkout.hpp"
#include "tests/stopped.hpp"
#include "tests/unit/expect.hpp"
#include "tests/unit/tune/recorded_sweep.hpp"
#include "tune/validate/paired_composition.hpp"
#include "tune/validate/run_configuration.hpp"
#include "tune/validate/stack_turns.hpp"

namespace halmark::tune {
namespace {

using halmark::test::expect_error;
using test::decode_sweep;
using test::RecordedKernel;
using test::RecordedSweep;
using testing::HasSubstr;

ModelSpec spec() { return load_model("tiny-qwen3", {halmark::test::in_source("/tests/data")}); }

Configuration with_tp(int tp) {
  return {.model = spec().id,
          .parallel = {.tp = tp},
          .precision = Precision::uniform("f32", Dtype::f32),
          .workload = {Phase::decode, 1, 1, 16}};
}

Target two_cores() {
  Target out;
  out.cores = 2;
  out.memory_bytes = 1ll << 30;
  return out;
}

KernelMeasuring nowhere() {
  return {
      .backend = "cpu", .plugin_path = "/nowhere/hm_cpu.so", .plugin_hash = "00ff", .rounds = 1};
}

TEST(RunConfiguration, an_impossible_split_is_refused_with_its_reason_before_anything_starts) {
  KernelMeasuring measuring = nowhere();
  int rows = 0;
  measuring.sink = [&](const Measurement&) { ++rows; };
  expect_error([&] { run_configuration(spec(), with_tp(3), two_cores(), measuring, 0.1); },
               "tp_does_not_divide", ExitCode::refused);
  EXPECT_EQ(rows, 0);
}

TEST(RunConfiguration, experts_without_ranks_are_refused_with_what_to_add) {
  Configuration alone = with_tp(1);
  alone.parallel.ep = 2;
  ModelSpec experts =
      load_model("granite-3.1-1b-a400m", {halmark::test::in_source("/configs/models")});
  alone.model = experts.id;
  expect_error([&] { require_runnable(experts, alone, two_cores()); }, "add --dp 2 or --tp 2",
               ExitCode::refused);
}

// There is no such plugin: what was run is said to be oversubscribed all the same.
TEST(RunConfiguration, more_ranks_than_cores_are_run_and_never_measured) {
  KernelMeasuring measuring = nowhere();
  int rows = 0;
  measuring.sink = [&](const Measurement&) { ++rows; };
  Configuration four = with_tp(2);
  four.parallel.dp = 2;
  four.workload.batch = 2;
  const RunOutcome out = run_configuration(spec(), four, two_cores(), measuring, 0.1);
  EXPECT_EQ(rows, 0);
  EXPECT_FALSE(out.evaluation.estimate);
  EXPECT_EQ(out.evaluation.refusal, "oversubscribed");
  ASSERT_TRUE(out.validation);
  EXPECT_TRUE(out.validation->is_oversubscribed);
  EXPECT_THAT(out.validation->reason, HasSubstr("oversubscribed: 4 ranks on 2 cores; "));
  EXPECT_FALSE(out.validation->was_run());
  EXPECT_FALSE(two_cores().is_oversubscribed(2));
  EXPECT_EQ(two_cores().placement(4).parts, 2) << "ranks take turns on the parts";
  EXPECT_EQ(two_cores().placement(2).parts, 2);
}

TEST(RunConfiguration, kernels_that_failed_leave_a_reason_and_no_run_of_the_stack) {
  const RunOutcome out = run_configuration(spec(), with_tp(1), two_cores(), nowhere(), 0.1);
  EXPECT_FALSE(out.evaluation.estimate);
  EXPECT_FALSE(out.evaluation.reason.empty());
  EXPECT_EQ(out.evaluation.configuration.key(), with_tp(1).key());
  EXPECT_FALSE(out.validation);
}

TEST(RunConfiguration, an_interruption_leaves_neither_estimate_nor_run) {
  KernelMeasuring measuring = nowhere();
  measuring.stop = halmark::test::stopped();
  const RunOutcome out = run_configuration(spec(), with_tp(1), two_cores(), measuring, 0.1);
  EXPECT_FALSE(out.evaluation.estimate);
  EXPECT_FALSE(out.validation);
}

Estimate step_of(double seconds) { return {.step_ns = seconds * 1e9}; }

TEST(StackTurns, are_five_pairs_and_two_more_where_there_is_time) {
  const auto turns = turns_within(step_of(0.1), 1, 1000);
  ASSERT_TRUE(turns);
  EXPECT_EQ(turns->pairs, 5);
  EXPECT_EQ(turns->pairs_more, 2);
  EXPECT_DOUBLE_EQ(turns->block_s, 1);
  // Eight turns of the stack with a step before each, seven of the kernels, and two steps at first.
  EXPECT_DOUBLE_EQ(turns->run_s, 1.5 + 8 * 1.1 + 7 * 1 + 2 * 0.1);
}

TEST(StackTurns, become_shorter_then_fewer_and_never_cost_more_than_there_is) {
  double last_s = 1e9;
  int last_pairs = 7;
  for (double affordable_s = 30; affordable_s > 0; affordable_s -= 0.25) {
    const auto turns = turns_within(step_of(0.1), 1, affordable_s);
    if (!turns) {
      EXPECT_LT(affordable_s, cheapest_run_s(step_of(0.1), 1));
      continue;
    }
    EXPECT_LE(turns->run_s, affordable_s);
    EXPECT_LE(turns->run_s, last_s);
    EXPECT_LE(turns->pairs + turns->pairs_more, last_pairs);
    EXPECT_GE(turns->pairs, 3);
    last_s = turns->run_s;
    last_pairs = turns->pairs + turns->pairs_more;
  }
  EXPECT_EQ(last_pairs, 3);
}

// Five seconds alone: what is run is not the step of a stream.
TEST(StackTurns, of_a_pipeline_are_turns_of_the_step_that_stands_alone) {
  Estimate estimate = step_of(3);
  estimate.alone = {5e9, 5e9, 5e9};
  EXPECT_DOUBLE_EQ(cheapest_run_s(estimate, 1), 1.5 + 5 + 4 * 5 + 3 * 0.5);
}

TEST(StackTurns, include_the_staging_of_weights) {
  Estimate estimate = step_of(0.1);
  const double without_s = cheapest_run_s(estimate, 1);
  estimate.memory_bytes_total = 1'500'000'000;
  EXPECT_NEAR(cheapest_run_s(estimate, 1) - without_s, 3, 1e-9);
}

// One step of batch 1; kernel i of the sweep takes `row_ns(i)` an execution in its rows.
class Paired {
 public:
  explicit Paired(const std::function<double(std::size_t)>& row_ns)
      : sweep_(decode_sweep("[1]", "[\"latency\"]")) {
    sweep_.record([&](const RecordedKernel& k, Measurement& m) {
      m.duration_ns_median = row_ns(index_of(k.kernel_case));
    });
    sweep_.evaluations();
  }

  std::size_t index_of(const KernelCase& k) const {
    return as_size(std::ranges::find(sweep_.kernels(), k, &RecordedKernel::kernel_case) -
                   sweep_.kernels().begin());
  }
  const std::vector<RecordedKernel>& kernels() const { return sweep_.kernels(); }
  const Composer& composer() {
    return *sweep_.evaluator().composers().of(sweep_.configuration(1)).composer;
  }
  const LatencySource& source() { return sweep_.evaluator().source(); }

 private:
  RecordedSweep sweep_;
};

TEST(CarryingKernels, are_the_fewest_that_make_up_97_percent) {
  struct Case {
    double largest, second;  // shares of the step; the others share the rest
    std::size_t carrying;
  };
  for (const Case& c : {Case{0.96, 0.02, 2}, Case{0.975, 0.02, 1}, Case{0.60, 0.369, 3}}) {
    const auto share = [&](std::size_t i, std::size_t n) {
      const double rest = (1 - c.largest - c.second) / as_double(n - 2);
      return i == 1 ? c.largest : i == 3 ? c.second : rest;
    };
    RecordedSweep probe(decode_sweep("[1]", "[\"latency\"]"));
    const std::vector<RecordedKernel> kernels = probe.kernels();
    Paired paired(
        [&](std::size_t i) { return 1e9 * share(i, kernels.size()) / kernels[i].executions; });
    const CarryingKernels found = carrying_kernels(paired.composer(), paired.source());
    EXPECT_EQ(found.cases.size(), c.carrying);
    EXPECT_EQ(paired.index_of(found.cases[0]), 1u);
    EXPECT_GE(found.share, 0.97);
    EXPECT_LE(found.share, 1);
  }
}

// Kernel 1 beside the run, all others from their rows at 1000 ns.
struct Turn {
  double kernel_ns, stack_ns;
  bool is_apart = false;
};

Validation composed(Paired& paired, const std::vector<Turn>& turns) {
  const CarryingKernels beside{.cases = {paired.kernels()[1].kernel_case}, .share = 0.4};
  StackRunResult run{.status = Status::ok, .bytes_per_s = 4e10};
  for (const Turn& t : turns) run.pairs.push_back({t.stack_ns, {t.kernel_ns}, t.is_apart});
  Validation out{.measured_ns = 1};
  compose_pairs(paired.composer(), paired.source(), beside, run, out);
  return out;
}

TEST(PairedComposition, is_the_median_over_pairs_of_the_sum_over_its_run) {
  Paired paired([](std::size_t) { return 1000.0; });
  double others_ns = 0;
  for (const RecordedKernel& k : paired.kernels()) others_ns += 1000 * k.executions;
  const double executions = paired.kernels()[1].executions;
  others_ns -= 1000 * executions;
  const auto sum_ns = [&](double kernel_ns) { return others_ns + executions * kernel_ns; };
  // The machine halves and doubles its speed between pairs; within a pair both sides see it.
  std::vector<Turn> turns;
  const std::vector<double> errors{-0.02, 0.01, 0.10, 0.03, 0.0};
  const std::vector<double> kernel_ns{500, 2000, 1000, 4000, 700};
  for (std::size_t i = 0; i < errors.size(); ++i) {
    turns.push_back({kernel_ns[i], sum_ns(kernel_ns[i]) / (1 + errors[i])});
  }
  turns.push_back({9000, 1, true});
  const Validation v = composed(paired, turns);
  ASSERT_TRUE(v.composition) << v.composition_reason;
  EXPECT_NEAR(v.composition->error, 0.01, 1e-12);
  EXPECT_NEAR(v.composition->error_interval.low, -0.02, 1e-12);
  EXPECT_NEAR(v.composition->error_interval.high, 0.10, 1e-12);
  EXPECT_NEAR(v.composition->composed_ns, sum_ns(1000), 1e-6);
  EXPECT_EQ(v.composition->pairs, 5);
  EXPECT_EQ(v.composition->apart, 1);
  EXPECT_EQ(v.composition->paired_share, 0.4);
  EXPECT_EQ(v.composition->bytes_per_s, 4e10);
}

TEST(PairedComposition, counts_all_pairs_where_too_few_met_one_state) {
  Paired paired([](std::size_t) { return 1000.0; });
  const Turn kept{1000, 1e6}, apart{1000, 1e6, true};
  EXPECT_TRUE(composed(paired, {kept, apart, kept, kept}).composition);
  const auto unsteady = composed(paired, {kept, apart, apart, kept}).composition;
  ASSERT_TRUE(unsteady);
  EXPECT_FALSE(unsteady->in_one_state);
  EXPECT_EQ(unsteady->pairs, 4);
  EXPECT_EQ(unsteady->apart, 0);
  const auto steady = composed(paired, {kept, apart, apart, kept, kept}).composition;
  EXPECT_TRUE(steady->in_one_state);
  EXPECT_EQ(steady->pairs, 3);
  EXPECT_EQ(steady->apart, 2);
  const Validation v = composed(paired, {kept, apart});
  EXPECT_FALSE(v.composition);
  EXPECT_THAT(v.composition_reason, HasSubstr("2 pairs"));
}

}  // namespace
}  // namespace halmark::tune
