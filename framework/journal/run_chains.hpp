// Follows the chains of runs while they are read: a row that is missing, moved or out of reach has
// no checksum that could say so.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "journal/rows/row_source.hpp"

namespace halmark::journal {

// What does not hold, each line once, in the order in which it was met.
class Faults {
 public:
  void add(const std::string& line);
  const std::vector<std::string>& lines() const { return lines_; }

 private:
  std::vector<std::string> lines_;
};

// Refers to both. One thread.
class RunChains {
 public:
  RunChains(RowSource& source, Faults& faults) : source_(source), faults_(faults) {}

  // The rows of a run that were not followed yet, each writer's up to its head. Within one state.
  void follow(std::int64_t run);
  // Of those that were followed and have their checksum. An index that lost one would hide it.
  std::int64_t rows_of(std::int64_t run, const std::string& kind) const;
  // Once, and in no state of a caller's: the columns of every run against its checksum, and rows of
  // runs that are not listed. In files of earlier versions, whose runs have none, against its
  // first row.
  void check_runs();
  // Once each: the columns of this run against the start of its chains, in a hash that nobody
  // repairs without all of the run's.
  void check_run(std::int64_t run);
  // Whether a row behind this one retires the samples of the run.
  bool is_retired(const StoredRow& row);

 private:
  struct End {
    std::int64_t row = 0;  // the last one that was followed
    std::string chain;     // its own
  };
  void follow_rows(std::int64_t run, std::int64_t writer, End& end);
  void check_start(const RunRow& run);

  RowSource& source_;
  Faults& faults_;
  std::map<std::pair<std::int64_t, std::int64_t>, End> ends_;  // by run and writer
  std::map<std::int64_t, std::map<std::string, std::int64_t, std::less<>>> rows_;  // by run, kind
  bool has_checked_runs_ = false;
  std::set<std::int64_t> checked_;                // whose start is
  std::map<std::int64_t, std::int64_t> retired_;  // by run: up to this row
};

}  // namespace halmark::journal
