// Streams, order and causes.
#include "simulate/events/simulation.hpp"
#include "tests/unit/simulate/suite.hpp"

namespace halmark::events {
namespace {

using testing::ElementsAre;

TaskIndex add_kernel(TaskGraph& graph, StreamIndex stream, Picoseconds duration,
                     std::int32_t priority = 0) {
  return graph.add({.kind = EventKind::kernel,
                    .place = Place::on(stream),
                    .duration_ps = duration,
                    .priority = priority});
}

TEST(Simulation, a_stream_does_one_task_at_a_time_in_the_order_of_readiness) {
  TaskGraph graph;
  const StreamIndex stream = graph.add_stream(), other = graph.add_stream();
  const TaskIndex late = add_kernel(graph, stream, 10);
  const TaskIndex before_late = add_kernel(graph, other, 5);
  const TaskIndex first = add_kernel(graph, stream, 7);
  const TaskIndex second = add_kernel(graph, stream, 1);
  graph.wait(late, before_late);
  const EventList events = timed(graph);
  EXPECT_THAT(events.start_ps, ElementsAre(8, 0, 0, 7));
  EXPECT_THAT(events.end_ps, ElementsAre(18, 5, 7, 8));
  EXPECT_THAT(events.cause, ElementsAre(second, no_task, no_task, first));
  EXPECT_EQ(events.makespan_ps, 18);
}

TEST(Simulation, a_stream_by_priority_serves_the_lowest_of_those_that_wait) {
  TaskGraph graph;
  const StreamIndex stream = graph.add_stream(StreamOrder::priority);
  add_kernel(graph, stream, 10, 3);
  add_kernel(graph, stream, 10, 1);
  add_kernel(graph, stream, 10, 2);
  add_kernel(graph, stream, 10, 1);
  EXPECT_THAT(timed(graph).start_ps, ElementsAre(30, 0, 20, 10));
}

// Two tasks end at once; the one that lets the urgent one in comes later in the graph.
TEST(Simulation, a_stream_chooses_among_all_that_become_ready_in_an_instant) {
  TaskGraph graph;
  const StreamIndex stream = graph.add_stream(StreamOrder::priority);
  const TaskIndex a = graph.add({.duration_ps = 5}), b = graph.add({.duration_ps = 5});
  const TaskIndex after_a = add_kernel(graph, stream, 10, 9);
  const TaskIndex after_b = add_kernel(graph, stream, 10, 1);
  graph.wait(after_a, a);
  graph.wait(after_b, b);
  EXPECT_THAT(timed(graph).start_ps, ElementsAre(0, 0, 15, 5));
}

TEST(Simulation, the_cause_is_the_last_that_a_task_waited_for) {
  TaskGraph graph;
  const TaskIndex quick = graph.add({.duration_ps = 3}), slow = graph.add({.duration_ps = 9});
  const TaskIndex join = graph.add({.duration_ps = 1});
  graph.wait(join, quick);
  graph.wait(join, slow);
  const EventList events = timed(graph);
  EXPECT_EQ(events.cause[at(join)], slow);
  EXPECT_EQ(events.start_ps[at(join)], 9);
}

TEST(Simulation, tasks_of_no_length_take_no_time) {
  TaskGraph graph;
  const StreamIndex stream = graph.add_stream();
  const TaskIndex a = add_kernel(graph, stream, 0), b = graph.add({}),
                  c = add_kernel(graph, stream, 0);
  graph.wait(b, a);
  graph.wait(c, b);
  const EventList events = timed(graph);
  EXPECT_EQ(events.makespan_ps, 0);
  EXPECT_EQ(events.cause[at(c)], b);
}

TEST(Simulation, an_empty_graph_has_no_events) {
  const EventList events = timed(TaskGraph{});
  EXPECT_EQ(events.makespan_ps, 0);
  EXPECT_TRUE(events.start_ps.empty());
}

TEST(Simulation, tasks_that_wait_for_each_other_are_refused) {
  TaskGraph graph;
  const TaskIndex a = graph.add({.kind = EventKind::kernel}), b = graph.add({});
  graph.add({.duration_ps = 4});
  graph.wait(a, b);
  graph.wait(b, a);
  const Error error = halmark::test::error_of([&] { timed(graph); });
  says(error.line(), "in a circle: event 0 of kind kernel never begins");
}

TEST(Simulation, a_limit_of_rates_ends_it_and_says_so) {
  TaskGraph graph;
  const std::vector<Hop> hops = {{graph.add_link(1e9)}, {graph.add_link(1e9)}};
  const PathIndex path = graph.add_path(hops);
  for (int i = 1; i <= 10; ++i) graph.add({.place = Place::over(path), .bytes = 1e6 * i});
  // 10 messages of two hops, then 9, and so on: 110.
  EXPECT_TRUE(timed(graph, {.rates_max = 110}).is_complete);
  EXPECT_FALSE(timed(graph, {.rates_max = 107}).is_complete);
}

TEST(Simulation, what_no_clock_can_hold_is_refused) {
  for (const double seconds : {-1.0, 1e7, std::nan(""), HUGE_VAL}) {
    EXPECT_THROW(picoseconds(seconds), Error) << seconds;
  }
  EXPECT_EQ(picoseconds(1.5e-12), 2);
  TaskGraph graph;
  EXPECT_THROW(graph.add_link(0), Error);
  EXPECT_THROW(graph.add_link(std::nan("")), Error);
  EXPECT_THROW(graph.add_path({}), Error);
  EXPECT_THROW(graph.add({.bytes = -1}), Error);
  EXPECT_THROW(graph.add({.duration_ps = -1}), Error);
  const LinkIndex link = graph.add_link(1);
  const PathIndex path = graph.add_path(std::vector<Hop>{{link}});
  graph.add({.place = Place::over(path), .bytes = 1e8});
  refuses([&] { timed(graph); }, "more than 4e+06 s");
}

}  // namespace
}  // namespace halmark::events
