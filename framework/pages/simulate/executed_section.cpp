// The simulated step beside the one that halmark run executed, event by event.
#include <fmt/format.h>

#include "core/json/json.hpp"
#include "core/numeric/cast.hpp"
#include "pages/simulate/simulation_page.hpp"
#include "report/text/quantity.hpp"
#include "report/text/table.hpp"
#include "simulate/timeline/executed.hpp"

namespace halmark::pages {
namespace {

using report::duration_text;
using report::percent_text;

const simulate::Timeline& timeline_of(const SimulationPage& page) {
  return page.simulation.timeline;
}

std::string label_of(const SimulationPage& page, const simulate::ExecutedEvent& pair) {
  const simulate::TimelineEvent& event = timeline_of(page).events[pair.event];
  return timeline_of(page).labels[event.label] + " on " + timeline_of(page).actors[event.actor];
}

std::string missing_text(const simulate::ExecutedStep& both) {
  if (both.only_simulated + both.only_executed == 0) return {};
  return fmt::format("; {} simulated only, {} executed only", both.only_simulated,
                     both.only_executed);
}

}  // namespace

Json executed_json(const SimulationPage& page) {
  if (page.executed.ranks.empty()) return {{"executed", nullptr}};
  const auto both = beside_executed(timeline_of(page), page.executed.ranks);
  Json events = Json::array();
  Json ranks = json_list(both.ranks, [](const simulate::ExecutedStep::Rank& rank) -> Json {
    return {{"device", rank.device},
            {"events", rank.events},
            {"simulated_us", rank.simulated_ns / 1e3},
            {"executed_us", rank.executed_ns / 1e3},
            {"simulated_end_us", rank.simulated_end_ns / 1e3},
            {"executed_end_us", rank.executed_end_ns / 1e3}};
  });
  for (const simulate::ExecutedEvent& pair : both.pairs) {
    const simulate::TimelineEvent& event = timeline_of(page).events[pair.event];
    const Execution& one = page.executed.ranks[pair.rank][pair.execution];
    events.push_back({{"id", pair.event},
                      {"label", timeline_of(page).labels[event.label]},
                      {"rank", pair.rank},
                      {"start_us", as_double(event.start_ps) / 1e6},
                      {"us", as_double(event.end_ps - event.start_ps) / 1e6},
                      {"executed_start_us", one.begin_ns / 1e3},
                      {"executed_us", one.ns / 1e3}});
  }
  return {{"executed",
           {{"step_us", both.executed_ns / 1e3},
            {"only_simulated", both.only_simulated},
            {"only_executed", both.only_executed},
            {"begin_difference_median", both.begin_median},
            {"begin_difference_p90", both.begin_p90},
            {"begin_difference_worst", both.begin_worst},
            {"ranks", std::move(ranks)},
            {"events", std::move(events)}}}};
}

std::string executed_section(const SimulationPage& page) {
  if (!page.executed.step_ns) return {};
  const double step_ns = *page.executed.step_ns;
  std::string out =
      fmt::format("\nexecuted by halmark run: {} a step; simulated {}\n", duration_text(step_ns),
                  report::signed_percent_text(page.simulation.step_ns() / step_ns - 1));
  if (page.executed.ranks.empty()) return out;
  const auto both = beside_executed(timeline_of(page), page.executed.ranks);
  if (both.pairs.empty()) return out;
  out += fmt::format(
      "event by event, {} kernels{}: they begin {} of the step apart in the median, {} in 90 %, {} "
      "at most ({})\n",
      both.pairs.size(), missing_text(both), percent_text(both.begin_median),
      percent_text(both.begin_p90), percent_text(both.begin_worst),
      label_of(page, both.pairs[both.worst]));
  report::TextTable table(
      {"device", "kernels", "take, simulated", "executed", "last ends, simulated", "executed"},
      {false, true, true, true, true, true});
  for (const simulate::ExecutedStep::Rank& rank : both.ranks) {
    table.add({rank.device, std::to_string(rank.events), duration_text(rank.simulated_ns),
               duration_text(rank.executed_ns), duration_text(rank.simulated_end_ns),
               duration_text(rank.executed_end_ns)});
  }
  return out + table.text(page.width);
}

}  // namespace halmark::pages
