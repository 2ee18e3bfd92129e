// Served configurations for people: a table of the front, where its times are from, what missed a
// level.
#include "report/served_report.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <span>

#include "core/lists.hpp"
#include "core/text/text.hpp"
#include "report/charts/charts.hpp"
#include "report/page/html_page.hpp"
#include "report/report.hpp"
#include "report/rival_view.hpp"
#include "report/served_table.hpp"
#include "report/text/clean_text.hpp"
#include "report/text/quantity.hpp"
#include "report/text/stacked_table.hpp"
#include "report/text/table.hpp"
#include "report/text/wrapped_text.hpp"

namespace halmark {

namespace {

constexpr int line_max =
    120;  // of where times are from: beyond it their series have one of their own

std::string request_text(const ServedReport& r) {
  std::string out = "requests of " + std::to_string(r.request.input_tokens) + " + " +
                    std::to_string(r.request.output_tokens) + " tokens";
  for (const ServiceLevel& level : r.levels) {
    out += "; " + level_text(level);
  }
  return r.assumed.empty() ? out : out + "; " + r.assumed;
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
std::vector<std::string> fabric_ways(const ServedReport& r, const Points& points) {
  std::map<std::string, std::size_t> counts;
  for (const std::size_t i : points) {
    std::set<std::string> ways;
    for (const TimesFrom* from : {&r.front[i].ttft, &r.front[i].tpot}) {
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
  if (r.tables.empty()) return fabric_ways(r, points);
  std::vector<std::string> out;
  for (const std::size_t i : points) {
    const ServedPoint& p = r.front[i];
    const std::string label = served_label(p.configuration);
    for (const auto& [step, from] : {std::pair{"TTFT", &p.ttft}, {"TPOT", &p.tpot}}) {
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
  return served_label(point.configuration) + ": " +
         join(point.violations, "; ", &ServiceViolation::text);
}

std::string nothing_text(const ServedReport& r) {
  if (!r.fits_nothing()) return "none: no configuration is possible that keeps every level";
  return "none: no configuration fits" + (r.least.empty() ? std::string() : "; " + r.least);
}

// Which point and why; what it is likely to do.
std::vector<std::string> choice_lines(const ServedReport& r) {
  const ServedPoint& p = r.front[r.chosen->index];
  const ServingFigures &f = p.estimate.figures, &fast = p.estimate.fast, &slow = p.estimate.slow;
  std::string figures = ranged_rate(f.tokens_per_s_per_device, slow.tokens_per_s_per_device,
                                    fast.tokens_per_s_per_device) +
                        " tokens/s per device, TTFT " +
                        ranged_time(f.ttft_ns, fast.ttft_ns, slow.ttft_ns) + ", TPOT " +
                        ranged_time(f.tpot_ns, fast.tpot_ns, slow.tpot_ns);
  if (probability(r, p.estimate)) figures += ", P(SLO met) " + probability_text(r, p);
  return {"choice (*): point " + std::to_string(r.chosen->index + 1) + ", " +
              served_label(p.configuration) + ": " + r.chosen->because,
          std::move(figures)};
}

std::string given_up_text(const ServedReport& r) {
  const std::string lost = join(r.chosen->gives_up, ", ");
  return lost.empty() ? lost : "gives up " + lost;
}

std::vector<std::string> answer_lines(const ServedReport& r) {
  if (r.chosen) return choice_lines(r);
  return r.front.empty() ? std::vector{nothing_text(r)} : std::vector<std::string>{};
}

std::string title_of_front(const ServedReport& r) {
  std::string objectives =
      join(r.objectives, ", ", [](const Objective o) { return std::string(row_of(o).title); });
  return std::to_string(r.front.size()) + " of " + std::to_string(r.configurations) +
         (r.possible > r.configurations ? " tried" : "") + " configurations on the front by " +
         objectives;
}

}  // namespace

std::optional<double> probability(const ServedReport& r, const ServedEstimate& estimate) {
  if (r.levels.empty() || !estimate.has_interval) return std::nullopt;
  return service_level_probability(estimate, r.levels);
}

std::string probability_basis(const ServedReport& r) {
  if (r.levels.empty()) return "no [slo] is stated";
  const auto has = [](const auto& p) { return p.estimate.has_interval; };
  const bool has_interval =
      std::ranges::any_of(r.front, has) || std::ranges::any_of(r.nearest, has);
  if (!has_interval) {
    return "P(SLO met) is not known: no source of these times states a spread; roofline times are "
           "bounds, so the truth is slower";
  }
  const bool has_fabric = std::ranges::any_of(
      r.front, [](const ServedPoint& p) { return p.provenance.contains(Provenance::fabric); });
  if (!r.engine.empty()) {
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
  return "no configuration fits" + (r.least.empty() ? std::string() : "; " + r.least);
}

std::string report_text(const ServedReport& r, bool color, int width) {
  const auto bold = [&](const std::string& text) {
    return color ? "\x1b[1m" + text + "\x1b[0m" : text;
  };
  const auto line = [&](const std::string& text) {
    return report::wrapped(report::clean_text(text), width, 4);
  };
  // Sentences, which are not copied: broken in files and pipes, too.
  const auto sentence = [&](const std::string& text) {
    return text.empty() ? text
                        : report::wrapped(report::clean_text(text), std::min(width, line_max), 4);
  };
  const std::string next = r.next.empty() ? "" : "; next: " + r.next;
  const std::string head = report::clean_text(r.title + ": " + r.model);
  std::string out = line(head + "; " + request_text(r));
  if (out.starts_with(head)) out = bold(head) + out.substr(head.size());
  for (const std::string& text : answer_lines(r)) out += sentence(text);
  out += line(title_of_front(r) + next) + (r.chosen ? sentence(given_up_text(r)) : "");
  if (r.rival) out += sentence(report::rival_text(*r.rival, served_label));
  const std::size_t device = std::min<std::size_t>(1, r.basis.size());  // its line comes first
  if (device > 0) out += line(r.basis.front());
  Points shown;
  if (!r.front.empty()) {
    shown = shown_points(r);
    out += report::stacked_text(front_table(r, shown), width);
    if (shown.size() < r.front.size()) {
      out += line("and " + std::to_string(r.front.size() - shown.size()) +
                  " between these, or within 1 % or the doubt of one: halmark export lists them");
    }
    if (!r.least.empty()) out += line("too large: " + r.least);
  }
  for (const std::string& count : counts(r)) out += line(count);
  if (!r.nearest.empty()) {
    out += '\n' + bold("nearest that miss a level") + '\n';
    for (const MissedPoint& p : std::span(r.nearest).first(
             std::min<std::size_t>(r.front.empty() ? 10 : 3, r.nearest.size()))) {
      out += line("- " + missed_text(p));
    }
  }
  out += '\n';
  for (const std::string& basis : std::span(r.basis).subspan(device)) out += line(basis);
  if (r.chosen) shown = {r.chosen->index};
  for (const std::string& origin : origins(r, shown)) out += line(origin);
  if (!r.levels.empty()) out += line(probability_basis(r));
  return out +
         line("priced in " + report::significant_text(r.priced_s) + " s; nothing was measured");
}

std::string report_markdown(const ServedReport& r) {
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

std::string report_html(const ServedReport& r) {
  using report::element, report::list_element;
  std::string out = report::page_head(r.title) + "<body>\n<main>\n" +
                    element("h1", r.title + ": " + r.model) + element("p", request_text(r));
  for (const std::string& text : answer_lines(r)) out += element("p", text);
  out += element("p", title_of_front(r) + (r.next.empty() ? "" : "; next: " + r.next));
  if (r.chosen) out += element("p", given_up_text(r));
  if (r.rival) out += element("p", report::rival_text(*r.rival, served_label));
  if (!r.front.empty()) {
    auto dtypes = mapped(
        r.front, [&](const ServedPoint& point) { return point.configuration.precision.name; });
    out += "<figure style=\"max-width:720px\">" + report::served_front_chart(r) + "<figcaption>" +
           report::dtype_legend(dtypes) + "</figcaption></figure>\n" +
           report::table_html(front_table(r, all_points(r)), "front");
  }
  if (!r.least.empty() && !r.front.empty()) out += element("p", "too large: " + r.least);
  out += list_element(counts(r));
  auto missed = mapped(r.nearest, [&](const MissedPoint& p) { return missed_text(p); });
  if (!missed.empty()) out += element("h2", "nearest that miss a level") + list_element(missed);
  return out + element("h2", "where the times are from") + list_element(r.basis) +
         list_element(origins(r, r.chosen ? Points{r.chosen->index} : all_points(r))) +
         element("p", probability_basis(r)) + "</main>\n</body>\n</html>\n";
}

}  // namespace halmark
