#include "history/standing.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/numeric/cast.hpp"

namespace halmark::history {
namespace {

// What has no q any more: by Bonferroni over all places, and of its nights three in four are slow.
bool is_sure(const SeriesHistory& series, std::size_t index, const NightReport& report) {
  const ChangePoint& change = series.changes[index];
  const double places = as_double(report.series.size() * report.rules.recent);
  if (!change.is_agreed || change.p * places > report.rules.false_discovery) return false;
  const bool is_last = index + 1 == series.changes.size();
  const std::size_t end = is_last ? series.nights.size() : series.changes[index + 1].at;
  const double half = change.before + change.size() / 2;
  const auto begin = series.nights.begin();
  const auto slow = std::count_if(begin + static_cast<std::ptrdiff_t>(change.at),
                                  begin + static_cast<std::ptrdiff_t>(end),
                                  [&](const Night& night) { return level(night) >= half; });
  return 4 * as_size(slow) >= 3 * (end - change.at);
}

}  // namespace

double level(const Night& night) { return std::log(night.adjusted_ns); }

double median_level(const std::vector<Night>& nights, std::int64_t begin, std::int64_t end) {
  std::vector<double> levels;
  for (const Night& night : nights) {
    if (night.run >= begin && night.run < end) levels.push_back(level(night));
  }
  return levels.empty() ? 0 : median(levels);
}

std::size_t place_of(const SeriesHistory& series, std::int64_t run) {
  const auto at = std::ranges::find_if(series.nights, [&](const Night& n) { return n.run >= run; });
  return as_size(at - series.nights.begin());
}

void follow(const SeriesHistory& series, const HistoryRules& rules, Standing& it) {
  const std::vector<Night>& nights = series.nights;
  const std::size_t at = place_of(series, it.run);
  it.back.reset();
  if (at == 0 || at >= nights.size()) return;
  const std::string &old_build = nights[at - 1].build, &new_build = nights[at].build;
  if (series.duet) {
    const bool is_old = nights.back().build == old_build && old_build != new_build;
    if (is_old || series.change == Change::faster) it.back = nights.size() - 1;
    return;
  }
  const double baseline = median_level(nights, it.begin, it.end);
  const double near = std::max(std::log1p(rules.floor), 2 * series.noise);
  std::size_t others = 0;  // nights in a row that contradict the state
  for (std::size_t n = at; n < nights.size(); ++n) {
    const double above = level(nights[n]) - baseline;
    const bool is_slow = above > it.size / 2, is_back = above <= std::min(it.size / 2, near);
    others = (it.back ? is_slow : is_back) ? others + 1 : 0;
    const bool is_old = !it.back && nights[n].build == old_build && old_build != new_build;
    if (others == 0 || (others < rules.confirmed && !is_old)) continue;
    const std::size_t first = n + 1 - others;
    if (it.back) it.run = nights[first].run;
    it.back = it.back ? std::nullopt : std::optional(first);
    others = 0;
  }
}

std::optional<Standing> standing_of(const SeriesHistory& series, const NightReport& report) {
  const HistoryRules& rules = report.rules;
  const bool is_called = series.change == Change::slower && series.ratio;
  std::optional<Standing> out;
  if (is_called && series.duet) {
    const std::int64_t run = series.duet->first_run;
    out = Standing{.end = run, .run = run, .size = std::log(*series.ratio), .back = {}};
    follow(series, rules, *out);
    return out;
  }
  const double size_min = std::max(std::log1p(rules.floor), rules.noise_floor * series.noise);
  std::int64_t begin = 0;
  for (std::size_t i = 0; i < series.changes.size(); ++i) {
    const ChangePoint& change = series.changes[i];
    const std::int64_t run = series.nights[change.at].run, segment = std::exchange(begin, run);
    const bool may_begin = !out || (out->back && *out->back <= change.at);
    if (!may_begin || change.after < change.before || change.size() < size_min) continue;
    const bool is_last_called = is_called && i + 1 == series.changes.size();
    if (!is_last_called && !is_sure(series, i, report)) continue;
    out = Standing{.begin = segment, .end = run, .run = run, .size = change.size(), .back = {}};
    follow(series, rules, *out);
  }
  return out;
}

std::int64_t place_of_change(const SeriesHistory& one) {
  if (one.duet) return one.duet->first_run;
  return one.changes.empty() ? one.nights.back().run : one.nights[one.changes.back().at].run;
}

}  // namespace halmark::history
