// Which points of a front are confronted with a run, what that is predicted to take, and how a run
// is set against its estimate.
#include "core/numeric/cast.hpp"
#include "tune/validate/validate.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "tests/checkout.hpp"
#include "tests/unit/tune/recorded_sweep.hpp"

namespace halmark::tune {
namespace {

using test::decode_sweep;
using test::RecordedKernel;
using test::RecordedSweep;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

OperatorGraph graph_of(int pp) {
  const ModelSpec spec = load_model("tiny-qwen3", {halmark::test::in_source("/tests/data")});
  Configuration c;
  c.model = spec.id;
  c.parallel.pp = pp;
  c.precision = Precision::uniform("f32", Dtype::f32);
  c.workload = {Phase::decode, pp, 1, 128};
  return *build_graph(spec, c);
}

// What was run is the step that stands alone: that was said of it, and not the one of a stream.
TEST(Confront, a_pipeline_is_set_against_the_step_that_stands_alone) {
  const OperatorGraph graph = graph_of(3);
  Estimate estimate{.step_ns = 3300, .low_ns = 3000, .high_ns = 3900};
  StackRunResult alone{.status = Status::ok, .bubble_share = 0.4};
  alone.median_ns = 5000;
  EXPECT_EQ(confront(graph, estimate, alone).predicted_ns, 3300);
  estimate.alone = {5100, 4900, 5600};
  const Validation v = confront(graph, estimate, alone);
  EXPECT_EQ(v.predicted_ns, 5100);
  EXPECT_EQ(v.predicted_interval_ns.low, 4900);
  EXPECT_EQ(v.predicted_interval_ns.high, 5600);
  EXPECT_EQ(v.measured_ns, 5000);
  EXPECT_EQ(v.bubble_share, 0.4);
  EXPECT_NEAR(*v.prediction_error(), 0.02, 1e-12);
  EXPECT_FALSE(v.predicted_state);
}

// The interval of a run was said of a step in a stream; of one alone it is as wide, in shares.
TEST(Confront, the_interval_that_names_a_state_is_that_of_what_was_run) {
  const OperatorGraph graph = graph_of(3);
  Estimate estimate{.step_ns = 3000, .low_ns = 2000, .high_ns = 5000};
  estimate.run_interval =
      StateInterval{.state = {40e9, {}}, .step_ns = 3000, .memory_ns = 2400, .ns = {2700, 3300}};
  StackRunResult run{.status = Status::ok};
  run.median_ns = 3100;
  EXPECT_EQ(confront(graph, estimate, run).predicted_interval_ns.low, 2700);
  EXPECT_EQ(confront(graph, estimate, run).predicted_interval_ns.high, 3300);
  estimate.alone = {6000, 4000, 10000};
  const Validation v = confront(graph, estimate, run);
  ASSERT_TRUE(v.predicted_state);
  EXPECT_DOUBLE_EQ(v.predicted_state->step_ns, 6000);
  EXPECT_DOUBLE_EQ(v.predicted_state->memory_ns, 4800);
  EXPECT_DOUBLE_EQ(v.predicted_interval_ns.low, 5400);
  EXPECT_DOUBLE_EQ(v.predicted_interval_ns.high, 6600);
}

TEST(Confront, figures_are_those_of_the_run) {
  const OperatorGraph graph = graph_of(1);
  Estimate estimate{.step_ns = 3300, .low_ns = 3000, .high_ns = 3900};
  estimate.operators = {{.name = "q_proj", .ns = 100},
                        {.name = "never_run", .ns = 7},
                        {.name = "attention", .ns = 40},
                        {.name = "q_proj", .ns = 20}};
  StackRunResult run{.status = Status::suspect, .reason = "noisy"};
  run.median_ns = 1000;
  run.interval_ns = {900, 1200};
  run.operators = {{.name = "attention", .ns = 10},
                   {.name = "q_proj", .ns = 30},
                   {.name = "attention", .ns = 5},
                   {.name = "not_predicted", .ns = 9}};
  const Validation v = confront(graph, estimate, run);
  EXPECT_EQ(v.deployment_key, graph.configuration.key());
  EXPECT_EQ(v.predicted_ns, 3300);
  EXPECT_EQ(v.measured_ns, 1000);
  EXPECT_EQ(v.predicted_interval_ns.low, 3000);
  EXPECT_EQ(v.predicted_interval_ns.high, 3900);
  EXPECT_EQ(v.measured_interval_ns.low, 900);
  EXPECT_EQ(v.measured_interval_ns.high, 1200);
  EXPECT_EQ(v.status, Status::suspect);
  EXPECT_EQ(v.reason, "noisy");
  ASSERT_EQ(v.operators.size(), 2u) << "each name once, what was both predicted and run";
  EXPECT_EQ(v.operators[0].name, "q_proj");
  EXPECT_FALSE(v.operators[0].composed_ns) << "what was printed is no composition";
  EXPECT_EQ(v.operators[0].measured_ns, 30);
  EXPECT_EQ(v.operators[1].name, "attention");
  EXPECT_EQ(v.operators[1].measured_ns, 15);
}

TEST(Confront, ranks_that_share_cores_leave_no_error) {
  Validation v{.predicted_ns = 10, .measured_ns = 20, .composition = Composition{.error = 1}};
  EXPECT_TRUE(v.prediction_error());
  EXPECT_TRUE(v.composition_error());
  EXPECT_EQ(v.shown_ns(), 20);
  v.is_oversubscribed = true;
  EXPECT_FALSE(v.prediction_error());
  EXPECT_FALSE(v.composition_error());
  EXPECT_FALSE(v.shown_ns());
  EXPECT_TRUE(v.was_run()) << "it ran, and its outputs were right";
  EXPECT_FALSE(v.has_time());
  EXPECT_EQ(oversubscribed_text(4, 2), "oversubscribed: 4 ranks on 2 cores");
  EXPECT_EQ(oversubscribed_text(2, 1), "oversubscribed: 2 ranks on 1 core");
}

TEST(Confront, says_where_memory_ended) {
  StackRunResult run{.status = Status::ok};
  run.shared_instances = {"a", "b"};
  EXPECT_EQ(confront(graph_of(1), {}, run).reason, "memory ended: 2 kernels share weights");
  run.reason = "noisy";
  EXPECT_EQ(confront(graph_of(1), {}, run).reason, "noisy; memory ended: 2 kernels share weights");
}

// A front of `points` configurations, all of them run before: nothing is run now.
std::vector<std::int64_t> validated(std::size_t points, std::int64_t wanted) {
  std::string batches;
  for (std::size_t i = 1; i <= points; ++i) {
    batches += (i > 1 ? ", " : "[") + std::to_string(i);
  }
  RecordedSweep sweep(decode_sweep(batches + "]", "[\"latency\", \"throughput\"]"));
  const std::int64_t id =
      sweep.record_times([](std::int64_t batch, int) { return 1000 + as_double(batch) * 100; });
  TuneRun run{.id = id, .evaluations = sweep.evaluations()};
  for (std::size_t i = 0; i < points; ++i) {
    run.front.push_back(i);
    const Configuration& c = run.evaluations[i].configuration;
    sweep.store().append(id, Validation{.deployment_key = c.key(),
                                        .measured_ns = as_double(c.workload.batch),
                                        .measured_interval_ns = {1, 100}});
  }
  std::vector<std::size_t> done;
  validate_front(
      sweep.evaluator(),
      {.points = wanted,
       .budget_s = 0,
       .progress = [&](std::size_t at, std::size_t, const std::string&) { done.push_back(at); }},
      run);
  EXPECT_THAT(run.notes, IsEmpty());
  EXPECT_EQ(done.size(), run.validations.size());
  if (!done.empty()) {
    EXPECT_EQ(done.front(), 1u);
    EXPECT_EQ(done.back(), done.size());
  }
  std::vector<std::int64_t> out;
  for (const Evaluation& e : run.evaluations) {
    if (!e.measured_ns) continue;
    EXPECT_EQ(*e.measured_ns, as_double(e.configuration.workload.batch));
    EXPECT_EQ(e.measured_interval_ns.value().high, 100);
    out.push_back(e.configuration.workload.batch);
  }
  return out;
}

TEST(ValidateFront, points_are_spread_evenly_from_end_to_end) {
  EXPECT_THAT(validated(5, 0), ElementsAre(1, 2, 3, 4, 5));
  EXPECT_THAT(validated(5, 5), ElementsAre(1, 2, 3, 4, 5));
  EXPECT_THAT(validated(5, 9), ElementsAre(1, 2, 3, 4, 5));
  EXPECT_THAT(validated(5, 3), ElementsAre(1, 3, 5));
  EXPECT_THAT(validated(7, 4), ElementsAre(1, 3, 5, 7));
  EXPECT_THAT(validated(6, 2), ElementsAre(1, 6));
  EXPECT_THAT(validated(4, 1), ElementsAre(1));
}

TEST(ValidateFront, every_phase_has_a_run_before_one_has_a_second) {
  RecordedSweep sweep(decode_sweep("[1, 2, 3]", "[\"latency\"]"));
  const std::int64_t id = sweep.record_times([](std::int64_t, int) { return 1000.0; });
  TuneRun run{.id = id, .evaluations = sweep.evaluations(), .front = {0, 1, 2}};
  run.evaluations[2].configuration.workload.phase = Phase::prefill;
  for (const Evaluation& e : run.evaluations) {
    sweep.store().append(
        id, Validation{
                .deployment_key = e.configuration.key(), .measured_ns = 1, .status = Status::ok});
  }
  validate_front(sweep.evaluator(), {}, run);
  std::vector<std::string> keys;
  for (const Validation& v : run.validations) keys.push_back(v.deployment_key);
  EXPECT_THAT(keys, ElementsAre(run.evaluations[0].configuration.key(),
                                run.evaluations[2].configuration.key(),
                                run.evaluations[1].configuration.key()));
}

TEST(ValidateFront, a_run_that_failed_leaves_no_measured_time) {
  RecordedSweep sweep(decode_sweep("[1]", "[\"latency\"]"));
  const std::int64_t id = sweep.record_times([](std::int64_t, int) { return 1000.0; });
  TuneRun run{.id = id, .evaluations = sweep.evaluations(), .front = {0}};
  sweep.store().append(id, Validation{.deployment_key = run.evaluations[0].configuration.key(),
                                      .status = Status::crashed,
                                      .reason = "signal 11"});
  validate_front(sweep.evaluator(), {}, run);
  ASSERT_EQ(run.validations.size(), 1u);
  EXPECT_EQ(run.validations[0].status, Status::crashed);
  EXPECT_FALSE(run.evaluations[0].measured_ns);
}

// Predicted for three pairs: 1.5 s, the weights at 0.5 GB/s, four turns of the stack and
// three of the kernels of half a block. A step that is shorter is warmed up before its first and
// its every turn; a longer one fills its turns and is executed once before.
TEST(ValidateFront, what_the_budget_does_not_cover_is_named_with_its_cost) {
  for (const auto& [block_s, turns_s] : std::vector<std::pair<double, double>>{
           {0.5, 1 + 4 * 1 + 3 * 0.25}, {3, 2 + 4 * (1.5 + 1) + 3 * 1.5}}) {
    RecordedSweep sweep(decode_sweep("[1]", "[\"latency\"]"));
    const std::int64_t id = sweep.record([&](const RecordedKernel& k, Measurement& m) {
      m.duration_ns_median = 1e9 / as_double(sweep.kernels().size()) / k.executions;
    });
    TuneRun run{.id = id, .evaluations = sweep.evaluations(), .front = {0}};
    const Estimate& estimate = run.evaluations[0].estimate.value();
    ASSERT_NEAR(estimate.step_ns, 1e9, 1);
    const double predicted_s = 1.5 + as_double(estimate.memory_bytes_total) / 5e8 + turns_s;
    validate_front(sweep.evaluator(), {.budget_s = predicted_s - 0.001, .block_s = block_s}, run);
    EXPECT_THAT(run.notes,
                ElementsAre(fmt::format(
                    "not validated: {} would take {:.0f} s of the {:.0f} s left",
                    run.evaluations[0].configuration.key(), predicted_s, predicted_s - 0.001)));
    EXPECT_THAT(run.validations, IsEmpty());
    EXPECT_FALSE(run.evaluations[0].measured_ns);
  }
}

TEST(ValidateFront, a_run_within_the_budget_is_begun_and_its_end_stored) {
  RecordedSweep sweep(decode_sweep("[1]", "[\"latency\"]"));
  const std::int64_t id = sweep.record([&](const RecordedKernel&, Measurement& m) {
    m.duration_ns_median = 1000;
    m.wall_s = 0;
  });
  TuneRun run{.id = id, .evaluations = sweep.evaluations(), .front = {0}};
  validate_front(sweep.evaluator(), {.budget_s = 1.6, .block_s = 0.001}, run);
  EXPECT_THAT(run.notes, ElementsAre(HasSubstr("for 1 of the front's points; 2 s were forecast")))
      << "1.5 s, 1 MB of weights and turns of 1 ms";
  ASSERT_EQ(run.validations.size(), 1u) << "there is no such plugin: the run has failed";
  EXPECT_FALSE(has_latency(run.validations[0].status));
  EXPECT_FALSE(run.validations[0].reason.empty());
  EXPECT_EQ(sweep.store().rows<Validation>(id).size(), 1u);
  EXPECT_FALSE(run.evaluations[0].measured_ns);
}

}  // namespace
}  // namespace halmark::tune
