#include "history/comparison.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "core/numeric/student_t.hpp"
#include "core/ranges.hpp"
#include "core/text/enum_names.hpp"
#include "core/text/text.hpp"
#include "history/statistics/false_discovery.hpp"

namespace halmark::history {
namespace {

struct Moments {
  double centre = 0, variance = 0;
  double n = 0;
};

Moments moments_of(const std::vector<double>& values) {
  Moments out{.centre = mean(values), .n = static_cast<double>(values.size())};
  double squares = 0;
  for (const double value : values) squares += (value - out.centre) * (value - out.centre);
  out.variance = std::max(squares / (out.n - 1), spread_min * spread_min);
  return out;
}

// The median of each run's usable rows, as logarithms.
std::vector<double> run_medians(const std::vector<SeriesRow>& rows) {
  std::map<std::int64_t, std::vector<double>> by_run;
  for (const SeriesRow& row : rows) {
    if (row.is_usable()) by_run[row.run].push_back(std::log(row.ns));
  }
  std::vector<double> out;
  for (const auto& [run, values] : by_run) out.push_back(median(values));
  return out;
}

// Of the difference of two means.
struct Difference {
  double centre = 0, error = 0, freedom = 1;
};

// Welch (1947), degrees of freedom by Satterthwaite.
Difference welch(const Moments& a, const Moments& b) {
  const double va = a.variance / a.n, vb = b.variance / b.n;
  return {.centre = b.centre - a.centre,
          .error = std::sqrt(va + vb),
          .freedom = (va + vb) * (va + vb) / (va * va / (a.n - 1) + vb * vb / (b.n - 1))};
}

// Composed figures: half of their 95 % intervals is 1.96 standard errors, in logarithms.
constexpr double z_95 = 1.959964, many = 1e6;

std::optional<Moments> composed_moments(const std::vector<SeriesRow>& rows) {
  for (auto row = rows.rbegin(); row != rows.rend(); ++row) {
    if (!row->is_usable() || !row->interval_ns || !(row->interval_ns->low > 0)) continue;
    const double half = std::log(row->interval_ns->high / row->interval_ns->low) / 2;
    const double error = std::max(half / z_95, spread_min);
    return Moments{.centre = std::log(row->ns), .variance = error * error * many, .n = many};
  }
  return std::nullopt;
}

std::string fault_of(const Series& side, std::size_t usable, const char* which, std::size_t least) {
  std::string out = std::string(which) + " has " + std::to_string(usable) + " usable of " +
                    std::to_string(side.rows.size()) + (side.rows.size() == 1 ? " row" : " rows") +
                    ", and " + std::to_string(least) + " are needed";
  const auto lost = std::ranges::find_if_not(side.rows, &SeriesRow::is_usable);
  return lost == side.rows.end() ? out : out + ": " + lost->fault;
}

using Pair = std::array<std::vector<SeriesRow>, 2>;  // before, after

// The units of both sides, of the same kind; nothing where a side has too few.
std::optional<std::array<Moments, 2>> units_of(const Pair& sides, const ComparisonRules& rules,
                                               SeriesChange& out) {
  const std::array rows = {log_times(sides[0]), log_times(sides[1])};
  const std::array runs = {run_medians(sides[0]), run_medians(sides[1])};
  const auto counted = [&](Unit unit, const std::array<std::vector<double>, 2>& values) {
    out.unit = unit;
    out.units_before = static_cast<int>(values[0].size());
    out.units_after = static_cast<int>(values[1].size());
    return std::array{moments_of(values[0]), moments_of(values[1])};
  };
  if (runs[0].size() >= 2 && runs[1].size() >= 2) return counted(Unit::runs, runs);
  const auto first = composed_moments(sides[0]), second = composed_moments(sides[1]);
  if (first && second) {
    out.unit = Unit::intervals;
    out.units_before = out.units_after = 1;
    return std::array{*first, *second};
  }
  if (std::min(rows[0].size(), rows[1].size()) < rules.processes_min) return std::nullopt;
  return counted(sides[0].front().is_of_one_process ? Unit::repetitions : Unit::processes, rows);
}

// Of sound rows, else of all usable ones with the first doubt of them.
std::optional<std::array<Moments, 2>> units_of(const Series& a, const Series& b,
                                               const ComparisonRules& rules, SeriesChange& out) {
  if (auto sound = units_of({sound_rows(a.rows), sound_rows(b.rows)}, rules, out)) return sound;
  const auto all = units_of({a.rows, b.rows}, rules, out);
  if (!all) {
    const std::array usable = {log_times(a.rows).size(), log_times(b.rows).size()};
    const bool is_before = usable[0] < rules.processes_min;
    out.reason = fault_of(is_before ? a : b, usable[is_before ? 0 : 1],
                          is_before ? "the first side" : "the second side", rules.processes_min);
    return std::nullopt;
  }
  for (const Series* side : {&a, &b}) {
    const auto doubtful = std::ranges::find_if(
        side->rows, [](const SeriesRow& row) { return row.is_usable() && !row.is_sound(); });
    if (doubtful != side->rows.end() && out.doubt.empty()) out.doubt = doubtful->doubt;
  }
  return all;
}

std::optional<double> ratio_of(std::optional<double> before, std::optional<double> after) {
  if (!before || !after || !(*before > 0) || !(*after > 0)) return std::nullopt;
  return *after / *before;
}

// What a machine that became so many times as fast may have done to a logarithm of times: between
// nothing and all of it. Nothing where the two states are one.
Interval machine_shift(std::optional<double> speed_ratio, double same) {
  if (!speed_ratio || std::abs(*speed_ratio - 1) <= same) return {0, 0};
  const double all = -std::log(*speed_ratio);
  return {std::min(0.0, all), std::max(0.0, all)};
}

Interval machine_shift(const SeriesChange& change, const ComparisonRules& rules) {
  const Interval memory = machine_shift(change.memory_ratio, rules.same_memory);
  const Interval clock = machine_shift(change.clock_ratio, rules.same_clock);
  return {memory.low + clock.low, memory.high + clock.high};
}

std::string moved_text(const SeriesChange& change, const ComparisonRules& rules) {
  std::string out;
  const auto add = [&](const char* what, std::optional<double> ratio, double same) {
    if (!ratio || std::abs(*ratio - 1) <= same) return;
    append_item(
        out, " and ",
        std::string(what) + " ran at " + number_text(*ratio * 100, 3) + " % of its earlier speed");
  };
  add("the memory", change.memory_ratio, rules.same_memory);
  add("the clock", change.clock_ratio, rules.same_clock);
  return out;
}

void judge(SeriesChange& change, const ComparisonRules& rules) {
  if (!is_judged(change.change)) return;
  const Interval shift = machine_shift(change, rules);
  const double size = std::log(*change.ratio), floor = std::log1p(rules.floor);
  const bool is_discovery = change.q <= rules.false_discovery && change.doubt.empty();
  change.change = Change::undecided;
  if (is_within_floor(change.interval, rules.floor)) {
    change.change = Change::same;
  } else if (is_discovery && size - shift.high >= floor && change.interval.low > 1) {
    change.change = Change::slower;
  } else if (is_discovery && size - shift.low <= -floor && change.interval.high < 1) {
    change.change = Change::faster;
  } else if (!change.doubt.empty()) {
    change.reason = "suspect rows: " + change.doubt;
  } else if (shift.low < 0 || shift.high > 0) {
    change.reason = moved_text(change, rules) + ": compare in one state of the machine";
  } else {
    change.reason = "too wide to decide: measure more rounds or runs";
  }
}

bool has(std::span<const Change> changes, Change change) { return contains(changes, change); }

}  // namespace

std::string_view change_name(Change change) {
  return enum_names<Change>("SAME", "FASTER", "SLOWER", "UNDECIDED", "WAITING", "INVALID", "FAILED")
      .of(change);
}

int urgency(Change change) {
  static constexpr std::array order = {Change::failed,    Change::slower,  Change::faster,
                                       Change::undecided, Change::invalid, Change::waiting,
                                       Change::same};
  return static_cast<int>(std::ranges::find(order, change) - order.begin());
}

bool is_judged(Change change) {
  return change == Change::same || change == Change::faster || change == Change::slower ||
         change == Change::undecided;
}

ExitCode verdict_exit(std::span<const Change> changes, bool is_gate) {
  if (has(changes, Change::slower) || has(changes, Change::failed)) return ExitCode::gate_failed;
  const bool is_open = has(changes, Change::undecided) || has(changes, Change::invalid);
  return is_open && !is_gate ? ExitCode::partial : ExitCode::ok;
}

std::string_view headline(std::span<const Change> changes) {
  if (has(changes, Change::failed)) return "failed";
  return has(changes, Change::slower) ? "slower" : "nothing is called slower";
}

bool is_within_floor(const Interval& ratio, double floor) {
  const double limit = std::log1p(floor);
  return ratio.low >= std::exp(-limit) && ratio.high <= std::exp(limit);
}

std::string_view unit_name(Unit unit) {
  return enum_names<Unit>("processes", "runs", "intervals", "repetitions").of(unit);
}

SeriesChange compare_series(const Series& before, const Series& after,
                            const ComparisonRules& rules) {
  SeriesChange out{.name = before.name};
  const auto sides = units_of(before, after, rules, out);
  if (!sides) {
    const bool computed = !log_times(before.rows).empty();
    if (computed && all_broke(after.rows)) out.change = Change::failed;
    return out;
  }
  out.change = Change::undecided;
  const Difference d = welch((*sides)[0], (*sides)[1]);
  out.before_ns = std::exp((*sides)[0].centre);
  out.after_ns = std::exp((*sides)[1].centre);
  out.ratio = std::exp(d.centre);
  out.p = t_two_sided_p(d.centre / d.error, d.freedom);
  out.memory_ratio = ratio_of(median_bytes_per_s(before.rows), median_bytes_per_s(after.rows));
  out.clock_ratio = ratio_of(median_clock_hz(before.rows), median_clock_hz(after.rows));
  const double half = t_critical(1 - rules.confidence, d.freedom) * d.error;
  const Interval shift = machine_shift(out, rules);
  out.interval = {std::exp(d.centre - half - shift.high), std::exp(d.centre + half - shift.low)};
  return out;
}

void judge_changes(std::vector<SeriesChange>& changes, const ComparisonRules& rules) {
  std::vector<double> p_values;
  for (const SeriesChange& change : changes) {
    if (is_judged(change.change)) p_values.push_back(change.p);
  }
  const std::vector<double> q_values = false_discovery_q(p_values);
  auto q = q_values.begin();
  for (SeriesChange& change : changes) {
    if (is_judged(change.change)) change.q = *q++;
    judge(change, rules);
  }
}

}  // namespace halmark::history
