// Served configurations for people: a table of the front, where its times are from, what missed a
// level.
#include "report/served_report.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <span>

#include "report/choice/grouping.hpp"
#include "report/report.hpp"
#include "report/text/clean_text.hpp"
#include "report/text/quantity.hpp"
#include "report/text/stacked_table.hpp"
#include "report/text/table.hpp"
#include "report/text/wrapped_text.hpp"

namespace halmark {

using report::Table;
using report::TableCell;

namespace {

constexpr int line_max =
    120;  // of where times are from: beyond it their series have one of their own
constexpr std::size_t rows_max = 20;  // on the terminal; files have all

std::string layout_text(const Parallel& p) {
  std::string out;
  for (const auto& [name, value] :
       {std::pair{"dp", p.dp}, {"tp", p.tp}, {"pp", p.pp}, {"ep", p.ep}}) {
    if (value > 1) out += (out.empty() ? "" : " ") + std::string(name) + std::to_string(value);
  }
  return out.empty() ? "1 device" : out;
}

std::string optional_text(std::optional<double> value) {
  return value ? report::significant_text(*value) : report::absent_text;
}

// "8.10 ms (7.20..9.40 ms)"
std::string ranged(std::string text, double low, double high, const std::string& range) {
  return low == high ? std::move(text) : std::move(text) + " (" + range + ')';
}

// Where every source gives its ends, the certain word would be wrong; without ends there is none.
std::string probability_text(const ServedReport& r, const ServedPoint& point) {
  const auto p = probability(r, point);
  if (!p) return report::absent_text;
  if (!point.estimate.has_interval) return "kept";
  // An interval of 90 % says nothing of its far tails.
  if (*p > 0.99) return "> 99 %";
  return *p < 0.01 ? "< 1 %" : report::percent_text(p);
}

// What a user searched by or set a level for, and the other columns do not show.
std::vector<Objective> further_objectives(const ServedReport& r) {
  using enum Objective;
  constexpr std::array shown{
      ttft, tpot, request_latency, tokens_per_s, tokens_per_s_per_device, mfu, energy, cost};
  std::vector<Objective> asked = r.objectives, out;
  for (const ServiceLevel& level : r.levels) asked.push_back(level.objective);
  for (const Objective o : asked) {
    const auto is_new = [&](const auto& known) {
      return std::ranges::find(known, o) == known.end();
    };
    if (is_new(shown) && is_new(out)) out.push_back(o);
  }
  return out;
}

using Points = std::vector<const ServedPoint*>;

Points all_points(const ServedReport& r) {
  Points out;
  for (const ServedPoint& p : r.front) out.push_back(&p);
  return out;
}

std::vector<PointGroup> groups_of(const ServedReport& r) {
  std::vector<Evaluation> points;
  for (const ServedPoint& p : r.front) {
    points.push_back({.configuration = p.configuration, .served = p.estimate});
  }
  return group_points(points, r.objectives, alike_share);
}

Table front_table(const ServedReport& r, const Points& points) {
  Table out;
  out.columns = {{"configuration", false}, {"devices", true},  {"TTFT", true},
                 {"TPOT", true},           {"request", true},  {"tokens/s", true},
                 {"/device", true},        {"rank mem", true}, {"MFU", true},
                 {"J/token", true},        {"USD/M", true},    {"P(SLO)", true},
                 {"from", false}};
  const std::vector<Objective> further = further_objectives(r);
  for (const Objective o : further) {
    out.columns.insert(out.columns.end() - 2, {std::string(row_of(o).title), true});
  }
  for (const ServedPoint* point : points) {
    const ServedPoint& p = *point;
    const ServingFigures& f = p.estimate.figures;
    const ServingFigures &fast = p.estimate.fast, &slow = p.estimate.slow;
    const auto timed = [](double ns, double low, double high) {
      return TableCell{
          ranged(report::duration_text(ns), low, high, report::duration_range_text(low, high)),
          {},
          {}};
    };
    const double slowest = slow.tokens_per_s, fastest = fast.tokens_per_s;
    out.rows.push_back(
        {{served_label(p.configuration), {}, p.configuration.key()},
         {std::to_string(p.configuration.devices()), {}, {}},
         timed(f.ttft_ns, fast.ttft_ns, slow.ttft_ns),
         timed(f.tpot_ns, fast.tpot_ns, slow.tpot_ns),
         {report::duration_text(f.request_ns), {}, {}},
         {ranged(report::significant_text(f.tokens_per_s), slowest, fastest,
                 report::significant_text(slowest) + ".." + report::significant_text(fastest)),
          {},
          {}},
         {report::significant_text(f.tokens_per_s_per_device), {}, {}},
         {report::bytes_text(static_cast<double>(f.memory_bytes_per_rank)), {}, {}},
         {report::percent_text(f.mfu), {}, {}},
         {optional_text(f.energy_j_per_token), {}, {}},
         {optional_text(f.usd_per_million_tokens), {}, {}},
         {probability_text(r, p), {}, {}},
         {report::shares_text(p.provenance), {}, p.bottleneck}});
    auto& row = out.rows.back();
    for (const Objective o : further) {
      const auto value = row_of(o).of_requests(f);
      row.insert(row.end() - 2, {value ? objective_text(o, *value) : report::absent_text, {}, {}});
    }
  }
  // What nobody stated takes no room.
  for (std::size_t c = out.columns.size(); c-- > 0;) {
    const bool is_absent = std::ranges::all_of(
        out.rows, [&](const auto& row) { return row[c].text == report::absent_text; });
    if (!is_absent || out.rows.empty()) continue;
    out.columns.erase(out.columns.begin() + static_cast<std::ptrdiff_t>(c));
    for (auto& row : out.rows) row.erase(row.begin() + static_cast<std::ptrdiff_t>(c));
  }
  return out;
}

std::string request_text(const ServedReport& r) {
  std::string out = "requests of " + std::to_string(r.request.input_tokens) + " + " +
                    std::to_string(r.request.output_tokens) + " tokens; objectives";
  for (const Objective o : r.objectives) out += ' ' + std::string(objective_name(o));
  for (const ServiceLevel& level : r.levels) {
    out += std::string("; ") + std::string(objective_name(level.objective)) +
           (is_maximised(level.objective) ? " >= " : " <= ") +
           objective_text(level.objective, level.limit);
  }
  return out;
}

std::vector<std::string> counts(const ServedReport& r) {
  std::vector<std::string> out;
  for (const auto& [reason, count] : r.refused) {
    out.push_back(std::to_string(count) + " refused: " + reason + " (" + r.examples.at(reason) +
                  ')');
  }
  for (const auto& [objective, count] : r.missed_by) {
    out.push_back(std::to_string(count) + " miss " + std::string(objective_name(objective)) +
                  " by the most");
  }
  return out;
}

// How a fabric priced what the points exchange, and how many of them.
std::vector<std::string> fabric_ways(const Points& points) {
  std::map<std::string, std::size_t> counts;
  for (const ServedPoint* p : points) {
    std::set<std::string> ways;
    for (const TimesFrom* from : {&p->ttft, &p->tpot}) {
      for (const auto& [origin, share] : from->series) {
        if (origin.starts_with("fabric ")) ways.insert(origin);
      }
    }
    for (const std::string& way : ways) ++counts[way];
  }
  std::vector<std::string> out;
  for (const auto& [way, count] : counts) {
    out.push_back("  " + way + ": " + std::to_string(count) + " of " +
                  std::to_string(points.size()) + " points");
  }
  return out;
}

// Where the times of both steps are from, where it is not all one source.
std::vector<std::string> origins(const ServedReport& r, const Points& points) {
  if (r.tables.empty()) return fabric_ways(points);
  std::vector<std::string> out;
  for (const ServedPoint* p : points) {
    const std::string label = served_label(p->configuration);
    for (const auto& [step, from] : {std::pair{"TTFT", &p->ttft}, {"TPOT", &p->tpot}}) {
      std::string text = "  " + label + ": " + step + ' ' + report::times_text(*from, r.tables);
      const std::size_t series = text.find("; of ");
      const bool is_long = report::display_width(text) > line_max && series != std::string::npos;
      out.push_back(text.substr(0, is_long ? series : std::string::npos));
      if (is_long) out.push_back("      " + text.substr(series + 2));
    }
  }
  return out;
}

std::string missed_text(const MissedPoint& point) {
  std::string out = served_label(point.configuration) + ": ";
  for (std::size_t i = 0; i < point.violations.size(); ++i) {
    out += (i > 0 ? "; " : "") + point.violations[i].text();
  }
  return out;
}

std::string nothing_text(const ServedReport& r) {
  if (!r.fits_nothing()) return "none: no configuration is possible that keeps every level";
  return "none: no configuration fits" +
         (r.least.empty() ? std::string() : "; the least that does: " + r.least);
}

std::string title_of_front(const ServedReport& r) {
  return std::to_string(r.front.size()) + " of " + std::to_string(r.configurations) +
         (r.possible > r.configurations ? " tried" : "") + " configurations on the front";
}

}  // namespace

std::string served_label(const Configuration& configuration) {
  const ServedLoad& load = *configuration.served;
  const std::string decode = layout_text(configuration.parallel);
  const std::string head = 'x' + std::to_string(load.concurrency) + " t" +
                           std::to_string(load.token_budget) + ' ' + configuration.precision.name +
                           ' ';
  if (load.mode == ServingMode::aggregated) return head + decode;
  return head + std::to_string(load.prefill_workers) + "x(" + layout_text(load.prefill) + ")+" +
         std::to_string(load.decode_workers) + "x(" + decode + ')';
}

std::optional<double> probability(const ServedReport& r, const ServedPoint& point) {
  if (r.levels.empty()) return std::nullopt;
  return service_level_probability(point.estimate, r.levels);
}

std::string probability_basis(const ServedReport& r) {
  if (r.levels.empty()) return "no [slo] is stated";
  const bool has_interval =
      std::ranges::any_of(r.front, [](const ServedPoint& p) { return p.estimate.has_interval; });
  if (!has_interval) {
    return "no source of these times states a spread: a level is kept at the stated times or it is "
           "not; roofline times are bounds, so the truth is slower";
  }
  const bool has_fabric = std::ranges::any_of(
      r.front, [](const ServedPoint& p) { return p.provenance.contains(Provenance::fabric); });
  if (r.has_engine_interval) {
    const bool has_pools = std::ranges::any_of(r.front, [](const ServedPoint& p) {
      return p.configuration.served->mode == ServingMode::disaggregated;
    });
    return std::string(
               "90 % intervals (in brackets) and P(SLO) are those of the engine's terms, which "
               "hold "
               "all errors together: measured over predicted of models, curves and devices that "
               "they were not fitted on") +
           (has_pools ? "; no row of disaggregated workers was among them" : "");
  }
  return std::string("P(SLO) is computed from the intervals of the kernel times (interpolated") +
         (has_fabric ? " and fabric" : "") +
         ": 90 % where calibrated), taken to err together, log-normal between their ends; roofline "
         "and imported times add no spread";
}

std::string nearest_miss(const ServedReport& r) {
  if (!r.nearest.empty()) return "nearest: " + missed_text(r.nearest.front());
  return r.least.empty() ? "no configuration fits" : "the least that does: " + r.least;
}

std::string served_text(const ServedReport& r, bool color, int width) {
  const auto bold = [&](const std::string& text) {
    return color ? "\x1b[1m" + text + "\x1b[0m" : text;
  };
  const auto line = [&](const std::string& text) {
    return report::wrapped(report::clean_text(text), width, 4);
  };
  std::string out = bold(r.title + ": " + r.model) + '\n';
  for (const std::string& basis : r.basis) out += line(basis);
  out += line(request_text(r)) + '\n' + bold(title_of_front(r)) + '\n';
  if (r.front.empty()) {
    out += line(nothing_text(r)) + '\n';
  } else {
    const std::vector<PointGroup> groups = groups_of(r);
    Points shown;
    for (const PointGroup& g : groups) {
      if (shown.size() < rows_max) shown.push_back(&r.front[g.representative]);
    }
    out += report::stacked_text(front_table(r, shown), width);
    if (groups.size() > rows_max) {
      out += "... and " + std::to_string(groups.size() - rows_max) + " more: see --out or --json\n";
    }
    if (const std::string alike = alike_text(groups); !alike.empty()) out += line(alike);
    for (const std::string& origin : origins(r, shown)) out += line(origin);
  }
  if (!r.levels.empty()) out += line(probability_basis(r));
  for (const std::string& count : counts(r)) out += line(count);
  if (!r.nearest.empty()) {
    out += '\n' + bold("nearest that miss a level") + '\n';
    for (const MissedPoint& p : std::span(r.nearest).first(
             std::min<std::size_t>(r.front.empty() ? 10 : 3, r.nearest.size()))) {
      out += line("- " + missed_text(p));
    }
  }
  return out + '\n' +
         line("priced in " + report::significant_text(r.priced_s) +
              " s; nothing was measured: run `halmark tune` on the devices to confirm");
}

std::string served_markdown(const ServedReport& r) {
  std::string out = "# " + report::markdown_text(r.title + ": " + r.model) + "\n\n";
  for (const std::string& basis : r.basis) out += "- " + report::markdown_text(basis) + '\n';
  out += "- " + report::markdown_text(request_text(r)) + "\n\n" +
         report::markdown_text(title_of_front(r)) + ".\n\n";
  if (!r.front.empty()) out += report::table_markdown(front_table(r, all_points(r)));
  if (!r.tables.empty()) out += '\n';
  for (const std::string& origin : origins(r, all_points(r))) {
    out += "- " + report::markdown_text(origin) + '\n';
  }
  out += '\n' + report::markdown_text(probability_basis(r)) + "\n\n";
  for (const std::string& count : counts(r)) out += "- " + report::markdown_text(count) + '\n';
  for (const MissedPoint& p : r.nearest) {
    out += "- " + report::markdown_text(missed_text(p)) + '\n';
  }
  return out;
}

}  // namespace halmark
