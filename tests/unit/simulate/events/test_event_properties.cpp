// What holds of every simulation: random graphs, by seed.

#include "fluid_reference.hpp"
#include "random_graph.hpp"
#include "simulate/events/simulation.hpp"

namespace halmark::events {
namespace {

constexpr std::uint64_t seeds = 60;

TEST(EventProperties, times_are_those_of_a_plain_fluid_simulation) {
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    for (const int hops : {1, 3}) {
      const test::RandomGraph random(seed, {.tasks = 50, .hops_max = hops});
      const EventList events = timed(random.graph);
      const test::ReferenceTimes expected = test::reference_times(random.graph);
      for (std::size_t i = 0; i < random.graph.size(); ++i) {
        EXPECT_NEAR(seconds_of(events.start_ps[i]), expected.start_s[i], 1e-9) << seed << ' ' << i;
        EXPECT_NEAR(seconds_of(events.end_ps[i]), expected.end_s[i], 1e-9) << seed << ' ' << i;
      }
    }
  }
}

TEST(EventProperties, nothing_begins_before_all_that_it_waits_for_has_ended) {
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const test::RandomGraph random(seed, {.tasks = 500});
    const EventList events = timed(random.graph);
    for (const TaskGraph::Wait& wait : random.graph.waits()) {
      EXPECT_GE(events.start_ps[at(wait.task)], events.end_ps[at(wait.before)]);
    }
    for (std::size_t i = 0; i < random.graph.size(); ++i) {
      EXPECT_LE(events.end_ps[i], events.makespan_ps);
      const TaskIndex cause = events.cause[i];
      EXPECT_EQ(events.start_ps[i], cause == no_task ? 0 : events.end_ps[at(cause)]);
    }
  }
}

// The load of each link at every instant: at most its bandwidth, and over time its bytes.
TEST(EventProperties, no_link_ever_carries_more_than_it_can_and_every_byte_passes) {
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const test::RandomGraph random(seed, {.tasks = 300});
    const TaskGraph& graph = random.graph;
    const EventList events = timed(graph, {.records_loads = true});
    std::vector<double> expected(graph.links(), 0), carried(graph.links(), 0);
    for (std::size_t i = 0; i < graph.size(); ++i) {
      const auto task = static_cast<TaskIndex>(i);
      if (graph.place(task).kind() != Place::Kind::path) continue;
      for (const Hop& hop : graph.path(static_cast<PathIndex>(graph.place(task).index()))) {
        expected[at(hop.link)] += graph.bytes(task) * hop.weight;
      }
    }
    std::vector<LinkLoad> last(graph.links());
    for (const LinkLoad& load : events.loads) {
      EXPECT_LE(load.bytes_per_s, graph.bytes_per_s(load.link) * (1 + 1e-9));
      EXPECT_GE(load.bytes_per_s, -1e-3);
      LinkLoad& before = last[at(load.link)];
      carried[at(load.link)] += before.bytes_per_s * seconds_of(load.time - before.time);
      before = load;
    }
    for (std::size_t l = 0; l < graph.links(); ++l) {
      EXPECT_LE(last[l].bytes_per_s, 1e-3);
      EXPECT_NEAR(carried[l], expected[l], 1e-5 * expected[l] + 1);
      EXPECT_NEAR(events.link_bytes[l], expected[l], 1e-9 * expected[l]);
      EXPECT_LE(events.link_busy_ps[l], events.makespan_ps);
      EXPECT_LE(expected[l] / graph.bytes_per_s(static_cast<LinkIndex>(l)),
                seconds_of(events.link_busy_ps[l]) * (1 + 1e-9) + 1e-9);
    }
  }
}

TEST(EventProperties, the_same_graph_gives_the_same_events) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const EventList a = timed(test::RandomGraph(seed, {.tasks = 500}).graph);
    const EventList b = timed(test::RandomGraph(seed, {.tasks = 500}).graph);
    EXPECT_EQ(a.start_ps, b.start_ps);
    EXPECT_EQ(a.end_ps, b.end_ps);
    EXPECT_EQ(a.cause, b.cause);
  }
}

}  // namespace
}  // namespace halmark::events
