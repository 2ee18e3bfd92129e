// Follows the chains of runs while they are read: a row that is missing, moved or out of reach has
// no checksum that could say so.
#pragma once

#include <SQLiteCpp/Database.h>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "journal/store.hpp"
#include "journal/stored_row.hpp"

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
  RunChains(SQLite::Database& db, Faults& faults) : db_(db), faults_(faults) {}

  // The rows of a run that were not followed yet, up to its head. Within a transaction of the
  // caller's: one state of the file.
  void follow(std::int64_t run);
  // Of those that were followed and have their checksum. An index that lost one would hide it.
  std::int64_t rows_of(std::int64_t run, const std::string& kind) const;
  // Once, and in no transaction: the columns of every run against its checksum, and rows of runs
  // that are not listed. In files of earlier versions, whose runs have none, against its first row.
  void check_runs();
  // Once each: the columns of this run against its first row, in a hash that nobody repairs without
  // all of the run's.
  void check_run(std::int64_t run);
  // Whether a row behind this one retires the samples of the run.
  bool is_retired(const StoredRow& row);

 private:
  struct End {
    std::int64_t row = 0;                                        // the last one that was followed
    std::string chain;                                           // its own
    bool is_known = true;                                        // false: there is no such run
    std::map<std::string, std::int64_t, std::less<>> rows = {};  // by kind
  };
  End begin_of(std::int64_t run);
  void follow_rows(std::int64_t run, End& end);
  void check_first_row(std::int64_t run, const RunInfo& info, const std::string& head);
  void check_columns();
  void check_first_rows();

  SQLite::Database& db_;
  Faults& faults_;
  std::map<std::int64_t, End> ends_;
  bool has_checked_runs_ = false;
  std::set<std::int64_t> checked_;                // whose first row is
  std::map<std::int64_t, std::int64_t> retired_;  // by run: up to this row
};

}  // namespace halmark::journal
