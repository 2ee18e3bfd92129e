// Timelines against times that are computed by hand.
// Executed steps beside simulated ones, against differences that are computed by hand.
// Exports read back by a parser that did not write them.

#include <sstream>

#include "core/json/json.hpp"
#include "simulate/timeline/executed.hpp"
#include "simulate/timeline/timeline_export.hpp"
#include "simulate/timeline/timeline_folds.hpp"
#include "small_timeline.hpp"

namespace halmark::simulate {
namespace {

using events::picoseconds;
using test::small_timeline;

TEST(Timeline, events_have_times_resources_figures_and_the_path_is_marked) {
  const Timeline timeline = small_timeline();
  ASSERT_EQ(timeline.events.size(), 4u);
  EXPECT_EQ(timeline.makespan_ps, picoseconds(1.009));
  const TimelineEvent& message = timeline.events[2];
  EXPECT_EQ(message.start_ps, picoseconds(0.003));
  EXPECT_EQ(message.end_ps, picoseconds(1.004));
  EXPECT_EQ(message.bytes, 1e9) << "of the task, not of the label";
  EXPECT_EQ(message.cause, 1u);
  EXPECT_TRUE(timeline.resources[message.resource].is_link);
  EXPECT_EQ(timeline.resources[message.resource].bytes, 1e9);
  EXPECT_EQ(timeline.resources[0].busy_ps, picoseconds(0.007));
  EXPECT_FALSE(timeline.events[0].is_critical);
  for (const std::size_t i : {1u, 2u, 3u}) EXPECT_TRUE(timeline.events[i].is_critical) << i;
  EXPECT_EQ(timeline.events[3].flops, 20);
}

TEST(Timeline, an_event_comes_behind_its_cause_however_tasks_were_added) {
  const Timeline timeline = small_timeline(true);
  events::Picoseconds critical = 0;
  for (std::size_t i = 0; i < timeline.events.size(); ++i) {
    const TimelineEvent& event = timeline.events[i];
    if (event.cause != TimelineEvent::none) {
      EXPECT_LT(event.cause, i);
      EXPECT_EQ(timeline.events[event.cause].end_ps, event.start_ps);
    }
    if (event.is_critical) critical += event.end_ps - event.start_ps;
  }
  EXPECT_EQ(critical, timeline.makespan_ps);
}

TEST(Timeline, labels_fold_without_their_layer) {
  EXPECT_EQ(without_layer("layer 12 q_proj backward"), "q_proj backward");
  EXPECT_EQ(without_layer("layer norm"), "layer norm");
  EXPECT_EQ(without_layer("layer 12"), "layer 12");
  const auto folds = fold_by_label(small_timeline());
  ASSERT_EQ(folds.size(), 2u);
  EXPECT_EQ(folds[0].label, "activations");
  EXPECT_EQ(folds[1].label, "norm");
  EXPECT_EQ(folds[1].events, 3u);
  EXPECT_EQ(folds[1].busy_ps, picoseconds(0.010));
  EXPECT_EQ(folds[1].critical_ps, picoseconds(0.008));
  EXPECT_EQ(folds[1].flops, 40);
}

TEST(Timeline, parts_of_the_path_and_of_a_device_are_those_of_the_picture) {
  const Timeline timeline = small_timeline();
  const CriticalParts path = critical_parts(timeline);
  EXPECT_EQ(path.compute_ps, picoseconds(0.008));
  EXPECT_EQ(path.communication_ps, picoseconds(1.001));
  EXPECT_EQ(path.gap_ps, 0);
  // Device 0 computes 7 of 1009 ms; device 1 computes 3, sends 1001 and has nothing to do for 5.
  const DeviceParts parts = device_parts(timeline);
  EXPECT_EQ(parts.devices, 2u);
  EXPECT_NEAR(parts.compute, 10.0 / 2018, 1e-12);
  EXPECT_NEAR(parts.communication, 1001.0 / 2018, 1e-12);
  EXPECT_NEAR(parts.bubble, (1002.0 + 5) / 2018, 1e-12);
}

TEST(Timeline, one_time_phases_come_before_and_are_apart) {
  const Timeline whole = preceded_by(
      small_timeline(), std::vector<OneTimePhase>{{events::EventKind::boot, 1, "stated"},
                                                  {events::EventKind::compile, 2, "stated"}});
  EXPECT_EQ(whole.events.size(), 4u + 2 * 2);
  EXPECT_EQ(step_begin_ps(whole), picoseconds(3));
  EXPECT_EQ(whole.makespan_ps, picoseconds(4.009));
  EXPECT_EQ(critical_parts(whole).one_time_ps, picoseconds(3));
  EXPECT_EQ(critical_parts(whole).gap_ps, 0);
  EXPECT_NEAR(device_parts(whole).compute, 10.0 / 2018, 1e-12) << "of the step";
}

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

TEST(TimelineExport, every_line_is_an_event_by_its_begin) {
  std::istringstream lines(json_lines(test::small_timeline(true)));
  std::string line;
  double last = 0;
  std::map<int, Json> events;
  while (std::getline(lines, line)) {
    const Json event = parse_json(line, "events");
    EXPECT_GE(event["start_us"].get<double>(), last);
    last = event["start_us"].get<double>();
    events[event["id"].get<int>()] = event;
  }
  ASSERT_EQ(events.size(), 4u);
  for (const auto& [id, event] : events) {
    for (const Json& cause : event["cause"]) {
      EXPECT_DOUBLE_EQ(events.at(cause.get<int>())["end_us"].get<double>(),
                       event["start_us"].get<double>());
    }
  }
  const auto at =
      std::ranges::find_if(events, [](const auto& entry) { return entry.second["kind"] == "p2p"; });
  ASSERT_NE(at, events.end());
  const Json& message = at->second;
  EXPECT_EQ(message.at("actor"), "node0.\"device1\"");
  EXPECT_EQ(message.at("resource"), "node0.device1 -> node0.device0");
  EXPECT_EQ(message.at("bytes"), 1e9);
  EXPECT_EQ(message.at("start_us"), 3000);
  EXPECT_EQ(message.at("phase"), "step");
  EXPECT_EQ(message.at("critical"), true);
}

TEST(TimelineExport, slices_of_one_thread_of_a_trace_never_overlap) {
  // Three messages of one device at once, besides the kernels.
  test::SmallGraph small = test::small_graph();
  for (int i = 0; i < 3; ++i) {
    small.add({.kind = events::EventKind::p2p,
               .place = events::Place::over(events::PathIndex{0}),
               .bytes = 1e6},
              2);
  }
  const Timeline timeline = timeline_of(small.graph, timed(small.graph), test::names_of(small));
  const Json trace = parse_json(chrome_trace(timeline), "trace");
  std::map<std::pair<int, int>, double> ends;
  std::map<std::pair<int, int>, std::string> names;
  int slices = 0;
  for (const Json& event : trace["traceEvents"]) {
    const std::pair thread(event["pid"].get<int>(), event.value("tid", 0));
    if (event["ph"] == "M") {
      names[thread] = event["args"]["name"].get<std::string>();
      continue;
    }
    ++slices;
    EXPECT_TRUE(names.contains(thread));
    EXPECT_GE(event["ts"].get<double>(), ends[thread] - 1e-9);
    ends[thread] = event["ts"].get<double>() + event["dur"].get<double>();
  }
  EXPECT_EQ(slices, 7);
}

}  // namespace
}  // namespace halmark::simulate
