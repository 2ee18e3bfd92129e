// Streams, order and causes.
// What holds of every simulation: random graphs, by seed.
// What messages that share links get: textbook cases.

#include "fluid_reference.hpp"
#include "random_graph.hpp"
#include "simulate/events/critical_path.hpp"
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

TEST(CriticalPath, is_the_chain_that_the_makespan_consists_of) {
  TaskGraph graph;
  const TaskIndex a = graph.add({.duration_ps = 4}), b = graph.add({.duration_ps = 6});
  const TaskIndex c = graph.add({.duration_ps = 5}), d = graph.add({.duration_ps = 2});
  graph.wait(c, a);
  graph.wait(d, b);
  graph.wait(d, a);
  EXPECT_THAT(critical_path(timed(graph)), testing::ElementsAre(a, c));
  EXPECT_TRUE(critical_path(timed(TaskGraph{})).empty());
}

TEST(CriticalPath, its_parts_sum_to_the_makespan_to_the_picosecond) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const test::RandomGraph random(seed, {.tasks = 200});
    const EventList events = timed(random.graph);
    Picoseconds sum = 0, last = 0;
    for (const TaskIndex task : critical_path(events)) {
      EXPECT_EQ(events.start_ps[at(task)], last);
      last = events.end_ps[at(task)];
      sum += events.end_ps[at(task)] - events.start_ps[at(task)];
    }
    EXPECT_GT(sum, 0);
    EXPECT_EQ(sum, events.makespan_ps);
  }
}

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

constexpr double gb = 1e9;

struct Links {
  TaskGraph graph;
  std::vector<LinkIndex> links;

  explicit Links(std::initializer_list<double> gigabytes_per_s) {
    for (const double rate : gigabytes_per_s) links.push_back(graph.add_link(rate * gb));
  }
  TaskIndex send(std::initializer_list<std::size_t> over, double gigabytes, double latency_s = 0,
                 double weight = 1) {
    std::vector<Hop> hops;
    for (const std::size_t i : over) hops.push_back({links[i], weight});
    return graph.add({.kind = EventKind::p2p,
                      .place = Place::over(graph.add_path(hops)),
                      .duration_ps = picoseconds(latency_s),
                      .bytes = gigabytes * gb});
  }
  std::vector<double> ends() {
    std::vector<double> out;
    const EventList events = timed(graph);
    for (const Picoseconds end : events.end_ps) out.push_back(seconds_of(end));
    return out;
  }
};

auto are(std::vector<double> seconds) {
  return testing::Pointwise(testing::DoubleNear(1e-9), seconds);
}

TEST(SharedLinks, a_message_alone_takes_its_bytes_over_the_bandwidth_and_the_latency) {
  Links one({2});
  one.send({0}, 1, 0.25);
  EXPECT_THAT(one.ends(), are({0.75}));
  Links two({2, 4});
  two.send({0, 1}, 1, 0.25);
  EXPECT_THAT(two.ends(), are({0.75}));
}

// 1 GB and 3 GB at 1 GB/s: shared for 2 s, then the second alone.
TEST(SharedLinks, two_on_a_link_have_half_of_it_each_until_one_ends) {
  Links links({1});
  links.send({0}, 1);
  links.send({0}, 3);
  EXPECT_THAT(links.ends(), are({2, 4}));
}

TEST(SharedLinks, who_comes_later_slows_those_that_are_there) {
  Links links({1});
  links.send({0}, 1);
  const TaskIndex wait = links.graph.add({.duration_ps = picoseconds(0.5)});
  links.graph.wait(links.send({0}, 1), wait);
  EXPECT_THAT(links.ends(), are({1.5, 0.5, 2}));
}

// Bertsekas and Gallager, Data Networks, 6.5.2: a long path over links that others use as well.
// Link 0 has 1, link 1 has 2; A over both, B over 0, C over 1: A and B 0.5 each, C 1.5.
TEST(SharedLinks, rates_over_several_links_are_max_min_fair) {
  Links links({1, 2});
  links.send({0, 1}, 1);  // A
  links.send({0}, 1);     // B
  links.send({1}, 3);     // C
  EXPECT_THAT(links.ends(), are({2, 2, 2}));
}

TEST(SharedLinks, the_rest_of_a_link_goes_to_who_can_use_it) {
  Links links({1, 10});
  for (int i = 0; i < 4; ++i) links.send({0, 1}, 1);  // 0.25 each
  links.send({1}, 18);                                // 9 while the four last
  EXPECT_THAT(links.ends(), are({4, 4, 4, 4, 2}));
}

// Two of three bytes over every link of three: a message that is spread.
TEST(SharedLinks, a_weight_is_bytes_of_the_link_per_byte_of_the_message) {
  Links one({1});
  one.send({0}, 1, 0, 0.5);
  EXPECT_THAT(one.ends(), are({0.5}));
  Links shared({1});
  shared.send({0}, 1, 0, 3);  // both at 0.25: 3/4 and 1/4 of the link
  shared.send({0}, 1, 0, 1);
  EXPECT_THAT(shared.ends(), are({4, 4}));
  Links spread({1, 1, 1});
  spread.send({0, 1, 2}, 3, 0, 1.0 / 3);
  EXPECT_THAT(spread.ends(), are({1}));
}

TEST(SharedLinks, a_message_of_no_bytes_takes_the_latency) {
  Links links({1});
  links.send({0}, 0, 0.5);
  links.send({0}, 1);
  EXPECT_THAT(links.ends(), are({0.5, 1}));
}

TEST(SharedLinks, bytes_and_busy_time_of_a_link_are_counted) {
  Links links({1, 2});
  links.send({0, 1}, 1);
  const TaskIndex first = links.send({1}, 1);
  const TaskIndex wait = links.graph.add({.duration_ps = picoseconds(3)});
  links.graph.wait(wait, first);
  links.graph.wait(links.send({1}, 1), wait);
  const EventList events = timed(links.graph);
  EXPECT_NEAR(events.link_bytes[0], 1 * gb, 1);
  EXPECT_NEAR(events.link_bytes[1], 3 * gb, 1);
  EXPECT_NEAR(seconds_of(events.link_busy_ps[0]), 1, 1e-9);
  EXPECT_NEAR(seconds_of(events.link_busy_ps[1]), 1.5, 1e-9);
}

}  // namespace
}  // namespace halmark::events
