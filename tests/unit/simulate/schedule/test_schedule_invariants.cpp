// What holds of every schedule, over random small deployments, times and fabrics.

#include "../../case_name.hpp"
#include "core/numeric/cast.hpp"
#include "schedule_fixtures.hpp"
#include "simulate/timeline/timeline_export.hpp"

namespace halmark::schedule {
namespace {

using events::EventKind;
using simulate::TimelineEvent;
using test::leaf;
using test::simulated;

struct Case {
  PricedStep step;
  fabric::Topology topology;
  SimulationOptions options;
  std::uint64_t seed = 0;
  double bandwidth_gbs = 0;

  // Times of 0.1 to 100 us with intervals around them; `scale` of everything.
  TimeSources times(double scale = 1) const {
    const auto draw = [this, scale](std::size_t key) {
      std::mt19937_64 random(seed * 1000003 + key);
      const double ns = scale * std::exp(std::uniform_real_distribution<>(4.6, 11.5)(random));
      return Latency{.ns = ns, .low_ns = 0.9 * ns, .high_ns = 1.3 * ns};
    };
    return {[draw](std::size_t op) { return draw(op); },
            [draw](const Problem& problem, const Work&, std::int64_t) {
              return draw(std::hash<std::string>()(problem.text()));
            }};
  }
};

Case random_case(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto one_of = [&](std::initializer_list<int> values) {
    return *(values.begin() + random() % values.size());
  };
  const Parallel parallel{.dp = one_of({1, 2}), .tp = one_of({1, 2, 4}), .pp = one_of({1, 2, 4})};
  const int micro_batches = one_of({1, 2, 4, 8});
  const bool trains = one_of({0, 1, 1}) == 1;
  Configuration c = test::training(parallel, micro_batches);
  std::optional<TrainingPlan> plan;
  if (trains) {
    plan = TrainingPlan{.recompute = one_of({0, 1}) == 1 ? Recompute::full : Recompute::none,
                        .zero = parallel.dp > 1 ? one_of({0, 1, 2, 3}) : 0};
  } else {
    c.workload.phase = Phase::prefill;
    c.workload.micro_batch = 0;
  }
  Order order = std::array{Order::one_f_one_b, Order::zero_bubble,
                           Order::interleaved}[as_size(one_of({0, 1, 2}))];
  const bool interleaves = trains && parallel.pp == 2 && micro_batches % 2 == 0;
  if (order == Order::interleaved && !interleaves) order = Order::one_f_one_b;
  const double rate = one_of({1, 3, 12, 50});
  return {.step = test::step_of(c, plan),
          .topology = leaf(32 / 4, 4, rate),
          .options = {.program = {.order = order,
                                  .grain = one_of({0, 1}) == 1 ? Grain::layer : Grain::kernel,
                                  .overlaps_gradients = one_of({0, 1}) == 1},
                      .lowering = {.carriage = one_of({0, 1}) == 1 ? Carriage::messages
                                                                   : Carriage::closed_form},
                      .runs = 3},
          .seed = seed,
          .bandwidth_gbs = rate};
}

class Invariants : public testing::TestWithParam<int> {
 protected:
  Case case_ = random_case(static_cast<std::uint64_t>(GetParam()));
};

// Causality, on the tasks themselves: their graph says what each waits for.
TEST_P(Invariants, nothing_begins_before_its_inputs_have_ended) {
  const Site site(case_.topology);
  const DeviceGrid grid(case_.step.graph.configuration.parallel);
  const Programs programs = stage_programs(case_.step, case_.options.program);
  const KernelTimes times(case_.step, programs, case_.times());
  const LoweredStep lowered = lower_step(programs, grid, site, times, case_.options.lowering);
  const events::EventList events = timed(lowered.graph);
  for (const auto& wait : lowered.graph.waits()) {
    EXPECT_LE(events.end_ps[events::at(wait.before)], events.start_ps[events::at(wait.task)]);
    EXPECT_LT(events::at(wait.before), events::at(wait.task)) << "in the order of their making";
  }
  EXPECT_EQ(lowered.labels.size(), lowered.graph.size());
  EXPECT_LE(as_double(lowered.graph.size()),
            events_of(programs, grid, site, case_.options.lowering.carriage));
}

TEST_P(Invariants, streams_do_one_thing_at_a_time_and_links_no_more_than_they_can) {
  const auto s = simulated(case_.step, case_.topology, case_.times(), case_.options);
  std::vector<std::vector<std::pair<events::Picoseconds, events::Picoseconds>>> spans(
      s.timeline.resources.size());
  for (const TimelineEvent& event : s.timeline.events) {
    if (event.resource == TimelineEvent::none || s.timeline.resources[event.resource].is_link) {
      continue;
    }
    spans[event.resource].push_back({event.start_ps, event.end_ps});
  }
  for (std::size_t i = 0; i < spans.size(); ++i) {
    std::ranges::sort(spans[i]);
    for (std::size_t k = 1; k < spans[i].size(); ++k) {
      EXPECT_GE(spans[i][k].first, spans[i][k - 1].second) << s.timeline.resources[i].name;
    }
    const simulate::TimelineResource& resource = s.timeline.resources[i];
    if (!resource.is_link) {
      EXPECT_LE(resource.busy_ps, s.timeline.makespan_ps);
    }
    // Of closed forms the times are the test's own, and need not go with the links.
    if (!resource.is_link || s.carriage == Carriage::closed_form) continue;
    EXPECT_LE(resource.bytes, resource.bytes_per_s * s.step_ns() * 1e-9 * (1 + 1e-6) + 1);
  }
}

TEST_P(Invariants, the_critical_path_has_no_gap_and_sums_to_the_makespan) {
  const auto s = simulated(case_.step, case_.topology, case_.times(), case_.options);
  events::Picoseconds now = 0;
  for (const TimelineEvent& event : s.timeline.events) {
    if (event.cause != TimelineEvent::none) {
      EXPECT_EQ(s.timeline.events[event.cause].end_ps, event.start_ps);
      EXPECT_LT(event.cause, static_cast<std::uint32_t>(&event - s.timeline.events.data()));
    } else {
      EXPECT_EQ(event.start_ps, 0);
    }
    if (!event.is_critical) continue;
    EXPECT_EQ(event.start_ps, now);
    now = event.end_ps;
  }
  EXPECT_EQ(now, s.timeline.makespan_ps);
  const simulate::CriticalParts parts = critical_parts(s.timeline);
  EXPECT_EQ(parts.compute_ps + parts.communication_ps + parts.other_ps, s.timeline.makespan_ps);
  const simulate::DeviceParts devices = device_parts(s.timeline);
  EXPECT_NEAR(devices.compute + devices.communication + devices.bubble, 1, 1e-9);
}

TEST_P(Invariants, the_same_seed_gives_the_same_bytes) {
  const auto text = [&](std::uint64_t seed) {
    SimulationOptions options = case_.options;
    options.seed = seed;
    const auto s = simulated(case_.step, case_.topology, case_.times(), options);
    std::string out = json_lines(s.timeline);
    for (const double ns : s.runs.ns) out += std::to_string(ns) + ' ';
    return out;
  };
  EXPECT_EQ(text(1), text(1));
  EXPECT_NE(text(1), text(2)) << "the drawn runs follow the seed";
}

// Twice as fast everything, with the same waiting: twice as fast the step, to the rounding of
// every event.
TEST_P(Invariants, time_scales) {
  SimulationOptions options = case_.options;
  options.lowering.carriage = Carriage::closed_form;
  options.runs = 0;
  const double one = simulated(case_.step, case_.topology, case_.times(), options).step_ns();
  const double two = simulated(case_.step, case_.topology, case_.times(2), options).step_ns();
  EXPECT_NEAR(two, 2 * one, 1e-6 * two);
}

TEST_P(Invariants, drawn_runs_stay_between_all_low_and_all_high) {
  SimulationOptions options = case_.options;
  options.lowering.carriage = Carriage::closed_form;
  options.program.overlaps_gradients = false;
  const double stated = simulated(case_.step, case_.topology, case_.times(), options).step_ns();
  const auto s = simulated(case_.step, case_.topology, case_.times(), options);
  for (const double ns : s.runs.ns) {
    EXPECT_GE(ns, 0.9 * stated * (1 - 1e-6));
    EXPECT_LE(ns, 1.3 * stated * (1 + 1e-6));
  }
}

// A better link is never slower. Without overlapped gradients, whose order on a stream may turn.
TEST_P(Invariants, more_bandwidth_is_never_slower) {
  SimulationOptions options = case_.options;
  options.lowering.carriage = Carriage::messages;
  options.program.overlaps_gradients = false;
  options.runs = 0;
  double before = 1e300;
  for (const double factor : {1.0, 2.0, 8.0}) {
    const auto topology = leaf(8, 4, factor * case_.bandwidth_gbs);
    const double ns = simulated(case_.step, topology, case_.times(), options).step_ns();
    EXPECT_LE(ns, before * (1 + 1e-9));
    before = ns;
  }
}

INSTANTIATE_TEST_SUITE_P(Random, Invariants, testing::Range(1, 41), [](const auto& info) {
  return halmark::test::case_name({"seed", info.param});
});

}  // namespace
}  // namespace halmark::schedule
