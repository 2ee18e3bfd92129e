// The table of a served front: which points it has, and the figures of each.
#include "report/served_table.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <set>

#include "core/ranges.hpp"
#include "report/choice/grouping.hpp"
#include "report/report.hpp"
#include "report/text/layout_text.hpp"
#include "report/text/quantity.hpp"
#include "report/text/table_columns.hpp"

namespace halmark {

using report::Table;

namespace {

constexpr std::size_t rows_max = 20;  // on the terminal; files have all
constexpr std::string_view one_device = "1 device";

std::string optional_text(std::optional<double> value) {
  return value ? report::significant_text(*value) : report::absent_text;
}

// "8.10 ms (7.20..9.40 ms)"
std::string ranged(std::string text, double low, double high, const std::string& range) {
  return low == high ? std::move(text) : std::move(text) + " (" + range + ')';
}

// What a user searched by or set a level for, and the other columns do not show.
std::vector<Objective> further_objectives(const ServedReport& r) {
  using enum Objective;
  constexpr std::array shown{
      ttft, tpot, request_latency, tokens_per_s, tokens_per_s_per_device, mfu, energy, cost};
  std::vector<Objective> asked = r.objectives, out;
  for (const ServiceLevel& level : r.levels) asked.push_back(level.objective);
  for (const Objective o : asked) {
    const auto is_new = [&](const auto& known) { return !contains(known, o); };
    if (is_new(shown) && is_new(out)) out.push_back(o);
  }
  return out;
}

}  // namespace

std::string served_label(const Configuration& configuration) {
  const ServedLoad& load = *configuration.served;
  const std::string decode = report::layout_text(configuration.parallel, one_device);
  const std::string head = 'x' + std::to_string(load.concurrency) + " t" +
                           std::to_string(load.token_budget) + ' ' + configuration.precision.name +
                           ' ';
  if (load.mode == ServingMode::aggregated) return head + decode;
  return head + std::to_string(load.prefill_workers) + "x(" +
         report::layout_text(load.prefill, one_device) + ")+" +
         std::to_string(load.decode_workers) + "x(" + decode + ')';
}

std::string probability_text(const ServedReport& r, const ServedPoint& point) {
  const auto p = probability(r, point.estimate);
  if (!p) return report::absent_text;
  if (*p > 0.99) return "> 99 %";
  return *p < 0.01 ? "< 1 %" : report::percent_text(p);
}

std::string ranged_time(double ns, double low, double high) {
  return ranged(report::duration_text(ns), low, high, report::duration_range_text(low, high));
}

std::string ranged_rate(double rate, double low, double high) {
  return ranged(report::significant_text(rate), low, high,
                report::significant_text(low) + ".." + report::significant_text(high));
}

Points all_points(const ServedReport& r) {
  Points out(r.front.size());
  std::iota(out.begin(), out.end(), std::size_t{0});
  return out;
}

Points shown_points(const ServedReport& r) {
  std::vector<Evaluation> points;
  for (const ServedPoint& p : r.front) {
    points.push_back({.configuration = p.configuration, .served = p.estimate});
  }
  std::set<std::size_t> out = ends_of(points, r.objectives);
  if (r.chosen) out.insert(r.chosen->index);
  for (const PointGroup& g : group_points(points, r.objectives, alike_share)) {
    if (out.size() < rows_max) out.insert(g.representative);
  }
  return {out.begin(), out.end()};
}

Table front_table(const ServedReport& r, const Points& points) {
  Table out;
  const std::vector<Objective> further = further_objectives(r);
  for (const std::size_t index : points) {
    const ServedPoint& p = r.front[index];
    const ServingFigures& f = p.estimate.figures;
    const ServingFigures &fast = p.estimate.fast, &slow = p.estimate.slow;
    const bool is_chosen = r.chosen && r.chosen->index == index;
    report::RowCells cells(out);
    cells.number("point", (is_chosen ? "*" : "") + std::to_string(index + 1));
    cells.text("configuration", served_label(p.configuration), p.configuration.key());
    cells.number("devices", std::to_string(p.configuration.devices()));
    cells.number("TTFT", ranged_time(f.ttft_ns, fast.ttft_ns, slow.ttft_ns));
    cells.number("TPOT", ranged_time(f.tpot_ns, fast.tpot_ns, slow.tpot_ns));
    cells.number("request", report::duration_text(f.request_ns));
    cells.number("tokens/s", ranged_rate(f.tokens_per_s, slow.tokens_per_s, fast.tokens_per_s));
    cells.number("/device", report::significant_text(f.tokens_per_s_per_device));
    cells.number("rank mem", report::bytes_text(f.memory_bytes_per_rank));
    cells.number("MFU", report::percent_text(f.mfu));
    cells.number("J/token", optional_text(f.energy_j_per_token));
    cells.number("USD/M", optional_text(f.usd_per_million_tokens));
    for (const Objective o : further) {
      const auto value = row_of(o).of_requests(f);
      cells.cell({std::string(row_of(o).title), true},
                 {value ? objective_text(o, *value) : report::absent_text});
    }
    cells.number("P(SLO)", probability_text(r, p));
    cells.text(
        "from",
        p.provenance.empty() ? report::absent_text : report::shares_text(p.provenance, r.tables),
        p.bottleneck);
  }
  // A figure that no row has takes no room.
  for (std::size_t c = out.columns.size(); c-- > 0;) {
    const bool is_absent = std::ranges::all_of(
        out.rows, [&](const auto& row) { return row[c].text == report::absent_text; });
    if (!is_absent) continue;
    out.columns.erase(out.columns.begin() + static_cast<std::ptrdiff_t>(c));
    for (auto& row : out.rows) row.erase(row.begin() + static_cast<std::ptrdiff_t>(c));
  }
  return out;
}

}  // namespace halmark
