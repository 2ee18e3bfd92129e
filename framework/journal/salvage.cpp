// Pages that cannot be read must not take others with them: rows are found by every way there is
// to them (the table from both ends, each index) and then asked for one by one.
#include "journal/salvage.hpp"

#include <SQLiteCpp/Statement.h>

#include <map>
#include <optional>

#include "core/lists.hpp"
#include "core/text/digest.hpp"
#include "core/text/error.hpp"
#include "journal/file/damage.hpp"
#include "journal/file/log_check.hpp"
#include "journal/file/new_file.hpp"
#include "journal/file/open_file.hpp"
#include "journal/file/own_schema.hpp"
#include "journal/rows/row_sql.hpp"
#include "sql/sqlite_statements.hpp"

namespace halmark {
namespace {

using namespace journal;

// A row between two that were found may be on a page that no other way leads to.
constexpr std::int64_t gap_max = 100'000;

using Ids = std::set<std::int64_t>;

// Until the first page that cannot be read.
void add_ids(SQLite::Database& db, const std::string& sql, Ids& out) {
  try {
    SQLite::Statement query(db, sql);
    while (query.executeStep()) out.insert(query.getColumn(0).getInt64());
  } catch (const SQLite::Exception&) {
    // The other ways lead further.
  }
}

// `listed`: those that an index has.
Ids ids_of(SQLite::Database& db, const std::string& table, Ids& listed) {
  Ids forward, backward;
  add_ids(db, "SELECT id FROM " + table + " NOT INDEXED ORDER BY id", forward);
  add_ids(db, "SELECT id FROM " + table + " NOT INDEXED ORDER BY id DESC", backward);
  Ids out = forward;
  out.insert(backward.begin(), backward.end());
  if (table == "entry") {
    add_ids(db, "SELECT id FROM entry INDEXED BY entry_by_run", listed);
    add_ids(db, "SELECT id FROM entry INDEXED BY entry_by_key", listed);
    out.insert(listed.begin(), listed.end());
  }
  if (!forward.empty() && !backward.empty() && *forward.rbegin() < *backward.begin() &&
      *backward.begin() - *forward.rbegin() < gap_max) {
    for (auto id = *forward.rbegin(); id < *backward.begin(); ++id) out.insert(id);
  }
  return out;
}

struct SoundRun {
  RunInfo info;
  SalvagedRun outcome;
};

class Salvage {
 public:
  Salvage(const std::string& from, const std::string& to, const Ids& except)
      : from_(from), except_(except), source_(open_file(from, Access::salvage)) {
    make_empty(to);
    target_.emplace(to, SQLite::OPEN_READWRITE);
    to_rows_.emplace(*target_);
  }

  SalvageCopy run() {
    if (const std::string fault = fault_of_log(from_ + "-wal"); !fault.empty()) {
      leave_out("file", 0, fault);
    }
    for (const std::string& part : foreign_parts(source_)) {
      out_.left_out.push_back({"schema", 0, "the database has " + part});
    }
    source_.exec("BEGIN");
    target_->exec("BEGIN");
    copy_runs();
    copy_entries();
    end_runs();
    target_->exec("COMMIT");
    target_->exec("PRAGMA wal_checkpoint(TRUNCATE)");
    return std::move(out_);
  }

 private:
  void leave_out(const char* table, std::int64_t row, const std::string& reason) {
    out_.left_out.push_back({table, row, reason});
  }

  // One row of `sql`, asked by its id. A page that cannot be read is no reason to stop.
  template <class Take>
  void each(const char* table, const std::string& sql, Take take) {
    Ids listed;
    for (const std::int64_t id : ids_of(source_, table, listed)) {
      try {
        bool is_there = false;
        const sql::Value value = id;
        from_rows_.each(sql, {&value, 1}, [&](const sql::Row& row) {
          is_there = true;
          take(row);
        });
        if (!is_there && listed.contains(id)) {
          leave_out(table, id, "an index has it, its table has not");
        }
      } catch (const SQLite::Exception& e) {
        if (!is_damage(e)) throw;  // the new file cannot be written
        leave_out(table, id, std::string("cannot be read: ") + e.what());
      }
    }
  }

  void copy_runs() {
    each("run", "SELECT id, chain, " + run_columns() + " FROM run WHERE id = ?",
         [&](const sql::Row& row) {
           SoundRun run{.info = run_from(row, 2)};
           run.outcome = {
               .id = row[0].integer(), .stored_head = row[1].text(), .head = chain_start(run.info)};
           to_rows_->insert(insert_run(sql::Dialect::sqlite),
                            values_of(run.outcome.id, run.info, run.outcome.head));
           runs_.emplace(run.outcome.id, std::move(run));
         });
  }

  void copy_entries() {
    each("entry", row_sql(select_rows(false) + " WHERE e.id = ?", sql::Dialect::sqlite),
         [&](const sql::Row& row) { copy_entry(row_from(row)); });
  }

  void copy_entry(const StoredRow& row) {
    if (except_.contains(row.id)) return;  // its reason is the caller's
    const std::string bytes = row.bytes();
    if (as_int64(xxh3_of(bytes)) != row.checksum) {
      leave_out("entry", row.id, "its checksum does not match");
      return;
    }
    const auto run = runs_.find(row.run);
    if (run == runs_.end()) {
      leave_out("entry", row.id, "its run " + std::to_string(row.run) + " is not there");
      return;
    }
    std::string& chain = run->second.outcome.head;
    const std::string next = sha256_of(chain + bytes);
    const sql::Value samples = row.has_samples ? sql::Value(sql::Bytes{row.samples}) : sql::Value();
    const sql::Row copy = {row.id,   row.run, row.kind,     row.key,
                           row.body, samples, row.checksum, next};
    to_rows_->insert(
        "INSERT INTO entry(id, run, kind, key, body, samples, checksum, chain) VALUES (?, ?, ?, ?, "
        "?, ?, ?, ?)",
        copy);
    copy_block(row.id);
    chain = next;
    ++run->second.outcome.rows;
    ++out_.entries;
  }

  // As it is, if it can be read: whether it is the one that the row names is for who checks the
  // copy.
  void copy_block(std::int64_t entry) {
    const sql::Value id = entry;
    sql::Row block;
    try {
      from_rows_.each("SELECT entry, bytes FROM sample_block WHERE entry = ?", {&id, 1},
                      [&](const sql::Row& row) { block = row; });
    } catch (const SQLite::Exception&) {
      return;  // an earlier version has no such table, a damaged file perhaps no such page
    }
    to_rows_->insert("INSERT INTO sample_block(entry, bytes) VALUES (?, ?)", block);
  }

  void end_runs() {
    for (auto& [id, run] : runs_) {
      const sql::Row head = {run.outcome.head, id};
      to_rows_->each("UPDATE run SET chain = ? WHERE id = ?", head, [](const sql::Row&) {});
      out_.runs.push_back(std::move(run.outcome));
    }
  }

  const std::string& from_;
  const Ids& except_;
  SQLite::Database source_;
  sql::SqliteStatements from_rows_{source_};
  std::optional<SQLite::Database> target_;
  std::optional<sql::SqliteStatements> to_rows_;
  std::map<std::int64_t, SoundRun> runs_;
  SalvageCopy out_;
};

}  // namespace

SalvageCopy copy_sound_rows(const std::string& from, const std::string& to,
                            const std::set<std::int64_t>& except) {
  try {
    return Salvage(from, to, except).run();
  } catch (const SQLite::Exception& e) {
    if (is_damage(e)) {
      throw refused(std::string("nothing can be read of this database: ") + e.what(), from,
                    "restore a backup");
    }
    throw Error(ExitCode::error, std::string("the copy cannot be made: ") + e.what(), to);
  }
}

void discard_database(const std::string& path) { remove_database(path); }
void name_database(const std::string& temporary, const std::string& name) {
  publish(temporary, name);
}
void require_no_database(const std::string& name) { require_absent(name); }

}  // namespace halmark
