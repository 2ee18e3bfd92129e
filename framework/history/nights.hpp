// A series over many nights (runs): its levels, where they changed, and whether the change at its
// end is the code's. And all series of a night together.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "history/comparison.hpp"
#include "history/statistics/change_points.hpp"
#include "history/statistics/duet_verdict.hpp"
#include "history/statistics/machine_effect.hpp"

namespace halmark::history {

struct HistoryRules {
  double floor = news_floor;      // of a time: smaller changes are no news
  double noise_floor = 3;         // nor are those below so many standard deviations of a night
  double false_discovery = 0.01;  // share of false ones among the alerts of a night
  std::size_t recent = 7;         // nights within which a change is an alert, not history
  std::size_t confirmed = 2;      // nights that it has to last
  std::size_t nights_min = 5;     // before a change
  DetectorRules detectors;
};

// Median over the sound processes of one run.
struct Night {
  std::int64_t run = 0;
  double ns = 0;                  // as measured
  double adjusted_ns = 0;         // at the speed of the memory that the series mostly had
  std::vector<double> processes;  // ln of the adjusted time of each
  std::optional<double> bytes_per_s, clock_hz;
  std::string build;
};

// A duet of the recent nights: where there is one, it decides.
struct StoredDuet {
  std::int64_t run = 0;        // the latest that has pairs of it
  std::int64_t first_run = 0;  // the first, from which on its change counts
  std::string old_build, new_build;
  DuetVerdict verdict;
};

struct SeriesHistory {
  SeriesName name;
  std::vector<Night> nights;           // oldest first; those without sound rows are left out
  std::vector<std::int64_t> measured;  // runs that have rows of it, sound or not
  MachineEffect machine;
  double noise = 0;                  // of one night, in logarithms
  std::vector<ChangePoint> changes;  // of ln(adjusted_ns)
  // The last change, where it is within the recent nights: SLOWER or FASTER once it is confirmed,
  // UNDECIDED with a reason while it is not. Where there is none SAME, if the interval of the last
  // night lies within the floor, else UNDECIDED. WAITING with too few nights.
  Change change = Change::waiting;
  std::string reason;
  bool stands_out = false;  // that change or night: beyond the floor and the noise of the nights
  std::optional<double> ratio;  // after / before, of that last change or of the last night
  Interval interval;            // 95 %, of that ratio
  // Of no change, the largest of three: Student's t on nights; the rank sum on their processes, for
  // those that fall into two modes; how often earlier nights have been where the new ones are.
  // Times the nights among which the place of the change was chosen: the recent ones that have
  // enough others before and after them.
  double p = 1, q = 1;
  std::optional<StoredDuet> duet;
  // The plugin was one and the same before the change and after it.
  bool is_of_one_build = false;
};

// Everything but q and the verdicts that need it: judge_night.
SeriesHistory follow_series(const Series& series, const HistoryRules& rules);

// The two builds of a change took turns: their ratio counts, not the nights'. A change of the
// nights that the builds do not show is the machine's.
void apply_duet(SeriesHistory& series, StoredDuet duet);

// What was said of earlier nights is no verdict on tonight, whose runs are those from `first_run`
// on: INVALID where the series has rows there and none is sound, FAILED where all broke and there
// were sound ones before, WAITING where it has none. A duet of tonight stands.
void require_tonight(SeriesHistory& history, const Series& series, std::int64_t first_run);

// Verdicts of all series of a night together: Benjamini-Hochberg over their last changes.
void judge_night(std::vector<SeriesHistory>& series, const HistoryRules& rules);

}  // namespace halmark::history
