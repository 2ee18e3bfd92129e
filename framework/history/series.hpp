// Series: one figure of one machine over many runs, as rows. What comparisons and histories fold.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/numeric/statistics.hpp"

namespace halmark::history {

// Rows are of one series where all of this is equal. The build of a plugin is not part of it: a
// change of build is what is looked for.
struct SeriesName {
  std::string what;         // key of a kernel case or of a configuration, name of a benchmark
  std::string fingerprint;  // of the machine
  std::string plugin;       // its name; "" where several or none
  auto operator<=>(const SeriesName&) const = default;
};

// What was seen of the machine around a row; absent where nothing was.
struct RowState {
  std::optional<double> bytes_per_s;  // of the memory
  std::optional<double> clock_hz;
};

struct SeriesRow {
  std::int64_t run = 0;
  int round = 0;
  double ns = 0;  // median of the process; 0 where `fault` says why there is none
  std::optional<Interval> interval_ns;  // of a composed figure, which stands for several processes
  RowState state;
  std::string build;               // of the plugin: its version and the first digits of its hash
  std::string fault;               // why the row counts for nothing
  std::string doubt;               // why it is suspect: never a reason to call something slower
  bool is_of_one_process = false;  // as all of its series: repetitions, whose spread is smaller
  bool is_broken = false;  // the fault is of what was measured: noise and limits of times are not

  bool is_usable() const { return fault.empty(); }
  bool is_sound() const { return fault.empty() && doubt.empty(); }
};

struct Series {
  SeriesName name;
  std::vector<SeriesRow> rows;  // oldest first
};

// Median over usable rows that have the figure.
std::optional<double> median_bytes_per_s(const std::vector<SeriesRow>& rows);
std::optional<double> median_clock_hz(const std::vector<SeriesRow>& rows);
// The rows without fault or doubt.
std::vector<SeriesRow> sound_rows(const std::vector<SeriesRow>& rows);
// There are rows, and each is broken.
bool all_broke(std::span<const SeriesRow> rows);
// Natural logarithms of the usable times.
std::vector<double> log_times(const std::vector<SeriesRow>& rows);

// "3%", "3 %" or "0.03" as 0.03, in [0, 10]. Throws Error (exit 2) naming `where`.
double parse_floor(const std::string& text, const std::string& where);

}  // namespace halmark::history
