// Two sides, series by series: what became slower or faster, by how much, and what cannot be said.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/measured/duet.hpp"
#include "core/text/error.hpp"
#include "history/series.hpp"

namespace halmark::history {

// Of logarithms of times: no two processes, nights or sides of a pair agree better than clocks and
// their granularity let them.
inline constexpr double spread_min = 1e-3;

// UNDECIDED means "measure more", never "fine". WAITING: of a history, too few nights, or not
// measured tonight. INVALID: a side, or tonight, has no usable rows; FAILED: because what computed
// before broke in each of them.
enum class Change { same, faster, slower, undecided, waiting, invalid, failed };
std::string_view change_name(Change change);  // "SAME", "SLOWER"
int urgency(Change change);                   // in lists, the smallest comes first

// Of what the figures say; the others have none.
bool is_judged(Change change);

// gate_failed with a SLOWER or FAILED. Else ok, where it is no gate and something is UNDECIDED or
// INVALID partial: a gate that fails on noise fails on what did not change.
ExitCode verdict_exit(std::span<const Change> changes, bool is_gate);

// Of all verdicts: "failed", "slower" or "nothing is called slower".
std::string_view headline(std::span<const Change> changes);

// Whether a whole interval of ratios is no news: what SAME means, everywhere.
bool is_within_floor(const Interval& ratio, double floor);

struct ComparisonRules {
  double floor = news_floor;  // of a time: smaller changes are no news
  // Share of false ones among the changes that are called. Processes of one run say nothing of
  // other hours, so a gate on single runs is better strict.
  double false_discovery = 0.01;
  double confidence = 0.95;  // of the intervals
  // Two states of the machine are one within these shares: probes of the memory scatter by 8 %,
  // those of the clock by 1 %.
  double same_memory = 0.10;
  double same_clock = 0.02;
  std::size_t processes_min = 3;  // of a side; fewer say nothing of their spread
};

// What the independent figures of a side are.
enum class Unit { processes, runs, intervals, repetitions };
std::string_view unit_name(Unit unit);

struct SeriesChange {
  SeriesName name;
  Change change = Change::invalid;
  std::string reason;  // why not decided or not valid; "" else
  std::string doubt;   // why its rows are suspect, where sound ones are too few; "" else
  // Absent where invalid. Times are geometric means of the units of each side.
  std::optional<double> before_ns, after_ns;
  std::optional<double> ratio;  // after / before
  Interval interval;            // of the ratio, what the machine may have done included
  double p = 1, q = 1;          // of no change; q after false-discovery control over all series
  Unit unit = Unit::processes;
  int units_before = 0, units_after = 0;
  std::optional<double> memory_ratio, clock_ratio;  // after / before, of the probes
};

// Welch's t on logarithms of process medians; where both sides have two runs or more, on medians of
// runs, because processes of one run share its hour; of composed figures by their intervals. Sound
// rows where both sides have enough of them, else all usable ones with their doubt. `q` and the
// verdict are left to judge_changes.
SeriesChange compare_series(const Series& before, const Series& after,
                            const ComparisonRules& rules);

// Verdicts over all series of a comparison. SLOWER or FASTER: q holds, the change reaches the floor
// and has its sign in all of the interval, for every share of a changed state of the machine that
// the kernel may have followed (none of it to all), and no row is in doubt. SAME: the interval lies
// within the floor.
void judge_changes(std::vector<SeriesChange>& changes, const ComparisonRules& rules);

}  // namespace halmark::history
