#include "simulate/timeline/telemetry.hpp"

#include <fmt/format.h>

#include <array>
#include <map>

#include "core/json/json.hpp"
#include "core/lists.hpp"
#include "core/text/digest.hpp"
#include "core/version.hpp"
#include "parquet/parquet_writer.hpp"
#include "simulate/timeline/timeline_export.hpp"

namespace halmark::simulate {
namespace {

using events::Picoseconds;

Json attribute(const std::string& key, const std::string& value) {
  return {{"key", key}, {"value", {{"stringValue", value}}}};
}

Json resource_of(const TelemetryOrigin& origin) {
  Json out = Json::array();
  out.push_back(attribute("service.name", "halmark"));
  out.push_back(attribute("service.version", tool_version));
  for (const auto& [key, value] : origin.attributes) {
    if (!value.empty()) out.push_back(attribute(key, value));
  }
  return {{"attributes", std::move(out)}};
}

Json scope() { return {{"name", "halmark"}, {"version", tool_version}}; }

// Nanoseconds are the unit of OTLP: an event of less is rounded to the nearest.
std::string unix_ns(const TelemetryOrigin& origin, Picoseconds time) {
  return std::to_string(origin.begin_unix_ns + (time + 500) / 1000);
}

std::string span_id(std::uint64_t index) { return fmt::format("{:016x}", index + 1); }

// The same trace for the same origin, so that writing twice is no second trace.
std::string trace_id(const TelemetryOrigin& origin) {
  std::string text = std::to_string(origin.begin_unix_ns);
  for (const auto& [key, value] : origin.attributes) text += key + '=' + value + '\n';
  return sha256_of(text).substr(0, 32);
}

Json span_of(const Timeline& timeline, std::size_t index, const std::string& trace,
             const TelemetryOrigin& origin) {
  const TimelineEvent& e = timeline.events[index];
  Json attributes = Json::array();
  attributes.push_back(attribute("halmark.actor", timeline.actors[e.actor]));
  attributes.push_back(attribute("halmark.kind", std::string(events::kind_name(e.kind))));
  attributes.push_back(attribute("halmark.phase", std::string(phase_name(e.phase))));
  if (e.resource != TimelineEvent::none) {
    attributes.push_back(attribute("halmark.resource", timeline.resources[e.resource].name));
  }
  attributes.push_back({{"key", "halmark.bytes"}, {"value", {{"doubleValue", e.bytes}}}});
  attributes.push_back({{"key", "halmark.flops"}, {"value", {{"doubleValue", e.flops}}}});
  attributes.push_back({{"key", "halmark.critical"}, {"value", {{"boolValue", e.is_critical}}}});
  Json out = {{"traceId", trace},
              {"spanId", span_id(index + 1)},
              {"parentSpanId", span_id(0)},
              {"name", timeline.labels[e.label]},
              {"kind", 1},
              {"startTimeUnixNano", unix_ns(origin, e.start_ps)},
              {"endTimeUnixNano", unix_ns(origin, e.end_ps)},
              {"attributes", std::move(attributes)}};
  if (e.cause != TimelineEvent::none) {
    out["links"] = Json::array({{{"traceId", trace}, {"spanId", span_id(e.cause + 1)}}});
  }
  return out;
}

// Written span by span: a document of a million of them would take gigabytes.
std::string spans_line(const Timeline& timeline, const TelemetryOrigin& origin) {
  const std::string trace = trace_id(origin);
  const Json whole = {{"traceId", trace},
                      {"spanId", span_id(0)},
                      {"name", "simulation"},
                      {"kind", 1},
                      {"startTimeUnixNano", unix_ns(origin, 0)},
                      {"endTimeUnixNano", unix_ns(origin, timeline.makespan_ps)}};
  std::string out = R"({"resourceSpans":[{"resource":)" + dump_json(resource_of(origin)) +
                    R"(,"scopeSpans":[{"scope":)" + dump_json(scope()) + R"(,"spans":[)" +
                    dump_json(whole);
  for (std::size_t i = 0; i < timeline.events.size(); ++i) {
    out += ',' + dump_json(span_of(timeline, i, trace, origin));
  }
  return out + "]}]}]}\n";
}

class Gauge {
 public:
  Gauge(std::string name, std::string unit, std::string time)
      : name_(std::move(name)), unit_(std::move(unit)), time_(std::move(time)) {}
  void add(double value, const std::string& key = {}, const std::string& of = {}) {
    Json point = {{"timeUnixNano", time_}, {"asDouble", value}};
    if (!key.empty()) point["attributes"] = Json::array({attribute(key, of)});
    points_.push_back(std::move(point));
  }
  Json json() const {
    return {{"name", name_}, {"unit", unit_}, {"gauge", {{"dataPoints", points_}}}};
  }

 private:
  std::string name_, unit_, time_;
  Json points_ = Json::array();
};

std::string metrics_line(const Timeline& timeline, const TelemetryOrigin& origin) {
  const std::string time = unix_ns(origin, timeline.makespan_ps);
  Gauge makespan("halmark.simulation.makespan", "s", time);
  Gauge count("halmark.simulation.events", "{event}", time);
  Gauge bytes("halmark.simulation.resource.bytes", "By", time);
  Gauge busy("halmark.simulation.resource.busy", "s", time);
  makespan.add(events::seconds_of(timeline.makespan_ps));
  std::map<events::EventKind, double> of_kind;
  for (const TimelineEvent& e : timeline.events) of_kind[e.kind] += 1;
  for (const auto& [kind, n] : of_kind) {
    count.add(n, "halmark.kind", std::string(events::kind_name(kind)));
  }
  for (const TimelineResource& r : timeline.resources) {
    busy.add(events::seconds_of(r.busy_ps), "halmark.resource", r.name);
    if (r.is_link) bytes.add(r.bytes, "halmark.resource", r.name);
  }
  const Json metrics = Json::array({makespan.json(), count.json(), bytes.json(), busy.json()});
  const Json of_scope = {{"scope", scope()}, {"metrics", metrics}};
  const Json of_resource = {{"resource", resource_of(origin)},
                            {"scopeMetrics", Json::array({of_scope})}};
  return dump_json({{"resourceMetrics", Json::array({of_resource})}}) + '\n';
}

}  // namespace

std::string otlp_lines(const Timeline& timeline, const TelemetryOrigin& origin) {
  return spans_line(timeline, origin) + metrics_line(timeline, origin);
}

std::string events_of_file(const Timeline& timeline, const std::string& path) {
  return path.ends_with(".parquet") ? timeline_parquet(timeline) : json_lines(timeline);
}

std::string timeline_parquet(const Timeline& timeline) {
  const auto column = [](const char* name, ParquetKind kind, bool is_nullable = false) {
    return ParquetColumn{name, kind, is_nullable};
  };
  std::string out;
  ParquetWriter writer(
      {column("id", ParquetKind::integer), column("phase", ParquetKind::text),
       column("actor", ParquetKind::text), column("kind", ParquetKind::text),
       column("label", ParquetKind::text), column("start_ps", ParquetKind::integer),
       column("end_ps", ParquetKind::integer), column("resource", ParquetKind::text, true),
       column("bytes", ParquetKind::real), column("flops", ParquetKind::real),
       column("cause", ParquetKind::integer, true), column("critical", ParquetKind::boolean)},
      [&out](std::string_view bytes) { out += bytes; });
  for (const auto i : indices(timeline.events)) {
    const TimelineEvent& e = timeline.events[i];
    const auto text = [](std::string_view value) { return ParquetCell(value); };
    const std::array<ParquetCell, 12> row = {
        as_int64(i),
        text(phase_name(e.phase)),
        text(timeline.actors[e.actor]),
        text(events::kind_name(e.kind)),
        text(timeline.labels[e.label]),
        e.start_ps,
        e.end_ps,
        e.resource == TimelineEvent::none ? ParquetCell()
                                          : text(timeline.resources[e.resource].name),
        e.bytes,
        e.flops,
        e.cause == TimelineEvent::none ? ParquetCell() : ParquetCell(std::int64_t{e.cause}),
        std::int64_t{e.is_critical}};
    writer.add(row);
  }
  writer.finish();
  return out;
}

}  // namespace halmark::simulate
