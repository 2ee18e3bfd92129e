// Exports read back by a parser that did not write them.

#include <sstream>

#include "core/json/json.hpp"
#include "simulate/timeline/timeline_export.hpp"
#include "small_timeline.hpp"

namespace halmark::simulate {
namespace {

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
