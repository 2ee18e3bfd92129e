// The tables of a simulated step: its events by label, and what its links carried.
#include <fmt/format.h>

#include <algorithm>

#include "core/lists.hpp"
#include "pages/simulate/simulation_page.hpp"
#include "report/text/quantity.hpp"
#include "report/text/table.hpp"

namespace halmark::pages {
namespace {

using report::TextTable;

constexpr std::size_t rows_max = 24;  // what one screen shows

double ns(events::Picoseconds time) { return as_double(time) / 1e3; }

// What is not shown, so that no list ends in silence.
std::string rest_text(std::size_t all, const char* what, const char* where) {
  if (all <= rows_max) return {};
  return fmt::format("{} more {}: {}\n", all - rows_max, what, where);
}

}  // namespace

std::string timeline_section(const SimulationPage& page) {
  const std::vector<simulate::LabelFold> folds = fold_by_label(page.simulation.timeline);
  const double makespan = ns(page.simulation.timeline.makespan_ps);
  std::vector<std::string> titles = {"event", "kind", "count", "each"};
  const bool was_run = !page.executed.each_ns.empty();
  if (was_run) titles.emplace_back("in the run");
  for (const char* title : {"on path", "begins", "ends", "moves"}) titles.emplace_back(title);
  std::vector<bool> is_number(titles.size(), true);
  is_number[0] = is_number[1] = false;
  TextTable table(titles, is_number);
  for (const auto i : indices(std::min(rows_max, folds.size()))) {
    const simulate::LabelFold& fold = folds[i];
    std::vector<std::string> row = {
        fold.label, std::string(events::kind_name(fold.kind)), std::to_string(fold.events),
        report::duration_text(ns(fold.busy_ps) / as_double(fold.events))};
    if (was_run) {
      const auto* at = find_value(page.executed.each_ns, fold.label);
      row.push_back(!at ? report::absent_text : report::duration_text(*at));
    }
    row.push_back(report::rounded_percent_text(makespan > 0 ? ns(fold.critical_ps) / makespan : 0));
    row.push_back(report::duration_text(ns(fold.first_ps)));
    row.push_back(report::duration_text(ns(fold.last_ps)));
    row.push_back(report::bytes_text(fold.bytes / as_double(fold.events)));
    table.add(row);
  }
  return "\ntimeline, layers together, longest first\n" + table.text(page.width) +
         rest_text(folds.size(), "kinds of events", "--json has all, --events FILE each one");
}

std::string links_section(const SimulationPage& page) {
  const schedule::StepSimulation& s = page.simulation;
  if (!s.has_links) return "\nlinks: not looked at, the fabric is too large for its routes\n";
  std::vector<const simulate::TimelineResource*> links;
  for (const simulate::TimelineResource& link : s.timeline.resources) {
    if (link.is_link && link.bytes > 0) links.push_back(&link);
  }
  if (links.empty()) return {};
  const double step_s = s.step_ns() / 1e9;
  const auto utilisation = [&](const simulate::TimelineResource& link) {
    return link.bytes / link.bytes_per_s / step_s;
  };
  std::ranges::stable_sort(
      links, [&](const auto* a, const auto* b) { return utilisation(*a) > utilisation(*b); });
  TextTable table({"link", ">bytes", ">utilisation", ">bandwidth"});
  for (const auto i : indices(std::min(rows_max, links.size()))) {
    table.add({links[i]->name, report::bytes_text(links[i]->bytes),
               report::rounded_percent_text(utilisation(*links[i])),
               report::bandwidth_text(links[i]->bytes_per_s)});
  }
  return "\nlinks, busiest first\n" + table.text(page.width) +
         rest_text(links.size(), "links", "--json has all");
}

}  // namespace halmark::pages
