#include "history/recorded.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <span>

#include "core/text/error.hpp"
#include "history/stored_duets.hpp"
#include "history/stored_series.hpp"

namespace halmark::history {
namespace {

using SeriesMap = std::map<SeriesName, Series>;

void add_row(SeriesMap& into, const SeriesName& name, SeriesRow row) {
  into.try_emplace(name, Series{.name = name}).first->second.rows.push_back(std::move(row));
}

bool is_of_device(const KernelCase& kernel_case, const std::string& device) {
  return device.empty() || device == kernel_case.backend ||
         device == kernel_case.backend + ':' + kernel_case.device;
}

SeriesMap kernels_of_runs(const Store& store, const NightReport& night, const HistoryQuery& query) {
  SeriesMap out;
  for (const std::int64_t run : night.runs) {
    for (const RowFigures& figures : store.run_figures(run)) {
      if (!is_of_device(figures.row.kernel_case, query.device)) continue;
      add_row(out, name_of(figures, night.fingerprint), row_of(figures.row, run));
    }
  }
  return out;
}

// By the index of keys: of an op, the rest of a night is never read.
SeriesMap kernels_of_op(const Store& store, const NightReport& night, const HistoryQuery& query) {
  constexpr std::size_t rows_of_night = 12;  // processes of a case in one run, with repeats
  const std::set<std::int64_t> runs(night.runs.begin(), night.runs.end());
  SeriesMap out;
  for (const std::string& key : store.measured_cases(query.op + ' ')) {
    for (const RowFigures& figures : store.case_figures(key, query.nights * rows_of_night)) {
      if (!runs.contains(figures.run)) continue;
      if (!is_of_device(figures.row.kernel_case, query.device)) continue;
      add_row(out, name_of(figures, night.fingerprint), row_of(figures.row, figures.run));
    }
  }
  return out;
}

SeriesMap configurations_of(const Store& store, const NightReport& night,
                            const HistoryQuery& query) {
  SeriesMap out;
  for (const std::int64_t run : night.runs) {
    for (const Evaluation& evaluation : store.rows<Evaluation>(run)) {
      if (evaluation.configuration.model != query.model || !evaluation.estimate) continue;
      const SeriesName name{.what = evaluation.configuration.key(),
                            .fingerprint = night.fingerprint};
      std::vector<SeriesRow>& rows = out.try_emplace(name, Series{.name = name}).first->second.rows;
      if (!rows.empty() && rows.back().run == run) rows.pop_back();  // the last one counts
      rows.push_back(row_of(evaluation, run));
    }
  }
  return out;
}

Error nothing_found(const HistoryQuery& query, const std::string& path) {
  if (!query.model.empty()) {
    return refused("no stored run has a configuration of model '" + query.model + "'", path,
                   "halmark report shows what the latest has");
  }
  std::string asked = query.op.empty() ? "kernel" : "kernel of op '" + query.op + "'";
  if (!query.device.empty()) asked += " on " + query.device;
  return refused("no " + asked + " was measured in the latest runs of this machine", path,
                 "halmark report shows what the latest has");
}

// Tonight is the day of the latest run that has rows of the query: a bench of some kernels in the
// day after a sweep leaves those of the sweep measured.
std::int64_t first_run_of_tonight(const Store& store, const NightReport& night,
                                  const SeriesMap& series) {
  constexpr std::size_t date_length = 10;  // of 2026-11-22T02:30:00Z
  const auto date_of = [&](std::int64_t run) {
    return store.run_info(run).started_utc.substr(0, date_length);
  };
  std::int64_t out = 0;
  for (const auto& [name, one] : series) out = std::max(out, one.rows.back().run);
  const std::string tonight = date_of(out);
  const auto latest = std::ranges::find(night.runs, out);
  for (auto run = std::reverse_iterator(latest); run != night.runs.rend(); ++run) {
    if (date_of(*run) != tonight) break;
    out = *run;
  }
  return out;
}

// Those of the build that ran last; by the key of the kernel.
std::map<std::string, StoredDuet> recent_duets(const Store& store, const NightReport& night,
                                               const std::string& build) {
  const std::size_t recent = std::min(night.rules.recent, night.runs.size());
  std::map<std::string, StoredDuet> out;
  for (const auto& [key, pooled] : pooled_duets(store, std::span(night.runs).last(recent))) {
    if (!build.empty() && !is_of_build(pooled.duet, build)) continue;
    out[key] = {.run = pooled.last_run,
                .first_run = pooled.first_run,
                .old_build = pooled.duet.old_build,
                .new_build = pooled.duet.new_build,
                .verdict = judge_duet(pooled.duet, night.rules.floor)};
  }
  return out;
}

// A build that ran before the one that it takes the place of is held against its own nights.
void forget_other_builds(SeriesHistory& history, const Series& series, const HistoryRules& rules) {
  if (history.nights.empty()) return;
  const std::string build = history.nights.back().build;
  Series own{.name = series.name};
  std::ranges::copy_if(series.rows, std::back_inserter(own.rows),
                       [&](const SeriesRow& row) { return row.build == build; });
  const SeriesHistory alone = follow_series(own, rules);
  history.change = alone.change;
  history.reason = alone.reason;
  history.ratio = alone.ratio;
  history.interval = alone.interval;
  history.stands_out = alone.stands_out;
  history.p = alone.p;
  if (alone.change != Change::undecided || !alone.reason.empty()) return;
  history.reason =
      "the earlier build is back, and its own earlier nights took another time: the "
      "machine may have changed";
}

// Series of tonight that no pair of the last change of build has decided.
OpenPairs open_pairs_of(const NightReport& night, const BuildChange& builds) {
  OpenPairs out{.old_build = builds.old_build, .new_build = builds.new_build};
  const bool is_recent = std::ranges::count_if(night.runs, [&](std::int64_t run) {
                           return run >= builds.run;
                         }) <= static_cast<std::ptrdiff_t>(night.rules.recent);
  if (builds.old_build.empty() || builds.has_returned || !is_recent) return {};
  for (const SeriesHistory& one : night.series) {
    if (one.measured.back() < builds.run) continue;
    ++out.series;
    const bool is_open = !one.duet || one.duet->verdict.change == Change::undecided ||
                         one.duet->verdict.change == Change::invalid;
    out.open += is_open ? 1 : 0;
  }
  return out;
}

// What the kernels that changed mean for steps. Of some kernels alone it would be half of it.
ChangedSteps changed_of(const Store& store, const NightReport& night, const HistoryQuery& query,
                        const std::string& path) {
  if (!query.op.empty() || !query.device.empty()) return {};
  if (query.model.empty()) {
    return stored_changed_steps(store, night.runs, night.series, query.front_of);
  }
  const HistoryQuery kernels{.nights = query.nights,
                             .through = query.through.value_or(night.runs.back()),
                             .front_of = query.front_of};
  ChangedSteps out = night_report(store, kernels, night.rules, path).changed;
  std::erase_if(out.steps, [&](const StepChange& s) {
    return !s.configuration.starts_with(query.model + ' ');
  });
  return out;
}

}  // namespace

int NightReport::count(Change change) const {
  return static_cast<int>(std::ranges::count(series, change, &SeriesHistory::change));
}

NightReport night_report(const Store& store, const HistoryQuery& query, const HistoryRules& rules,
                         const std::string& path) {
  NightReport out{.rules = rules};
  const auto latest = store.latest_run();
  if (!latest) throw refused("the database has no run", path, "run halmark tune or bench first");
  out.fingerprint = store.run_info(*latest).fingerprint;
  out.runs = store.latest_runs(query.nights, out.fingerprint);
  std::erase_if(out.runs, [&](std::int64_t run) { return run > query.through.value_or(run); });
  if (!out.runs.empty()) out.last_started_utc = store.run_info(out.runs.back()).started_utc;
  SeriesMap series = !query.model.empty() ? configurations_of(store, out, query)
                     : query.op.empty()   ? kernels_of_runs(store, out, query)
                                          : kernels_of_op(store, out, query);
  store.require_sound();
  if (series.empty() && query.through) return out;  // what is there now came later
  if (series.empty()) throw nothing_found(query, path);
  const BuildChange builds = last_build_change(store, out.runs);
  std::map<std::string, StoredDuet> duets = recent_duets(store, out, builds.new_build);
  const std::int64_t tonight = first_run_of_tonight(store, out, series);
  for (const auto& [name, one] : series) {
    out.series.push_back(follow_series(one, rules));
    if (builds.has_returned) forget_other_builds(out.series.back(), one, rules);
    if (const auto duet = duets.find(name.what); duet != duets.end()) {
      apply_duet(out.series.back(), std::move(duet->second));
    }
    require_tonight(out.series.back(), one, tonight);
  }
  judge_night(out.series, rules);
  std::ranges::stable_sort(out.series, [](const SeriesHistory& a, const SeriesHistory& b) {
    if (urgency(a.change) != urgency(b.change)) return urgency(a.change) < urgency(b.change);
    return a.ratio.value_or(1) > b.ratio.value_or(1);
  });
  if (query.model.empty()) out.pairs = open_pairs_of(out, builds);
  out.changed = changed_of(store, out, query, path);
  return out;
}

}  // namespace halmark::history
