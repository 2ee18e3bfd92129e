// What is new since a night: a fold over what was said then and what is said now.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "history/recorded.hpp"

namespace halmark::history {

// LOST: no sound row tonight, or none where it was due. RECOVERED: what was slower, failed or lost
// is as it was.
enum class News { slower, lost, recovered, faster, created };
std::string_view news_name(News news);  // "SLOWER"

// A run as far as it may be the cause of a change.
struct RunFacts {
  std::int64_t run = 0;
  std::string night;    // the date on which it began
  std::string command;  // rows are due where the command of their series ran
  std::string tool;     // version and build of halmark
  std::vector<std::string> machine;
};

struct NewsLine {
  News news = News::slower;
  SeriesName name;
  std::optional<double> ratio;  // of times, after / before; absent where there is none to tell
  Interval interval;            // 95 %
  std::string night;            // since when
  // The places of the change in the nights of the series, for causes that its rows alone know.
  std::int64_t run_before = 0, run_after = 0;
  std::string cause;  // "unknown" where nothing that was recorded changed

  // Of an interval that is wider than the change itself nothing follows.
  bool has_usable_interval() const;
};

struct Digest {
  std::string since, night;  // dates: what was said through `since` is not news
  std::int64_t run = 0;      // the last that it looked at
  std::string fingerprint;   // of the machine
  std::size_t series = 0;
  std::vector<NewsLine> lines;         // most urgent first, the largest change first
  std::vector<NewsLine> still_slower;  // than before an alert that was said by then
  // What is sent of it is not said again: it is of all series, and since no night that was named.
  bool is_of_all = true;
};

// gate_failed where something is newly SLOWER or LOST.
ExitCode digest_exit(const Digest& digest);

// `told` is the report through the night of `since`, which may have no series; `now` that of
// tonight; `runs` those of `now`.
Digest digest_of(const NightReport& told, const NightReport& now,
                 const std::vector<RunFacts>& runs);

// Of a database. `since`: a date, everything that was said by the end of it; "": what was sent last
// of this machine, else the night before the last. Throws Error (exit 2) as night_report does, or
// where no night is as early.
Digest stored_digest(const Store& store, const HistoryQuery& query, const HistoryRules& rules,
                     const std::string& path, const std::string& since);

// Beside a database file: how far the digest looked that was sent last.
std::string sent_path(const std::string& database);

}  // namespace halmark::history
