// Files of served reports: rows with every figure in full, and which format a suffix asks for.
#include "report/csv_rows.hpp"
#include "report/formats.hpp"
#include "report/served_report.hpp"
#include "report/times_from.hpp"

namespace halmark {

namespace {

struct FigureRow {
  const Configuration* configuration = nullptr;
  const ServedEstimate* estimate = nullptr;
  const ServedPoint* point = nullptr;  // nullptr: misses a level
  std::string binding;                 // which it misses by the most
};

void describe_figures(report::CsvRows& csv, const ServingFigures& f) {
  csv("ttft_ns", f.ttft_ns);
  csv("tpot_ns", f.tpot_ns);
  csv("request_ns", f.request_ns);
  csv("requests_per_s", f.requests_per_s);
  csv("tokens_per_s", f.tokens_per_s);
  csv("tokens_per_s_per_device", f.tokens_per_s_per_device);
  csv("memory_bytes", f.memory_bytes);
  csv("memory_bytes_per_rank", f.memory_bytes_per_rank);
  csv("energy_j_per_token", f.energy_j_per_token);
  csv("usd_per_million_tokens", f.usd_per_million_tokens);
  csv("mfu", f.mfu);
}

void describe_row(report::CsvRows& csv, const FigureRow& r, const ServedReport& report) {
  static const ServedPoint none;
  const Configuration& c = *r.configuration;
  const ServedLoad load = c.served.value_or(ServedLoad{});
  const ServedPoint& p = r.point != nullptr ? *r.point : none;
  std::optional<std::size_t> quarantined;
  if (r.point != nullptr) quarantined = p.ttft.quarantined + p.tpot.quarantined;
  csv("key", c.key());
  csv("mode", serving_mode_name(load.mode));
  csv("devices", c.devices());
  csv("concurrency", load.concurrency);
  csv("token_budget", load.token_budget);
  csv("precision", c.precision.name);
  describe_figures(csv, r.estimate->figures);
  csv("is_saturated", r.estimate->is_saturated ? "true" : "false");
  csv("slo_probability", probability(report, *r.estimate));
  csv("provenance", report::shares_text(p.provenance));
  csv("binding", r.binding);
  csv("ttft_provenance", report::shares_text(p.ttft.provenance));
  csv("ttft_series", report::series_text(p.ttft));
  csv("tpot_provenance", report::shares_text(p.tpot.provenance));
  csv("tpot_series", report::series_text(p.tpot));
  csv("quarantined", quarantined);
  csv("quarantined_example", p.ttft.quarantined > 0 ? p.ttft.example : p.tpot.example);
}

}  // namespace

std::string report_csv(const ServedReport& r) {
  static const ServedPoint none;
  std::vector<FigureRow> rows;
  for (const ServedPoint& p : r.front) rows.push_back({&p.configuration, &p.estimate, &p});
  for (const MissedPoint& p : r.nearest) {
    rows.push_back({&p.configuration, &p.estimate, nullptr, p.violations.front().text()});
  }
  return report::csv_of(
      rows, [&](report::CsvRows& csv, const FigureRow& row) { describe_row(csv, row, r); },
      {&none.configuration, &none.estimate});
}

namespace {

const report::Format<ServedReport>& served_format_of(const std::string& path) {
  static constexpr report::Format<ServedReport> formats[] = {
      {".html", report_html},
      {".json", [](const ServedReport& r) { return report::json_text(report_json(r)); }},
      {".csv", report_csv},
      {".md", report_markdown}};
  return report::format_of(path, formats, "unknown format '{}' of a report on served deployments");
}

}  // namespace

void check_served_report_path(const std::string& path) { served_format_of(path); }

void write_report(const ServedReport& r, const std::string& path) {
  write_whole_file(served_format_of(path).render(r), path);
}

}  // namespace halmark
