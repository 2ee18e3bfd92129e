// What others read of a timeline says the same as the timeline.

#include <sstream>

#include "core/json/json.hpp"
#include "parquet/parquet_cells.hpp"
#include "simulate/timeline/telemetry.hpp"
#include "simulate/timeline/timeline_export.hpp"
#include "tests/unit/simulate/suite.hpp"

namespace halmark::simulate {
namespace {

constexpr events::Picoseconds microsecond = 1'000'000;

Timeline small() {
  Timeline out;
  out.actors = {"node0.device0", "node1.device0"};
  out.labels = {"q_proj", "all \"reduce\""};
  out.resources = {{.name = "compute", .busy_ps = 3 * microsecond},
                   {.name = "a - b", .is_link = true, .bytes_per_s = 1e9, .bytes = 4096}};
  out.events = {{.start_ps = 0,
                 .end_ps = 3 * microsecond,
                 .bytes = 10,
                 .flops = 1e6,
                 .resource = 0,
                 .is_critical = true},
                {.start_ps = 3 * microsecond,
                 .end_ps = 7 * microsecond + 400,
                 .bytes = 4096,
                 .label = 1,
                 .actor = 1,
                 .resource = 1,
                 .cause = 0,
                 .kind = events::EventKind::collective}};
  out.makespan_ps = 7 * microsecond + 400;
  return out;
}

const TelemetryOrigin origin = {.attributes = {{"halmark.model", "tiny"}, {"halmark.device", ""}},
                                .begin_unix_ns = 1'700'000'000'000'000'000};

std::vector<Json> lines_of(const std::string& text) {
  std::vector<Json> out;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) out.push_back(Json::parse(line));
  return out;
}

TEST(OtlpSpans, are_the_events_below_one_of_the_whole) {
  const std::vector<Json> lines = lines_of(otlp_lines(small(), origin));
  ASSERT_EQ(lines.size(), 2U);
  const Json& resource = lines[0]["resourceSpans"][0];
  EXPECT_EQ(resource["resource"]["attributes"].size(), 3U) << "an empty attribute is none";
  const Json& spans = resource["scopeSpans"][0]["spans"];
  ASSERT_EQ(spans.size(), 3U);
  std::set<std::string> ids;
  for (const Json& span : spans) {
    EXPECT_EQ(span["traceId"].get<std::string>().size(), 32U);
    EXPECT_EQ(span["spanId"].get<std::string>().size(), 16U);
    ids.insert(span["spanId"]);
  }
  EXPECT_EQ(ids.size(), 3U);
  EXPECT_EQ(spans[1]["parentSpanId"], spans[0]["spanId"]);
  EXPECT_EQ(spans[2]["links"][0]["spanId"], spans[1]["spanId"]);
  EXPECT_EQ(spans[2]["name"], "all \"reduce\"");
  EXPECT_EQ(spans[2]["startTimeUnixNano"], "1700000000000003000");
  EXPECT_EQ(spans[2]["endTimeUnixNano"], "1700000000000007000") << "400 ps are no nanosecond";
}

TEST(OtlpMetrics, are_gauges_with_units) {
  const Json metrics =
      lines_of(otlp_lines(small(), origin))[1]["resourceMetrics"][0]["scopeMetrics"][0]["metrics"];
  std::map<std::string, Json> by_name;
  for (const Json& metric : metrics) by_name[metric["name"]] = metric;
  const auto value = [&](const char* name, std::size_t i) {
    return by_name.at(name)["gauge"]["dataPoints"][i]["asDouble"].get<double>();
  };
  EXPECT_DOUBLE_EQ(value("halmark.simulation.makespan", 0), 7.0004e-6);
  EXPECT_EQ(value("halmark.simulation.resource.bytes", 0), 4096);
  EXPECT_DOUBLE_EQ(value("halmark.simulation.resource.busy", 0), 3e-6);
  EXPECT_EQ(by_name.at("halmark.simulation.resource.bytes")["unit"], "By");
}

TEST(OtlpSpans, of_the_same_origin_are_the_same_trace) {
  EXPECT_EQ(otlp_lines(small(), origin), otlp_lines(small(), origin));
  TelemetryOrigin later = origin;
  ++later.begin_unix_ns;
  const auto trace = [](const TelemetryOrigin& of) {
    return lines_of(otlp_lines(small(),
                               of))[0]["resourceSpans"][0]["scopeSpans"][0]["spans"][0]["traceId"]
        .get<std::string>();
  };
  EXPECT_NE(trace(origin), trace(later));
}

TEST(TimelineParquet, has_the_rows_of_the_json_lines) {
  const ParquetReader reader(events_of_file(small(), "events.parquet"), "events.parquet");
  ParquetCells cells(reader);
  std::size_t row = 0;
  const std::vector<Json> lines = lines_of(events_of_file(small(), "events.jsonl"));
  while (cells.next()) {
    const auto cell = [&](std::string_view name) {
      const auto& header = cells.header();
      return std::string(
          cells.row()[static_cast<std::size_t>(std::ranges::find(header, name) - header.begin())]);
    };
    ASSERT_LT(row, lines.size());
    EXPECT_EQ(cell("label"), lines[row]["label"]);
    EXPECT_EQ(cell("actor"), lines[row]["actor"]);
    EXPECT_EQ(cell("kind"), lines[row]["kind"]);
    EXPECT_EQ(cell("resource"), lines[row]["resource"]);
    EXPECT_DOUBLE_EQ(std::stod(cell("end_ps")) / 1e6, lines[row]["end_us"].get<double>());
    EXPECT_EQ(cell("cause").empty(), lines[row]["cause"].empty());
    ++row;
  }
  EXPECT_EQ(row, lines.size());
}

}  // namespace
}  // namespace halmark::simulate
