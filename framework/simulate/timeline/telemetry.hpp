// A timeline as telemetry: spans and metrics of OpenTelemetry, rows of Parquet.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "simulate/timeline/timeline.hpp"

namespace halmark::simulate {

// What the figures are of: "halmark.model", "halmark.configuration", "halmark.device", ...
struct TelemetryOrigin {
  std::vector<std::pair<std::string, std::string>> attributes;
  std::int64_t begin_unix_ns = 0;  // the instant that the timeline's 0 is shown at
};

// As a file exporter of OTLP writes it: two JSON lines, an ExportTraceServiceRequest with a span
// for each event below one of the whole (links name causes), and an ExportMetricsServiceRequest
// with gauges of the makespan, the events of each kind, bytes and busy time of each resource.
// https://opentelemetry.io/docs/specs/otel/protocol/file-exporter
std::string otlp_lines(const Timeline& timeline, const TelemetryOrigin& origin);

// What a file of events holds: Parquet where its name ends in .parquet, else JSON lines.
std::string events_of_file(const Timeline& timeline, const std::string& path);

// The rows of json_lines() as one Parquet table; causes as one nullable column.
std::string timeline_parquet(const Timeline& timeline);

}  // namespace halmark::simulate
