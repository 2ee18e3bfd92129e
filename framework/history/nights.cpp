#include "history/nights.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "core/numeric/cast.hpp"
#include "core/numeric/student_t.hpp"
#include "core/text/text.hpp"
#include "history/statistics/false_discovery.hpp"
#include "history/statistics/rank_test.hpp"

namespace halmark::history {
namespace {

// Rows of the nights before those that a change has to last: what the machine does is learnt from
// them, so that a change of the code is not taken for it.
std::size_t rows_before(const std::vector<SeriesRow>& rows, std::size_t nights) {
  std::size_t end = rows.size();
  for (std::size_t night = 0; night < nights && end > 0; ++night) {
    const std::int64_t run = rows[end - 1].run;
    while (end > 0 && rows[end - 1].run == run) --end;
  }
  return end;
}

// The usable rows of one run.
struct RowsOfNight {
  std::vector<double> log_ns, adjusted, bytes_per_s, clock_hz;
  std::string build;
};

std::vector<Night> nights_of(const std::vector<SeriesRow>& rows, const MachineEffect& machine) {
  const std::vector<std::optional<double>> regimes = regimes_of(rows);
  std::vector<double> known;
  for (const auto& regime : regimes) {
    if (regime) known.push_back(*regime);
  }
  const double usual = known.empty() ? 0 : median(known);
  std::map<std::int64_t, RowsOfNight> by_run;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!rows[i].is_usable()) continue;
    RowsOfNight& night = by_run[rows[i].run];
    const double log_ns = std::log(rows[i].ns);
    const double moved = regimes[i] ? *regimes[i] - usual : 0;
    night.log_ns.push_back(log_ns);
    night.adjusted.push_back(log_ns + machine.memory_share * moved);
    if (rows[i].state.bytes_per_s) night.bytes_per_s.push_back(*rows[i].state.bytes_per_s);
    if (rows[i].state.clock_hz) night.clock_hz.push_back(*rows[i].state.clock_hz);
    night.build = rows[i].build;
  }
  std::vector<Night> out;
  for (const auto& [run, night] : by_run) {
    out.push_back({.run = run,
                   .ns = std::exp(median(night.log_ns)),
                   .adjusted_ns = std::exp(median(night.adjusted)),
                   .processes = night.adjusted,
                   .build = night.build});
    if (!night.bytes_per_s.empty()) out.back().bytes_per_s = median(night.bytes_per_s);
    if (!night.clock_hz.empty()) out.back().clock_hz = median(night.clock_hz);
  }
  return out;
}

std::vector<double> levels_of(const std::vector<Night>& nights) {
  std::vector<double> out;
  for (const Night& night : nights) out.push_back(std::log(night.adjusted_ns));
  return out;
}

// Whether the nights from `at` on ran in a state of the memory that the nights before had too.
bool is_known_state(const std::vector<Night>& nights, std::size_t at) {
  constexpr double same_state_log = 0.1;
  const auto has_seen = [&](double bytes_per_s) {
    return std::any_of(
        nights.begin(), nights.begin() + static_cast<std::ptrdiff_t>(at), [&](const Night& before) {
          return before.bytes_per_s &&
                 std::abs(std::log(bytes_per_s / *before.bytes_per_s)) <= same_state_log;
        });
  };
  return std::all_of(nights.begin() + static_cast<std::ptrdiff_t>(at), nights.end(),
                     [&](const Night& n) { return !n.bytes_per_s || has_seen(*n.bytes_per_s); });
}

// Size and interval of the step between two segments.
void add_step(SeriesHistory& out, std::span<const double> before, std::span<const double> after) {
  const double size = median(after) - median(before);
  const double error = std::max(out.noise, 1e-3) *
                       std::sqrt(1 / as_double(before.size()) + 1 / as_double(after.size()));
  const double freedom = std::max(1.0, as_double(before.size() + after.size()) - 2);
  const double half = t_critical(0.05, freedom) * error;
  out.ratio = std::exp(size);
  out.interval = {std::exp(size - half), std::exp(size + half)};
}

double size_min(const SeriesHistory& series, const HistoryRules& rules) {
  return std::max(std::log1p(rules.floor), rules.noise_floor * series.noise);
}

std::size_t begin_of_segment(const SeriesHistory& series, std::size_t change) {
  return change == 0 ? 0 : series.changes[change - 1].at;
}

std::string spike_reason(const SeriesHistory& series) {
  return "the last night alone is " + number_text((*series.ratio - 1) * 100, 3) +
         " % off: another night, or a repeat of this one, decides";
}

std::string wide_reason(const SeriesHistory& series, const HistoryRules& rules) {
  return "too wide to decide: its nights scatter by " + number_text(series.noise * 100, 2) +
         " %, and the floor is " + number_text(rules.floor * 100, 3) + " %";
}

std::string too_few(std::size_t nights, const HistoryRules& rules) {
  return std::to_string(nights) + (nights == 1 ? " night" : " nights") + " before, and " +
         std::to_string(rules.nights_min) + " are needed to tell a change from the machine";
}

// No change of two nights; the last one alone may stand out.
void judge_last_night(SeriesHistory& out, std::span<const double> levels,
                      const HistoryRules& rules) {
  const auto agreed =
      std::ranges::find_if(out.changes.rbegin(), out.changes.rend(), &ChangePoint::is_agreed);
  const std::size_t begin = agreed == out.changes.rend() ? 0 : agreed->at;
  const auto before = levels.subspan(begin, levels.size() - 1 - begin);
  if (before.empty()) return;
  out.change = Change::undecided;
  add_step(out, before, levels.last(1));
  out.stands_out = std::abs(std::log(*out.ratio)) >= size_min(out, rules);
  if (out.stands_out) {
    out.reason = spike_reason(out);
  } else if (is_within_floor(out.interval, rules.floor)) {
    out.change = Change::same;
  } else {
    out.reason = wide_reason(out, rules);
  }
}

// The last change is recent: what speaks against it, "" for nothing.
std::string objection_to(const SeriesHistory& out, std::span<const double> levels,
                         const HistoryRules& rules) {
  const ChangePoint& last = out.changes.back();
  const std::size_t nights_before = last.at - begin_of_segment(out, out.changes.size() - 1);
  if (nights_before < rules.nights_min) return too_few(nights_before, rules);
  if (!last.is_agreed) return "one detector of two sees a change";
  const double size = std::log(*out.ratio);
  const auto after = levels.subspan(last.at);
  const bool does_last =
      std::ranges::all_of(after, [&](double level) { return (level - last.before) / size >= 0.5; });
  if (!does_last) return "some of its nights are back at the earlier level";
  if (!is_known_state(out.nights, last.at)) {
    return "the memory runs at a speed that no earlier night had";
  }
  return {};
}

std::vector<double> processes_of(const std::vector<Night>& nights, std::size_t begin,
                                 std::size_t end) {
  std::vector<double> out;
  for (std::size_t i = begin; i < end; ++i) {
    out.insert(out.end(), nights[i].processes.begin(), nights[i].processes.end());
  }
  return out;
}

// The chance that nights as those before `at` give such a row of them: of a series that has now and
// then been where it is now, two nights there are no news. 0 where that was at most once, which
// Student's t judges better.
double habit_p(std::span<const double> before, std::size_t nights, double centre, double size) {
  const auto there =
      std::ranges::count_if(before, [&](double level) { return (level - centre) / size >= 0.5; });
  if (there < 2) return 0;
  return std::pow(as_double(there) / as_double(before.size()), as_double(nights));
}

double change_p(const SeriesHistory& series, std::span<const double> levels, std::size_t begin,
                const HistoryRules& rules) {
  const ChangePoint& last = series.changes.back();
  const double by_processes =
      rank_sum_p(processes_of(series.nights, begin, last.at),
                 processes_of(series.nights, last.at, series.nights.size()));
  const double by_habit = habit_p(levels.subspan(begin, last.at - begin), levels.size() - last.at,
                                  last.before, last.after - last.before);
  const std::size_t around = rules.nights_min + rules.confirmed;
  const std::size_t places =
      levels.size() > around ? std::min(rules.recent, levels.size() - around + 1) : 1;
  return std::min(1.0, std::max({last.p, by_processes, by_habit}) * as_double(places));
}

}  // namespace

SeriesHistory follow_series(const Series& series, const HistoryRules& rules) {
  SeriesHistory out{.name = series.name};
  for (const SeriesRow& row : series.rows) {
    if (out.measured.empty() || out.measured.back() != row.run) out.measured.push_back(row.run);
  }
  // A busy neighbour makes rows suspect, and no row that is suspect makes an alert.
  const std::vector<SeriesRow> rows = sound_rows(series.rows);
  out.machine =
      machine_effect(std::span<const SeriesRow>(rows).first(rows_before(rows, rules.confirmed)));
  out.nights = nights_of(rows, out.machine);
  if (out.nights.size() <= rules.nights_min) {
    out.reason = too_few(out.nights.empty() ? 0 : out.nights.size() - 1, rules);
    return out;
  }
  const std::vector<double> levels = levels_of(out.nights);
  out.noise = night_noise(levels);
  out.changes = change_points(levels, rules.detectors, std::log1p(rules.floor));
  judge_last_night(out, levels, rules);
  if (out.changes.empty()) return out;
  const ChangePoint& last = out.changes.back();
  const bool is_recent = levels.size() - last.at <= rules.recent;
  if (!is_recent || last.size() < size_min(out, rules)) return out;
  const std::size_t begin = begin_of_segment(out, out.changes.size() - 1);
  const std::span<const double> all(levels);
  add_step(out, all.subspan(begin, last.at - begin), all.subspan(last.at));
  out.change = Change::undecided;
  out.stands_out = true;
  out.reason = objection_to(out, levels, rules);
  if (out.reason.empty()) out.p = change_p(out, levels, begin, rules);
  out.is_of_one_build = out.nights[last.at - 1].build == out.nights.back().build;
  return out;
}

void apply_duet(SeriesHistory& series, StoredDuet duet) {
  const DuetVerdict& verdict = duet.verdict;
  if (verdict.change == Change::slower || verdict.change == Change::faster) {
    series.change = Change::undecided;  // until q is known
    series.reason.clear();
    series.ratio = verdict.ratio;
    series.interval = verdict.interval;
    series.p = verdict.p;
  } else if (verdict.change == Change::same) {
    series.change = Change::same;
    series.ratio = verdict.ratio;
    series.interval = verdict.interval;
    series.p = 1;
    series.reason = series.stands_out
                        ? "both builds take the same time when interleaved: the machine drifted"
                        : "";
  } else if (verdict.change == Change::failed) {
    series.change = Change::failed;
    series.ratio.reset();
    series.p = 1;
    series.reason = verdict.reason;
  } else if (series.change != Change::same) {
    series.change = Change::undecided;
    series.reason = "the interleaved pairs of both builds decide nothing: " + verdict.reason;
  }
  series.duet = std::move(duet);
}

void require_tonight(SeriesHistory& history, const Series& series, std::int64_t first_run) {
  if (history.duet && history.duet->run >= first_run) return;
  const auto begin = std::ranges::find_if(
      series.rows, [first_run](const SeriesRow& row) { return row.run >= first_run; });
  const std::span<const SeriesRow> rows(begin, series.rows.end());
  if (std::ranges::any_of(rows, &SeriesRow::is_sound)) return;
  history.ratio.reset();
  history.p = 1;
  if (rows.empty()) {
    history.change = Change::waiting;
    history.reason = "not measured tonight, last in run " + std::to_string(series.rows.back().run);
    return;
  }
  history.change = all_broke(rows) && !history.nights.empty() ? Change::failed : Change::invalid;
  history.reason = "no sound row tonight, of " + std::to_string(rows.size()) + ": " +
                   (rows.back().fault.empty() ? rows.back().doubt : rows.back().fault);
}

void judge_night(std::vector<SeriesHistory>& series, const HistoryRules& rules) {
  std::vector<double> p_values;
  for (const SeriesHistory& one : series) {
    if (is_judged(one.change)) p_values.push_back(one.p);
  }
  const std::vector<double> q_values = false_discovery_q(p_values);
  auto q = q_values.begin();
  for (SeriesHistory& one : series) {
    if (!is_judged(one.change)) continue;
    one.q = *q++;
    if (one.change != Change::undecided || !one.reason.empty()) continue;
    if (one.q > rules.false_discovery) {
      one.reason = "it may be one of the chance findings among " + std::to_string(p_values.size()) +
                   " series: q = " + number_text(one.q, 2);
    } else {
      one.change = *one.ratio > 1 ? Change::slower : Change::faster;
    }
  }
}

}  // namespace halmark::history
