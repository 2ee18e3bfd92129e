#include "pages/serve/document/simulation_document.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "core/json/json.hpp"
#include "core/lists.hpp"
#include "pages/serve/document/fabric_drawing.hpp"
#include "pages/serve/document/step_document.hpp"
#include "simulate/schedule/simulation_json.hpp"

namespace halmark::pages {
namespace {

using events::EventKind;
using events::Picoseconds;
using schedule::StepSimulation;
using simulate::Timeline;
using simulate::TimelineEvent;

double microseconds(Picoseconds time) { return std::round(as_double(time) / 1e3) / 1e3; }

void add_power(Json& figures, const PricedSystem& system,
               const std::optional<schedule::StepPower>& power) {
  Origin from = {"modelled", ""};
  std::string none;
  std::optional<double> watts, joule, most;
  if (power) {
    from.means = "On average over the step, all devices. " + power->model.origin;
    watts = power->use.mean_w;
    most = power->use.peak_w;
    joule = power->j_per_token();
  } else {
    none = system.device().id + " states no power";
    from.means = "A device of known power draws what its idle state and its kernels take.";
  }
  figures.push_back(figure_json({"power", "power", "W", "power", watts, {}, {}, from, none}));
  figures.push_back(
      figure_json({"power_most", "power at most", "W", "power", most, {}, {}, from, none}));
  figures.push_back(figure_json(
      {"j_per_token", "energy per token", "J", "energy per token", joule, {}, {}, from, none}));
}

// What the devices of a step wait for.
void add_parts(Json& figures, const StepSimulation& s, const Origin& from) {
  const simulate::DeviceParts parts = device_parts(s.timeline);
  figures.push_back(figure_json({"communication",
                                 "waits for collectives",
                                 "1",
                                 "time share",
                                 parts.communication,
                                 {},
                                 {},
                                 from,
                                 ""}));
  figures.push_back(
      figure_json({"bubble", "devices idle", "1", "bubble share", parts.bubble, {}, {}, from, ""}));
}

Json critical_path_json(const Timeline& timeline) {
  std::vector<simulate::LabelFold> folds = fold_by_label(timeline);
  std::erase_if(folds, [](const simulate::LabelFold& fold) { return fold.critical_ps <= 0; });
  std::ranges::stable_sort(folds, std::greater(), &simulate::LabelFold::critical_ps);
  return json_list(folds, [](const simulate::LabelFold& fold) -> Json {
    return {{"label", fold.label},
            {"kind", events::kind_name(fold.kind)},
            {"count", fold.events},
            {"us", microseconds(fold.critical_ps)},
            {"busy_us", microseconds(fold.busy_ps)}};
  });
}

// Actors whose events are shown: of those that something critical happens on and then of the others
// as many as there is room for.
std::set<std::uint32_t> shown_actors(const Timeline& timeline, std::size_t events_max) {
  std::vector<std::size_t> counts(timeline.actors.size(), 0);
  std::set<std::uint32_t> critical, out;
  for (const TimelineEvent& e : timeline.events) {
    ++counts[e.actor];
    if (e.is_critical) critical.insert(e.actor);
  }
  std::size_t shown = 0;
  const auto add = [&](std::uint32_t actor) {
    if (counts[actor] == 0 || shown + counts[actor] > events_max) return;
    if (out.insert(actor).second) shown += counts[actor];
  };
  std::ranges::for_each(critical, add);
  for (std::uint32_t actor = 0; actor < counts.size(); ++actor) add(actor);
  return out;
}

}  // namespace

Json simulation_json(const PricedSystem& system, const ComposedStep& step,
                     const tune::StepOutcome& outcome, bool shows_all) {
  const StepSimulation& s = outcome.simulation;
  const Origin from = simulated_from(times_from(step.estimate, system.tables()));
  StepTime time = step.time;
  if (time.ns > 0) {
    time.low_ns *= s.step_ns() / time.ns;
    time.high_ns *= s.step_ns() / time.ns;
  }
  time.ns = s.step_ns();
  Json figures = rates_json(step.priced, time, from);
  add_parts(figures, s, from);
  add_power(figures, system, outcome.power);
  Json out = {{"figures", std::move(figures)},
              {"critical_path", critical_path_json(s.timeline)},
              {"load", link_load_json(system.topology(), s)},
              {"timeline",
               timeline_events_json(s.timeline, shows_all ? all_events_max : shown_events_max)}};
  out["critical"] = schedule::critical_json(s)["critical_path"];
  out["schedule"] = schedule::schedule_json(s)["schedule"];
  return out;
}

Json spread_json(const StepSimulation& s) {
  const schedule::StepRuns& runs = s.runs;
  Origin from;
  const std::string n = std::to_string(runs.ns.size());
  from.word = n + " simulated steps";
  from.means = s.provenance == Provenance::measured
                   ? "Steps whose kernels take times drawn from what was measured."
                   : "Steps whose kernels take times drawn from their intervals, which are in part "
                     "estimates: how sure the step is, not how much it varies.";
  Json figures = Json::array();
  struct Row {
    const char *key, *title;
    double q;
  };
  for (const Row& row :
       {Row{"p50_ns", "50th percentile", 0.5}, Row{"p90_ns", "90th percentile", 0.9},
        Row{"p99_ns", "99th percentile", 0.99}}) {
    Figure f{row.key, row.title, "ns", "latency", {}, {}, {}, from, ""};
    if (runs.ns.empty()) {
      f.reason = "too many events to draw their times again and again";
    } else if (!runs.has_intervals) {
      f.reason = "as the step: no source of its times states an interval";
    } else {
      f.value = runs.quantile_ns(row.q);
    }
    figures.push_back(figure_json(f));
  }
  return {{"figures", std::move(figures)},
          {"n", runs.ns.size()},
          {"has_intervals", runs.has_intervals}};
}

Json timeline_events_json(const Timeline& timeline, std::size_t events_max) {
  Json rows = Json::array(), kinds = Json::array();
  Json resources = json_list(timeline.resources, [](const simulate::TimelineResource& r) -> Json {
    return {{"name", r.name}, {"is_link", r.is_link}};
  });
  for (int kind = 0; kind <= as_int(EventKind::done); ++kind) {
    kinds.push_back(std::string(events::kind_name(static_cast<EventKind>(kind))));
  }
  const std::set<std::uint32_t> shown = shown_actors(timeline, events_max);
  std::set<std::uint32_t> all;
  std::size_t waits = 0;
  for (const TimelineEvent& e : timeline.events) {
    all.insert(e.actor);
    const bool is_shown =
        shown.contains(e.actor) || (e.is_critical && rows.size() < 2 * events_max);
    if (!is_shown) continue;
    // What takes no time is the meeting of ranks: nothing to see.
    if (e.end_ps == e.start_ps) {
      ++waits;
      continue;
    }
    rows.push_back({microseconds(e.start_ps), microseconds(e.end_ps), e.label, e.actor,
                    e.resource == TimelineEvent::none ? -1 : as_int64(e.resource), as_int(e.kind),
                    e.is_critical ? 1 : 0});
  }
  const std::size_t left_out = timeline.events.size() - rows.size() - waits;
  std::string note;
  if (left_out > 0) {
    note =
        std::to_string(shown.size()) + " of " + std::to_string(all.size()) +
        " devices with all their events: those on the critical path, then the first ones; of the "
        "others what is critical. Figures and critical path are of all";
  }
  return {{"actors", timeline.actors},
          {"labels", timeline.labels},
          {"resources", std::move(resources)},
          {"kinds", std::move(kinds)},
          {"makespan_us", as_double(timeline.makespan_ps) / 1e6},
          {"events_of_all", timeline.events.size()},
          {"left_out", left_out},
          {"note", note},
          {"events", std::move(rows)}};
}

}  // namespace halmark::pages
