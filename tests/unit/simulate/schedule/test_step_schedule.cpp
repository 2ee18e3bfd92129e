// Simulated steps against what knows nothing of events: the sum of a step, closed forms of
// pipelines and collectives.

#include "core/numeric/cast.hpp"
#include "model/pricing/composer.hpp"
#include "schedule_fixtures.hpp"
#include "simulate/group_levels.hpp"

namespace halmark::schedule {
namespace {

using model_test::decode;
using model_test::prefill;
using test::layers_alone;
using test::leaf;
using test::simulated;
using test::step_of;
using test::times_of;

// By the problem alone, so that whoever prices kernels of the same problem gives the same.
double problem_ns(const Problem& problem) {
  return 100 + as_double(std::hash<std::string>()(problem.text()) % 10000);
}

double sum_ns(const PricedStep& step) {
  const Composer composer(step.graph, {.backend = "none", .mode = CacheMode::rotate_const}, {});
  KernelTable table;
  const StepSum sum = composer.compile(table);
  std::vector<KernelTime> times;
  for (const KernelCase& kernel : table.cases()) {
    const double ns = problem_ns(kernel.problem);
    times.push_back({ns, ns, ns, 0, true});
  }
  return evaluate(sum, times).time.ns;
}

TEST(StepSchedule, without_a_pipeline_it_is_the_sum_of_the_step) {
  for (const Configuration& c :
       {decode(4, 64), prefill(2, 8, 8), decode(4, 64, {.tp = 2}), prefill(8, 8, 8, {.dp = 2})}) {
    const PricedStep step = step_of(c);
    const auto times = times_of(step, [](const Operator& op) { return problem_ns(op.local); });
    EXPECT_NEAR(simulated(step, leaf(2), times).step_ns(), sum_ns(step), 1e-3 * 200) << c.key();
  }
  const PricedStep moe =
      step_of(model_test::tiny_moe(), decode(8, 64, {.dp = 2, .tp = 2, .ep = 4}));
  const auto times = times_of(moe, [](const Operator& op) { return problem_ns(op.local); });
  EXPECT_NEAR(simulated(moe, leaf(4), times).step_ns(), sum_ns(moe), 1e-3 * 200);
}

// (m + p - 1) turns of a stage.
TEST(StepSchedule, micro_batches_of_inference_fill_and_drain_the_pipeline) {
  for (const int pp : {1, 2, 4}) {
    for (std::int64_t m = 1; m <= pp; m *= 2) {  // one sequence each
      const PricedStep step = step_of(decode(m, 64, {.pp = pp}));
      const double stage = 4.0 / pp * test::layer_ns(step, layers_alone);
      const auto s = simulated(step, leaf(4), times_of(step, layers_alone));
      EXPECT_DOUBLE_EQ(s.step_ns(), as_double(m + pp - 1) * stage) << pp << ' ' << m;
    }
  }
}

// A hand-over that takes longer than a stage sets the pace of the pipeline.
TEST(StepSchedule, a_hand_over_delays_the_stage_behind_and_not_the_one_that_sends) {
  const PricedStep step = step_of(decode(2, 64, {.pp = 2}));
  const double stage = 2 * test::layer_ns(step, layers_alone);
  for (const double hand_over : {0.5 * stage, 3 * stage}) {
    const auto times = times_of(step, [&](const Operator& op) {
      return op.split == Split::pipeline ? hand_over : layers_alone(op);
    });
    EXPECT_NEAR(simulated(step, leaf(2), times).step_ns(),
                2 * stage + hand_over + std::max(stage, hand_over), 1e-3);
  }
}

struct Forms {
  double forward = 0, backward = 0, weight = 0;  // of a stage and micro-batch
};
Forms forms_of(const PricedStep& step, int pp, bool splits) {
  Forms out;
  for (const Operator& op : step.graph.operators) {
    const double ns = 4.0 / pp * layers_alone(op);
    const bool multiplies = op.kind == OperatorKind::linear;
    out.forward += ns;
    out.backward += (multiplies && splits ? 1 : 2) * ns;
    if (multiplies && splits) out.weight += ns;
  }
  return out;
}

TEST(StepSchedule, training_of_equal_stages_takes_what_the_papers_say) {
  for (const int pp : {1, 2, 4}) {
    for (const std::int64_t m : {4, 8}) {
      const PricedStep step = step_of(test::training({.pp = pp}, m));
      const auto times = times_of(step, layers_alone);
      const auto takes = [&](const ProgramOptions& program) {
        return simulated(step, leaf(4), times, {.program = program}).step_ns();
      };
      const Forms whole = forms_of(step, pp, false), split = forms_of(step, pp, true);
      const auto count = as_double(m);
      EXPECT_NEAR(takes({.order = Order::one_f_one_b}),
                  (count + pp - 1) * (whole.forward + whole.backward), 1e-3);
      EXPECT_NEAR(takes({.order = Order::zero_bubble}),
                  count * (split.forward + split.backward + split.weight) +
                      (pp - 1) * (split.forward + split.backward - split.weight),
                  1e-3);
      if (pp != 2) continue;
      EXPECT_NEAR(takes({.order = Order::interleaved, .chunks = 2}),
                  (count + (pp - 1) / 2.0) * (whole.forward + whole.backward), 1e-3);
    }
  }
}

TEST(StepSchedule, recomputation_adds_one_forward_pass_of_the_layers) {
  const auto takes = [](Recompute recompute) {
    const PricedStep step =
        step_of(test::training({.pp = 2}, 4), TrainingPlan{.recompute = recompute});
    return simulated(step, leaf(2), times_of(step, layers_alone)).step_ns();
  };
  const PricedStep step = step_of(test::training({.pp = 2}, 4));
  EXPECT_NEAR(takes(Recompute::full) - takes(Recompute::none),
              (4 + 2 - 1) * 2 * test::layer_ns(step, layers_alone), 1e-3);
}

TEST(StepSchedule, gradients_are_reduced_behind_the_last_pass_or_behind_their_layer) {
  const Configuration c = test::training({.dp = 2}, 2);
  for (const int zero : {0, 1, 2, 3}) {
    const PricedStep step = step_of(c, TrainingPlan{.zero = zero});
    const auto times = times_of(step, layers_alone, 5000);
    const auto takes = [&](bool overlaps) {
      return simulated(step, leaf(2), times, {.program = {.overlaps_gradients = overlaps}})
          .step_ns();
    };
    const double compute = 2 * 3 * 4 * test::layer_ns(step, layers_alone);
    // One all-reduce; or a reduce-scatter, and the weights gathered again.
    if (zero < 2) {
      EXPECT_NEAR(takes(false), compute + 5000 * (1 + zero), 1e-3);
      // Those of embedding, layers and head; the last two, of the first layer and the embedding,
      // end when nothing is left to compute.
      EXPECT_NEAR(takes(true), compute + 5000 * (2 + zero), 1e-3);
    }
    EXPECT_GE(takes(true), compute);
  }
}

// Nothing of the last backward pass waits for a gradient of the layer behind it.
TEST(StepSchedule, gradients_do_not_hold_up_the_collectives_of_the_next_layer) {
  const PricedStep step = step_of(test::training({.dp = 2, .tp = 2, .pp = 2}, 2));
  const auto last_kernel = [&](double extra_ns) {
    const auto times = times_of(
        step,
        [](const Operator& op) {
          return op.kind == OperatorKind::collective ? 500 : layers_alone(op);
        },
        extra_ns);
    events::Picoseconds out = 0;
    for (const auto& event : simulated(step, leaf(8), times).timeline.events) {
      if (event.kind == events::EventKind::kernel) out = std::max(out, event.end_ps);
    }
    return out;
  };
  EXPECT_EQ(last_kernel(1e6), last_kernel(0));
}

// A lone all-reduce of two tensor ranks, message by message, against the formula.
TEST(StepSchedule, a_lone_collective_is_its_closed_form_within_one_percent) {
  for (const int tp : {2, 4}) {
    const PricedStep step = step_of(decode(4, 64, {.tp = tp}));
    const fabric::Topology topology = leaf(4);
    const Site site(topology);
    const std::string only = "attention_all_reduce";
    double executions = 0, expected = 0;
    for (const Operator& op : step.graph.operators) {
      if (op.kind != OperatorKind::collective) continue;
      executions += as_double(op.count);
      const auto collective = simulate::collective_named(op.local.op);
      const auto levels = simulate::group_levels(site.levels, tp, 1);
      expected +=
          as_double(op.count) *
          simulate::best_collective(*collective, op.local_work.message_bytes, levels->fabric)
              .seconds() *
          1e9;
    }
    const auto s = simulated(step, topology, times_of(step, [](const Operator&) { return 0.0; }),
                             {.lowering = {.carriage = Carriage::messages}});
    EXPECT_GT(executions, 8);
    EXPECT_NEAR(s.step_ns(), expected, 0.01 * expected) << tp;
  }
}

TEST(StepSchedule, foretold_events_are_those_that_are_made) {
  for (const Grain grain : {Grain::kernel, Grain::layer}) {
    for (const Order order : {Order::one_f_one_b, Order::interleaved, Order::zero_bubble}) {
      const PricedStep step =
          step_of(test::training({.dp = 2, .tp = 2, .pp = 2}, 4), TrainingPlan{.zero = 1});
      const fabric::Topology topology = leaf(8);
      const Site site(topology);
      StepSimulator simulator(step, site, times_of(step, layers_alone),
                              {.program = {.order = order, .grain = grain}, .runs = 0});
      EXPECT_EQ(simulator.events(), as_double(simulator.run().timeline.events.size()));
    }
  }
}

TEST(StepSchedule, what_cannot_be_simulated_is_refused_in_one_line_before_it_starts) {
  const PricedStep step = step_of(test::training({.pp = 2}, 4));
  const auto times = times_of(step, layers_alone);
  const auto why = [&](const SimulationOptions& options, const fabric::Topology& topology) {
    return std::string(
        halmark::test::error_of([&] { simulated(step, topology, times, options); }).what());
  };
  EXPECT_THAT(why({.lowering = {.events_max = 10}}, leaf(2)),
              testing::AllOf(testing::HasSubstr("events, and its limit is 10"),
                             testing::Not(testing::HasSubstr("\n"))));
  says(why({.lowering = {.events_max = 2000}, .runs = 1000}, leaf(2)), "1000 runs of");
  says(why({.program = {.order = Order::interleaved, .chunks = 3}}, leaf(2)),
       "4 layers cannot be shared out over 6 virtual stages");
  const PricedStep split = step_of(test::training({.tp = 2, .pp = 2}, 4));
  refuses([&] { simulated(split, leaf(2), times_of(split, layers_alone)); },
          "the fabric has 2 devices, and 4 are wanted");
  TimeSources unknown = times;
  unknown.of_operator = [](std::size_t) { return std::nullopt; };
  refuses([&] { simulated(step, leaf(2), unknown); }, "no time of operator 'embedding'");
}

}  // namespace
}  // namespace halmark::schedule
