// Executed steps beside simulated ones, against differences that are computed by hand.
#include "simulate/timeline/executed.hpp"

#include "simulate/timeline/timeline_export.hpp"
#include "small_timeline.hpp"

namespace halmark::simulate {
namespace {

using test::small_timeline;

constexpr double ms = 1e6;

// Simulated: norm of device 0 at 0..2 and 1004..1009 ms, of device 1 at 0..3.
std::vector<RankExecutions> executed() {
  return {{{"norm", 1 * ms, 2 * ms}, {"exchange", 3 * ms, 800 * ms}, {"norm", 804 * ms, 6 * ms}},
          {{"norm", 0, 4 * ms}}};
}

TEST(Executed, executions_meet_the_events_of_their_operator_in_order) {
  const auto ranks = executed();
  const ExecutedStep both = beside_executed(small_timeline(), ranks);
  ASSERT_EQ(both.pairs.size(), 3u);
  EXPECT_EQ(both.only_simulated, 0u);
  EXPECT_EQ(both.only_executed, 0u) << "a collective is not compared";
  EXPECT_DOUBLE_EQ(both.executed_ns, 810 * ms);
  EXPECT_DOUBLE_EQ(both.begin_worst, 200. / 810);
  EXPECT_DOUBLE_EQ(both.begin_median, 1. / 810);
  EXPECT_EQ(both.pairs[both.worst].rank, 0u);
  EXPECT_EQ(both.pairs[both.worst].execution, 2u);
  ASSERT_EQ(both.ranks.size(), 2u);
  EXPECT_EQ(both.ranks[0].device, "node0.device0");
  EXPECT_DOUBLE_EQ(both.ranks[0].simulated_ns, 7 * ms);
  EXPECT_DOUBLE_EQ(both.ranks[0].executed_ns, 8 * ms);
  EXPECT_DOUBLE_EQ(both.ranks[0].simulated_end_ns, 1009 * ms);
  EXPECT_DOUBLE_EQ(both.ranks[1].executed_end_ns, 4 * ms);
}

TEST(Executed, what_only_one_of_both_has_is_counted) {
  auto ranks = executed();
  ranks[0].pop_back();
  ranks[1].push_back({"norm", 5 * ms, 1 * ms});
  const ExecutedStep both = beside_executed(small_timeline(), ranks);
  EXPECT_EQ(both.pairs.size(), 2u);
  EXPECT_EQ(both.only_simulated, 1u);
  EXPECT_EQ(both.only_executed, 1u);
}

TEST(Executed, nothing_is_compared_with_nothing) {
  const ExecutedStep both = beside_executed(small_timeline(), {});
  EXPECT_TRUE(both.pairs.empty());
  EXPECT_EQ(both.begin_worst, 0);
}

TEST(Executed, a_trace_shows_both) {
  const Timeline alone = small_timeline();
  const Timeline both = with_executed(alone, executed());
  EXPECT_EQ(both.events.size(), alone.events.size() + 4);
  EXPECT_EQ(both.makespan_ps, alone.makespan_ps);
  const TimelineEvent& last = both.events.back();
  EXPECT_EQ(both.actors[last.actor], alone.actors[1] + " as executed");
  EXPECT_EQ(both.labels[last.label], "norm");
  EXPECT_EQ(last.end_ps, events::picoseconds(0.004));
  EXPECT_NE(chrome_trace(both).find("node0.device0 as executed"), std::string::npos);
}

}  // namespace
}  // namespace halmark::simulate
