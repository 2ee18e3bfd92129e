#include "simulate/events/critical_path.hpp"

#include "random_graph.hpp"

namespace halmark::events {
namespace {

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

}  // namespace
}  // namespace halmark::events
