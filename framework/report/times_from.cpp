#include "report/times_from.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/json/json.hpp"
#include "core/lists.hpp"
#include "core/text/text.hpp"
#include "report/text/quantity.hpp"

namespace halmark {

void TimesFrom::add(const std::string& name, double ns, const Latency& latency) {
  provenance[latency.provenance] += ns;
  if (!latency.origin.empty()) series[latency.origin] += ns;
  if (!latency.quarantined.empty() && ++quarantined == 1) {
    example = name + ": " + latency.quarantined;
  }
}

void TimesFrom::finish(double total_ns) {
  if (!(total_ns > 0)) return;
  for (auto& [from, share] : provenance) share /= total_ns;
  for (auto& [origin, share] : series) share /= total_ns;
}

TimesFrom times_from(const Estimate& estimate) {
  TimesFrom out;
  double total_ns = 0;
  for (const OperatorShare& op : estimate.operators) {
    Latency latency;
    latency.provenance = op.provenance;
    latency.origin = op.origin;
    latency.quarantined = op.quarantined;
    out.add(op.name, op.ns, latency);
    total_ns += op.ns;
  }
  out.finish(total_ns);
  return out;
}

namespace report {
namespace {

bool was_asked(const SeriesUse& series) { return series.exact + series.interpolated > 0; }

// In order of the tables, of series that gave a time.
std::map<std::string, std::size_t> numbers_of(const std::vector<TableUse>& tables) {
  std::map<std::string, std::size_t> out;
  for (const TableUse& table : tables) {
    for (const SeriesUse& series : table.series) {
      if (was_asked(series)) out.emplace(table.name + ": " + series.name, out.size() + 1);
    }
  }
  return out;
}

std::string use_text(const SeriesUse& series) {
  std::string out = std::to_string(series.points) + " points";
  if (was_asked(series)) {
    out += fmt::format(", gave {} kernels and {} more by interpolation", series.exact,
                       series.interpolated);
  }
  return out;
}

}  // namespace

std::string shares_text(const std::map<Provenance, double>& shares,
                        const std::vector<TableUse>& tables) {
  const bool is_forecast = !tables.empty() && std::ranges::all_of(tables, &TableUse::is_forecast);
  std::string out;
  for (const auto& [provenance, share] : shares) {
    if (share <= 0) continue;
    out += out.empty() ? "" : ", ";
    out += is_forecast && provenance == Provenance::interpolated ? "forecast"
                                                                 : provenance_name(provenance);
    if (share < 1 - 1e-9) out += ' ' + percent_text(share);
  }
  return out;
}

std::string series_text(const TimesFrom& from) {
  std::string out;
  for (const auto& [origin, share] : from.series) {
    append_item(out, "; ", origin + ' ' + percent_text(share));
  }
  return out;
}

std::string times_text(const TimesFrom& from, const std::vector<TableUse>& tables) {
  const auto numbers = numbers_of(tables);
  std::string out = shares_text(from.provenance, tables), series;
  for (const auto& [origin, share] : from.series) {
    const auto* number = find_value(numbers, origin);
    append_item(series, ", ",
                (!number ? origin : fmt::format("[{}]", *number)) + ' ' + percent_text(share));
  }
  if (!series.empty()) out += "; of " + series;
  if (from.quarantined > 0) out += fmt::format("; {} quarantined", from.quarantined);
  return out;
}

std::vector<std::string> table_lines(const std::vector<TableUse>& tables) {
  const auto numbers = numbers_of(tables);
  std::vector<std::string> out;
  for (const TableUse& table : tables) {
    out.push_back(fmt::format("{}: {} rows measured by others{}{}", table.file, table.rows,
                              table.device.empty() ? "" : " on ", table.device));
    if (!table.passed_over.empty()) out.push_back("  passed over: " + table.passed_over);
    std::size_t silent = 0;
    for (const SeriesUse& series : table.series) {
      const auto* number = find_value(numbers, table.name + ": " + series.name);
      if (!number && series.passed_over == 0) {
        ++silent;
        continue;
      }
      const std::string label = !number ? "-" : fmt::format("[{}]", *number);
      out.push_back(fmt::format("  {} {}: {}", label, series.name, use_text(series)));
      if (series.passed_over == 0) continue;
      out.push_back(fmt::format("      passed over {}: {}", series.passed_over, series.reason));
    }
    if (silent > 0) {
      out.push_back(fmt::format("  {} more series gave no time", silent));
    }
    for (const auto& [reason, rows] : table.skipped) {
      out.push_back(fmt::format("  {} rows skipped: {}", rows, reason));
    }
  }
  return out;
}

Json times_json(const TimesFrom& from) {
  Json provenance = Json::object();
  for (const auto& [name, share] : from.provenance) {
    provenance[std::string(provenance_name(name))] = share;
  }
  Json out = {
      {"provenance", provenance}, {"series", from.series}, {"quarantined", from.quarantined}};
  if (from.quarantined > 0) out["quarantined_example"] = from.example;
  return out;
}

}  // namespace report
}  // namespace halmark
