#include "history/view/history_view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "core/json/json.hpp"
#include "core/numeric/cast.hpp"
#include "core/text/text.hpp"
#include "history/view/step_changes_view.hpp"
#include "report/report.hpp"
#include "report/terminal/terminal.hpp"
#include "report/text/clean_text.hpp"
#include "report/text/quantity.hpp"
#include "report/text/stacked_table.hpp"
#include "report/text/table.hpp"
#include "report/text/wrapped_text.hpp"

namespace halmark::history {
namespace {

using report::signed_percent_text;

constexpr std::array named_changes = {Change::slower, Change::faster,  Change::undecided,
                                      Change::same,   Change::waiting, Change::invalid,
                                      Change::failed};

Json night_json(const Night& night) {
  return {{"run", night.run},
          {"ns", night.ns},
          {"adjusted_ns", night.adjusted_ns},
          {"processes", night.processes.size()},
          {"bytes_per_s", optional_number(night.bytes_per_s)},
          {"build", night.build}};
}

Json change_json(const SeriesHistory& series, const ChangePoint& change) {
  return {{"run", series.nights[change.at].run},
          {"ratio", std::exp(change.after - change.before)},
          {"p", change.p},
          {"is_agreed", change.is_agreed},
          {"build_before", series.nights[change.at - 1].build},
          {"build_after", series.nights[change.at].build}};
}

Json duet_json(const StoredDuet& duet) {
  return {{"run", duet.run},
          {"old_build", duet.old_build},
          {"new_build", duet.new_build},
          {"change", change_name(duet.verdict.change)},
          {"ratio", duet.verdict.ratio},
          {"ratio_interval", duet.verdict.interval},
          {"pairs", duet.verdict.pairs}};
}

Json series_json(const SeriesHistory& series) {
  Json nights = json_list(series.nights, night_json);
  Json changes = json_list(series.changes,
                           [&](const ChangePoint& change) { return change_json(series, change); });
  return {{"series", series.name.what},
          {"plugin", series.name.plugin},
          {"change", change_name(series.change)},
          {"ratio", optional_number(series.ratio)},
          {"ratio_interval", series.ratio ? Json(series.interval) : Json(nullptr)},
          {"p", series.p},
          {"q", series.q},
          {"reason", series.reason},
          {"duet", series.duet ? duet_json(*series.duet) : Json(nullptr)},
          {"noise", series.noise},
          {"memory_share", series.machine.memory_share},
          {"nights", std::move(nights)},
          {"changes", std::move(changes)}};
}

std::string interval_text(const SeriesHistory& series) {
  if (!series.ratio) return report::absent_text;
  return signed_percent_text(series.interval.low - 1) + " .. " +
         signed_percent_text(series.interval.high - 1);
}

std::optional<double> relative(const SeriesHistory& series) {
  return series.ratio ? std::optional(*series.ratio - 1) : std::nullopt;
}

// Between which runs, and which builds they were of where these differ.
std::string place_text(const SeriesHistory& series, const ChangePoint& change) {
  const Night &before = series.nights[change.at - 1], &after = series.nights[change.at];
  std::string out = fmt::format("run {} to {}", before.run, after.run);
  if (before.build != after.build) out += ", build " + before.build + " to " + after.build;
  return out;
}

std::string last_place(const SeriesHistory& series) {
  const bool is_called = series.change == Change::slower || series.change == Change::faster;
  if (!is_called) return series.reason;
  if (series.duet) {
    return fmt::format("run {}: build {} to {} interleaved", series.duet->run,
                       series.duet->old_build, series.duet->new_build);
  }
  const std::string place = place_text(series, series.changes.back());
  if (!series.is_of_one_build) return place;
  return place + ", the plugin is the same: the machine, a library or halmark changed";
}

std::vector<Change> verdicts_of(const NightReport& night) {
  std::vector<Change> out;
  for (const SeriesHistory& one : night.series) out.push_back(one.change);
  return out;
}

// A series waits for more nights before it can have a verdict.
bool is_young(const SeriesHistory& series, const HistoryRules& rules) {
  return series.change == Change::waiting && series.nights.size() <= rules.nights_min;
}

std::size_t count_young(const NightReport& night) {
  return as_size(std::ranges::count_if(
      night.series, [&](const SeriesHistory& one) { return is_young(one, night.rules); }));
}

report::Table alerts_of(const NightReport& night) {
  report::Table out{.columns = {{"verdict"},
                                {"time", true},
                                {"interval", true},
                                {"series"},
                                {"now", true},
                                {"nights", true},
                                {"where or why"}}};
  for (const SeriesHistory& series : night.series) {
    if (series.change == Change::same || is_young(series, night.rules)) continue;
    out.rows.push_back({{std::string(change_name(series.change))},
                        {signed_percent_text(relative(series))},
                        {interval_text(series)},
                        {series.name.what},
                        {series.nights.empty() ? report::absent_text
                                               : report::duration_text(series.nights.back().ns)},
                        {std::to_string(series.nights.size())},
                        {last_place(series)}});
  }
  return out;
}

// What both detectors saw, the alerts of tonight included: for whoever looks back.
report::Table changes_of(const NightReport& night) {
  report::Table out{.columns = {{"time", true}, {"series"}, {"changed"}, {"nights since", true}}};
  for (const SeriesHistory& series : night.series) {
    for (const ChangePoint& change : series.changes) {
      const double size = change.after - change.before;
      if (!change.is_agreed || std::abs(size) < std::log1p(night.rules.floor)) continue;
      out.rows.push_back({{signed_percent_text(std::exp(size) - 1)},
                          {series.name.what},
                          {place_text(series, change)},
                          {std::to_string(series.nights.size() - change.at)}});
    }
  }
  return out;
}

// Rows are told apart by their series.
std::string text_of(const report::Table& table) {
  const auto series = std::ranges::find(table.columns, "series", &report::TableColumn::title);
  return report::stdout_text(table, as_size(series - table.columns.begin()));
}

std::string summary_of(const NightReport& night) {
  return fmt::format("{} of {} series over {} runs up to {} (floor {})", counts_text(night),
                     night.series.size(), night.runs.size(), night.last_started_utc,
                     report::percent_text(night.rules.floor));
}

// Of the first nights: what is there, and why nothing is said of it yet.
std::string unjudged_text(const NightReport& night) {
  if (night.series.empty() || count_young(night) < night.series.size()) return {};
  std::size_t most = 0;
  for (const SeriesHistory& one : night.series) most = std::max(most, one.nights.size());
  const std::string text = fmt::format(
      "{} series over {} up to {}; no verdict yet: a series needs {} nights with sound rows, the "
      "longest has {}",
      night.series.size(),
      night.runs.size() == 1 ? "1 run" : std::to_string(night.runs.size()) + " runs",
      night.last_started_utc, night.rules.nights_min + 1, most);
  return report::wrapped(text, report::stdout_columns()) + '\n';
}

// Of those that began later than others.
std::string young_text(const NightReport& night) {
  const std::size_t young = count_young(night);
  if (young == 0 || young == night.series.size()) return {};
  return fmt::format("{} WAITING with fewer than {} nights with sound rows\n", young,
                     night.rules.nights_min + 1);
}

// "" where no build has changed.
std::string pairs_text(const OpenPairs& pairs) {
  if (pairs.new_build.empty()) return {};
  const std::string builds = pairs.old_build.substr(0, 12) + " to " + pairs.new_build.substr(0, 12);
  if (pairs.open == 0) {
    return fmt::format("build {}: interleaved pairs have answered all {} series\n", builds,
                       pairs.series);
  }
  return fmt::format("build {}: {} of {} series are open: further nights measure pairs of these\n",
                     builds, pairs.open, pairs.series);
}

Json history_json(const NightReport& night) {
  Json counts = Json::object();
  for (const Change change : named_changes) {
    counts[std::string(change_name(change))] = night.count(change);
  }
  Json series = json_list(night.series, series_json);
  const HistoryRules& rules = night.rules;
  return {{"fingerprint", night.fingerprint},
          {"runs", night.runs},
          {"rules",
           {{"floor", rules.floor},
            {"false_discovery", rules.false_discovery},
            {"recent", rules.recent},
            {"confirmed", rules.confirmed},
            {"nights_min", rules.nights_min}}},
          {"counts", std::move(counts)},
          {"changed", step_changes_json(night.changed)},
          {"pairs",
           {{"old_build", night.pairs.old_build},
            {"new_build", night.pairs.new_build},
            {"open", night.pairs.open},
            {"series", night.pairs.series}}},
          {"series", std::move(series)}};
}

}  // namespace

std::string counts_text(const NightReport& night) {
  std::string out;
  for (const Change change : named_changes) {
    append_item(out, ", ", fmt::format("{} {}", night.count(change), change_name(change)));
  }
  return out;
}

report::View history_view(const NightReport& night) {
  std::string text = unjudged_text(night);
  if (const report::Table alerts = alerts_of(night); !alerts.rows.empty()) {
    text += text_of(alerts) + '\n';
  }
  if (const report::Table changes = changes_of(night); !changes.rows.empty()) {
    text += "changes that both detectors see\n" + text_of(changes) + '\n';
  }
  text += young_text(night);
  const int width = report::stdout_columns();
  const auto lines = step_change_lines(night.changed);
  if (!lines.empty()) text += "what that means for steps, by the kernels that changed\n";
  for (const std::string& line : lines) text += report::wrapped(line, width, 2);
  if (!lines.empty()) text += '\n';
  text += pairs_text(night.pairs);
  return {.data = history_json(night), .text = text + report::wrapped(summary_of(night), width)};
}

std::string history_markdown(const NightReport& night) {
  std::string out = fmt::format("## Halmark: {}\n\n{}.\n", headline(verdicts_of(night)),
                                report::markdown_text(summary_of(night)));
  if (const report::Table alerts = alerts_of(night); !alerts.rows.empty()) {
    out += '\n' + report::table_markdown(alerts);
  }
  if (const std::string young = young_text(night); !young.empty()) {
    out += '\n' + report::markdown_text(young);
  }
  if (const std::string pairs = pairs_text(night.pairs); !pairs.empty()) {
    out += '\n' + report::markdown_text(pairs) + '\n';
  }
  if (const auto lines = step_change_lines(night.changed); !lines.empty()) {
    out += "\n### What that means for steps\n\n";
    for (const std::string& line : lines) out += "- " + report::markdown_text(line) + '\n';
  }
  if (const report::Table changes = changes_of(night); !changes.rows.empty()) {
    out += "\n### Changes that both detectors see\n\n" + report::table_markdown(changes);
  }
  return out;
}

ExitCode history_exit(const NightReport& night, bool is_gate) {
  return verdict_exit(verdicts_of(night), is_gate);
}

void write_history(const NightReport& night, const std::string& path) {
  if (path.ends_with(".json")) {
    write_whole_file(dump_json(history_json(night), 1) + '\n', path);
  } else if (path.ends_with(".md")) {
    write_whole_file(history_markdown(night), path);
  } else if (path.ends_with(".html")) {
    write_whole_file(history_html(night), path);
  } else {
    throw refused("unknown format of a history", path, "known: .json, .md, .html");
  }
}

}  // namespace halmark::history
