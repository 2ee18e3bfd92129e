#include "history/side.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

#include "core/input/file_kind.hpp"
#include "core/ranges.hpp"
#include "core/text/error.hpp"
#include "core/text/text.hpp"
#include "core/text/url.hpp"
#include "history/google_benchmark.hpp"
#include "history/stored_series.hpp"
#include "journal/place.hpp"

namespace halmark::history {
namespace {

constexpr const char* side_remedy =
    "name a run, a date (2026-11-22), a results database, FILE.db:RUN or the JSON of Google "
    "Benchmark";

bool is_number(std::string_view text) {
  return !text.empty() && text.size() < 10 &&
         std::ranges::all_of(text, [](unsigned char c) { return std::isdigit(c) != 0; });
}

std::vector<std::int64_t> runs_of_date(const Store& store, const std::string& date,
                                       const std::string& path) {
  std::vector<std::int64_t> out;
  for (const std::int64_t run : store.latest_runs(runs_max)) {
    if (store.run_info(run).started_utc.starts_with(date)) out.push_back(run);
  }
  if (out.empty()) throw refused("no run began on " + date, path, "halmark verify lists its runs");
  return out;
}

void add_kernels(const Store& store, std::int64_t run, const std::string& fingerprint,
                 std::map<SeriesName, Series>& into) {
  for (const Measurement& row : store.run_measurements(run)) {
    const SeriesName name = name_of(row, fingerprint);
    Series& series = into.try_emplace(name, Series{.name = name}).first->second;
    series.rows.push_back(row_of(row, run));
  }
}

void add_configurations(const std::vector<Evaluation>& evaluations, std::int64_t run,
                        const std::string& fingerprint, std::map<SeriesName, Series>& into) {
  for (const Evaluation& evaluation : evaluations) {
    if (!evaluation.estimate) continue;
    const SeriesName name{.what = evaluation.configuration.key(), .fingerprint = fingerprint};
    Series& series = into.try_emplace(name, Series{.name = name}).first->second;
    // The last one of a run is what its report shows.
    if (!series.rows.empty() && series.rows.back().run == run) series.rows.pop_back();
    series.rows.push_back(row_of(evaluation, run));
  }
}

std::vector<Evaluation> latest_of_each(std::vector<Evaluation> all) {
  std::map<std::string, Evaluation> by_key;
  for (Evaluation& e : all) by_key.insert_or_assign(e.configuration.key(), std::move(e));
  std::vector<Evaluation> out;
  for (auto& [key, e] : by_key) out.push_back(std::move(e));
  return out;
}

void add_run(const Store& store, std::int64_t run, Side& out,
             std::map<SeriesName, Series>& series) {
  const RunInfo info = store.run_info(run);
  const std::string& fingerprint = info.fingerprint;
  out.runs.push_back(run);
  if (!contains(out.fingerprints, fingerprint)) {
    out.fingerprints.push_back(fingerprint);
  }
  add_kernels(store, run, fingerprint, series);
  std::vector<Evaluation> evaluations = store.rows<Evaluation>(run);
  add_configurations(evaluations, run, fingerprint, series);
  if (evaluations.empty() || info.plan_text.empty()) return;
  out.evaluations = latest_of_each(std::move(evaluations));
  out.plan_text = info.plan_text;
}

void finish_side(std::map<SeriesName, Series>&& series, Side& out) {
  std::set<std::string> builds;
  for (auto& [name, one] : series) {
    for (const SeriesRow& row : one.rows) {
      if (!row.build.empty()) builds.insert(row.build);
    }
    out.series.push_back(std::move(one));
  }
  out.builds.assign(builds.begin(), builds.end());
}

Side journal_side(const std::string& title, const std::string& path,
                  const std::vector<std::int64_t>& runs, const Store& store) {
  Side out{.title = title};
  std::map<SeriesName, Series> series;
  for (const std::int64_t run : runs) add_run(store, run, out, series);
  store.require_sound();
  finish_side(std::move(series), out);
  if (out.series.empty())
    throw refused("there are no rows to compare", without_password(path), side_remedy);
  return out;
}

Side google_benchmark_side(const std::string& path) {
  Side out{.title = path, .is_journal = false};
  GoogleBenchmarkFile file = read_google_benchmark(path);
  out.account = file.account;
  std::map<SeriesName, Series> series;
  for (Series& one : file.series) series.emplace(one.name, std::move(one));
  out.fingerprints = {file.fingerprint};
  finish_side(std::move(series), out);
  return out;
}

void require_comparable(const Side& before, const Side& after) {
  if (before.is_journal != after.is_journal) {
    throw refused("one side is a results database and the other the JSON of Google Benchmark",
                  before.title + " and " + after.title, "compare two of one kind");
  }
  for (const Side* side : {&before, &after}) {
    if (side->fingerprints.size() == 1) continue;
    throw refused("its runs are of " + std::to_string(side->fingerprints.size()) + " machines",
                  side->title, "name runs of one machine");
  }
  if (before.fingerprints != after.fingerprints) {
    throw refused("the sides are of different machines: " + before.fingerprints.front() + " and " +
                      after.fingerprints.front(),
                  before.title + " and " + after.title, "compare runs of one machine");
  }
}

// Why two sides without a common series have none.
Error no_shared_series(const Side& before, const Side& after) {
  const auto plugins = [](const Side& side) {
    std::set<std::string> out;
    for (const Series& one : side.series) out.insert(one.name.plugin);
    return out;
  };
  const bool is_other_plugin = plugins(before) != plugins(after);
  return refused(is_other_plugin ? "the sides have no series in common: other plugins"
                                 : "the sides have no series in common: other problems",
                 before.title + " and " + after.title, "compare runs of the same kernels");
}

}  // namespace

Side load_side(const std::string& name, const std::string& database) {
  const std::string shown = without_password(name);
  if (is_number(name)) {
    const std::unique_ptr<Store> store = open_store_read_only(database);
    return journal_side("run " + name, database, {std::stoll(name)}, *store);
  }
  if (is_date(name)) {
    const std::unique_ptr<Store> store = open_store_read_only(database);
    return journal_side(name, database, runs_of_date(*store, name, database), *store);
  }
  if (const std::string beginning = beginning_of(name); !beginning.empty()) {
    if (is_kind(beginning, "google-benchmark")) return google_benchmark_side(name);
    if (!is_kind(beginning, "results")) {
      throw other_kind(beginning, shown, "a results database or the JSON of Google Benchmark");
    }
  }
  if (const auto named = run_of_database(name)) {
    const std::unique_ptr<Store> store = open_store_read_only(named->first);
    return journal_side(shown, named->first, {named->second}, *store);
  }
  if (!is_database_there(name)) {
    throw refused("there is no such run, date or file", shown,
                  std::string(side_remedy) + "; halmark compare-devices compares known devices");
  }
  const std::unique_ptr<Store> store = open_store_read_only(name);
  return journal_side(shown, name, store->latest_runs(runs_max), *store);
}

int Comparison::count(Change change) const {
  return static_cast<int>(std::ranges::count(changes, change, &SeriesChange::change));
}

Comparison compare_sides(Side before, Side after, const ComparisonRules& rules) {
  require_comparable(before, after);
  Comparison out{.rules = rules};
  std::map<SeriesName, const Series*> later;
  for (const Series& one : after.series) later.emplace(one.name, &one);
  for (const Series& one : before.series) {
    const auto other = later.find(one.name);
    if (other == later.end()) {
      out.only_before.push_back(one.name.what);
      continue;
    }
    out.changes.push_back(compare_series(one, *other->second, rules));
    later.erase(other);
  }
  for (const auto& [name, one] : later) out.only_after.push_back(name.what);
  if (out.changes.empty()) throw no_shared_series(before, after);
  judge_changes(out.changes, rules);
  std::ranges::stable_sort(out.changes, [](const SeriesChange& a, const SeriesChange& b) {
    if (urgency(a.change) != urgency(b.change)) return urgency(a.change) < urgency(b.change);
    return a.ratio.value_or(1) > b.ratio.value_or(1);
  });
  out.before = std::move(before);
  out.after = std::move(after);
  return out;
}

}  // namespace halmark::history
