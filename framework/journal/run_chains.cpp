#include "journal/run_chains.hpp"

#include <SQLiteCpp/Transaction.h>

#include <algorithm>

#include "core/text/digest.hpp"
#include "journal/file/open_file.hpp"
#include "journal/schema.hpp"

namespace halmark::journal {
namespace {

// A damaged page may show rows without end; the first ones tell enough.
constexpr std::size_t lines_max = 200;

std::string entry_name(std::int64_t id) { return "entry " + std::to_string(id); }
std::string run_name(std::int64_t id) { return "run " + std::to_string(id); }

}  // namespace

void Faults::add(const std::string& line) {
  if (lines_.size() >= lines_max || std::ranges::find(lines_, line) != lines_.end()) return;
  lines_.push_back(line);
}

RunChains::End RunChains::begin_of(std::int64_t run) {
  SQLite::Statement query(db_, std::string("SELECT ") + run_columns + " FROM run WHERE id = ?");
  query.bind(1, run);
  if (!query.executeStep()) return {.is_known = false};
  return {.chain = chain_start(run_info_of(query, 0))};
}

void RunChains::follow_rows(std::int64_t run, End& end) {
  SQLite::Statement query(db_, std::string("SELECT ") + entry_columns +
                                   " FROM entry WHERE run = ? AND id > ? ORDER BY id");
  query.bind(1, run);
  query.bind(2, end.row);
  while (query.executeStep()) {
    const StoredRow row = row_of(query);
    const std::string bytes = row.bytes();
    const std::string chain = sha256_of(end.chain + bytes);
    if (static_cast<std::int64_t>(xxh3_of(bytes)) != row.checksum) {
      faults_.add(entry_name(row.id) + ": checksum does not match");
    } else {
      ++end.rows[row.kind];
      if (chain != row.chain) {
        faults_.add(entry_name(row.id) + ": a row of " + run_name(run) +
                    " was changed, removed, inserted or moved at or before this one");
      }
    }
    end.row = row.id;
    end.chain = row.chain;
  }
}

void RunChains::follow(std::int64_t run) {
  const auto known = ends_.find(run);
  End& end = known != ends_.end() ? known->second : ends_.emplace(run, begin_of(run)).first->second;
  if (!end.is_known) return;
  follow_rows(run, end);
  SQLite::Statement head(db_, "SELECT chain FROM run WHERE id = ?");
  head.bind(1, run);
  if (!head.executeStep() || head.getColumn(0).getString() != end.chain) {
    faults_.add(run_name(run) + ": its own columns were changed, or its last rows are missing");
  }
}

std::int64_t RunChains::rows_of(std::int64_t run, const std::string& kind) const {
  const auto end = ends_.find(run);
  if (end == ends_.end()) return 0;
  const auto rows = end->second.rows.find(kind);
  return rows == end->second.rows.end() ? 0 : rows->second;
}

void RunChains::check_first_row(std::int64_t run, const RunInfo& info, const std::string& head) {
  // By kinds: the index of a run is ordered by kind first, so that its smallest id would be looked
  // for in all of its rows.
  SQLite::Statement query(
      db_, std::string("WITH RECURSIVE kinds(kind) AS (SELECT min(kind) FROM entry WHERE run = ?1 "
                       "UNION ALL SELECT (SELECT min(kind) FROM entry WHERE run = ?1 AND kind > "
                       "kinds.kind) FROM kinds WHERE kinds.kind IS NOT NULL) SELECT ") +
               entry_columns +
               " FROM entry WHERE id = (SELECT min((SELECT min(id) FROM entry WHERE run = ?1 AND "
               "kind = kinds.kind)) FROM kinds WHERE kinds.kind IS NOT NULL)");
  query.bind(1, run);
  std::string chain = chain_start(info), stored = head;
  if (query.executeStep()) {
    const StoredRow row = row_of(query);
    chain = sha256_of(chain + row.bytes());
    stored = row.chain;
  }
  if (chain != stored) {
    faults_.add(run_name(run) + ": its own columns or its first row were changed");
  }
}

void RunChains::check_run(std::int64_t run) {
  if (!checked_.insert(run).second) return;
  SQLite::Statement query(db_,
                          std::string("SELECT chain, ") + run_columns + " FROM run WHERE id = ?");
  query.bind(1, run);
  if (query.executeStep()) {
    check_first_row(run, run_info_of(query, 1), query.getColumn(0).getString());
  }
}

void RunChains::check_columns() {
  SQLite::Statement runs(db_, std::string("SELECT id, checksum, ") + run_columns + " FROM run");
  while (runs.executeStep()) {
    if (run_checksum(run_info_of(runs, 2)) == runs.getColumn(1).getInt64()) continue;
    faults_.add(run_name(runs.getColumn(0).getInt64()) + ": its own columns were changed");
  }
}

void RunChains::check_first_rows() {
  SQLite::Statement runs(db_,
                         std::string("SELECT id, chain, ") + run_columns + " FROM run ORDER BY id");
  while (runs.executeStep()) {
    const std::int64_t run = runs.getColumn(0).getInt64();
    checked_.insert(run);
    check_first_row(run, run_info_of(runs, 2), runs.getColumn(1).getString());
  }
}

void RunChains::check_runs() {
  if (has_checked_runs_) return;
  has_checked_runs_ = true;
  SQLite::Transaction one_state(db_);
  schema_version_of(db_) < blocks_version ? check_first_rows() : check_columns();
  const std::int64_t last = db_.execAndGet("SELECT max(id) FROM run").getInt64();
  const std::int64_t latest = db_.execAndGet("SELECT max(run) FROM entry").getInt64();
  if (latest > last) {
    faults_.add(run_name(latest) + ": has rows, and is not in the table of runs");
  }
  one_state.commit();
}

bool RunChains::is_retired(const StoredRow& row) {
  std::int64_t& up_to = retired_[row.run];
  if (row.id < up_to) return true;
  SQLite::Statement query(db_, std::string("SELECT ") + entry_columns +
                                   " FROM entry WHERE run = ? AND kind = 'retirement' ORDER BY id");
  query.bind(1, row.run);
  while (query.executeStep()) {
    const StoredRow retirement = row_of(query);
    const bool is_whole =
        static_cast<std::int64_t>(xxh3_of(retirement.bytes())) == retirement.checksum;
    if (is_whole) up_to = retirement.id;
  }
  return row.id < up_to;
}

}  // namespace halmark::journal
