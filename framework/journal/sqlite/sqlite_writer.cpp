#include "journal/sqlite/sqlite_writer.hpp"

#include <SQLiteCpp/Statement.h>
#include <sqlite3.h>
#include <unistd.h>

#include <filesystem>

#include "core/text/digest.hpp"
#include "core/text/error.hpp"
#include "journal/file/damage.hpp"
#include "journal/file/new_file.hpp"
#include "journal/file/own_schema.hpp"
#include "journal/rows/row_sql.hpp"
#include "journal/sqlite/writer_lock.hpp"

namespace halmark::journal {
namespace {

int schema_cookie(SQLite::Database& db) { return db.execAndGet("PRAGMA schema_version").getInt(); }

std::int64_t last_entry(SQLite::Database& db) {
  return db.execAndGet("SELECT max(id) FROM entry").getInt64();
}

std::string chain_of(SQLite::Database& db, std::int64_t run) {
  SQLite::Statement query(db, "SELECT chain FROM run WHERE id = ?");
  query.bind(1, run);
  return query.executeStep() ? query.getColumn(0).getString() : std::string();
}

// A copy without gaps, and then the pages of the file anew through its -wal.
void shrink_file(SQLite::Database& db, const std::string& path) {
  const auto needed =
      static_cast<std::uintmax_t>(2 * db.execAndGet("PRAGMA page_count").getInt64() *
                                  db.execAndGet("PRAGMA page_size").getInt64());
  const auto space = std::filesystem::space(std::filesystem::absolute(path).parent_path());
  if (space.available < needed) {
    throw Error(ExitCode::error,
                "the file is not made smaller: that takes " + std::to_string(needed >> 20) +
                    " MiB meanwhile, and " + std::to_string(space.available >> 20) + " are free",
                path, "its free pages are used by later rows");
  }
  db.exec("VACUUM");
  db.exec("PRAGMA wal_checkpoint(TRUNCATE)");
}

}  // namespace

SqliteWriter::SqliteWriter(SQLite::Database& db, FileSession& session, bool is_writing)
    : db_(db), session_(session), path_(session.location()) {
  if (!is_writing) return;
  file_ = std::make_unique<FilePlace>(path_);
  log_ = std::make_unique<FilePlace>(path_ + "-wal");
  try {
    schema_cookie_ = schema_cookie(db_);
    last_run_ = db_.execAndGet("SELECT max(id) FROM run").getInt64();
    last_chain_ = chain_of(db_, last_run_);
  } catch (const SQLite::Exception& e) {
    throw storage_error(&db_, e, "the database cannot be used", path_);
  }
}

template <class Body>
void SqliteWriter::commit(Body body) {
  if (lost_) throw *lost_;
  require_own_content();
  session_.write([&] {
    require_same_schema();
    body();
  });
  require_in_place();
  if (file_ != nullptr) file_->remember_content();
}

// Within the transaction, so that nothing can be made between this look and the insert.
void SqliteWriter::require_same_schema() {
  const int now = schema_cookie(db_);
  if (now == schema_cookie_) return;
  require_own_schema(db_, path_);
  schema_cookie_ = now;
}

std::int64_t SqliteWriter::begin_run(const RunInfo& run) {
  std::int64_t id = 0;
  commit([&] {
    const std::string start = chain_start(run);
    session_.each(insert_run(session_.dialect()), values_of(std::nullopt, run, start),
                  [&](const sql::Row& row) { id = row[0].integer(); });
    if (chain_of(db_, id) != start) {
      throw Error(ExitCode::error, "a run was inserted and is not there", path_, go_on);
    }
    // Of a run whose own row is gone: its rows must not become those of this one.
    if (db_.execAndGet("SELECT max(run) FROM entry").getInt64() >= id) {
      throw damaged_file("run " + std::to_string(id) + " has rows, and is not in the table of runs",
                         path_);
    }
    last_run_ = id;
    last_chain_ = start;
  });
  return id;
}

// Returns its id.
std::int64_t SqliteWriter::insert(std::int64_t run, const Entry& e, std::string& chain) {
  chain = sha256_of(chain + bytes_of(run, e));
  std::int64_t id = 0;
  session_.each(row_sql(insert_row, session_.dialect()), values_of(run, e, chain),
                [&](const sql::Row& row) { id = row[0].integer(); });
  const sql::Rows stored = session_.exec("SELECT chain FROM entry WHERE id = ?", id);
  if (stored.empty() || stored[0][0].text() != chain) {
    throw Error(ExitCode::error, "a row was inserted and is not there", path_, go_on);
  }
  if (!e.has_samples) return id;
  const sql::Rows block = session_.exec(
      "INSERT OR IGNORE INTO sample_block(entry, bytes) VALUES (?, ?) RETURNING entry", id,
      sql::Bytes{e.samples});
  if (block.empty()) {
    throw damaged_file(
        "samples of a row that is gone lie where those of entry " + std::to_string(id) + " would",
        path_);
  }
  return id;
}

void SqliteWriter::append(std::int64_t run, const std::vector<Entry>& entries) {
  commit([&] { append_rows(run, entries); });
}

RunSamples SqliteWriter::retire_samples(std::int64_t run, const std::string& policy) {
  RunSamples out;
  commit([&] {
    out = delete_samples(session_, run);
    if (out.rows == 0) return;
    append_rows(run, {entry_of(Retirement{policy, utc_now(), out})});
  });
  return out;
}

void SqliteWriter::shrink() {
  if (lost_) throw *lost_;
  try {
    shrink_file(db_, path_);
  } catch (const SQLite::Exception& e) {
    throw storage_error(&db_, e, "the file is not made smaller", path_,
                        "its free pages are used by later rows");
  }
  require_in_place();
}

// Within a transaction.
void SqliteWriter::append_rows(std::int64_t run, const std::vector<Entry>& entries) {
  std::string chain = chain_of(db_, run);
  std::int64_t last = last_entry(db_);
  for (const Entry& entry : entries) {
    const std::int64_t id = insert(run, entry, chain);
    // SQLite goes on with any free number behind its greatest: the order of rows would be lost.
    if (id <= last) {
      throw damaged_file("entry " + std::to_string(last) + " leaves no number for the next row",
                         path_);
    }
    last = id;
  }
  SQLite::Statement update(db_, "UPDATE run SET chain = ? WHERE id = ?");
  update.bind(1, chain);
  update.bind(2, run);
  if (update.exec() != 1) {
    throw Error(ExitCode::error, "there is no run " + std::to_string(run) + " to add rows to",
                path_, go_on);
  }
  written_ += std::ssize(entries);
  last_run_ = run;
  last_chain_ = chain;
}

void SqliteWriter::require_in_place() {
  if (file_ == nullptr) return;
  const std::string fault = file_->fault(), of_log = log_->fault();
  if (fault.empty() && of_log.empty()) return;
  lost_ = out_of_place(fault.empty() ? "parted from its -wal file, which was " + of_log : fault,
                       "the last one included");
  throw *lost_;
}

// Only its writer writes the file, and only within a commit. What somebody copied over it in place
// would be mixed with what is in the -wal; a mere touch of it does no harm.
void SqliteWriter::require_own_content() {
  if (file_ == nullptr || !file_->has_other_content() || !file_->fault().empty()) return;
  if (last_run_ == 0 || holds_all(path_)) return file_->remember_content();
  lost_ =
      out_of_place("overwritten by another program", "without the last one, which was not stored");
  throw *lost_;
}

// As any other process sees the file.
bool SqliteWriter::holds_all(const std::string& path) const {
  try {
    SQLite::Database seen(path, SQLite::OPEN_READONLY);
    sqlite3_db_config(seen.getHandle(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
    return first_fault(seen).empty() && chain_of(seen, last_run_) == last_chain_;
  } catch (const SQLite::Exception&) {
    return false;
  }
}

std::string SqliteWriter::free_name() const {
  std::string out = path_ + ".rescued";
  for (int i = 2; std::filesystem::exists(out); ++i) out = path_ + ".rescued-" + std::to_string(i);
  return out;
}

// This connection still sees every row, of a file that nobody will find: they get one that has a
// name. Our -wal must not stay beside the path: SQLite would read it into the next database of that
// name, and leaves it there when it closes a file that has moved. Another one's is left alone.
Error SqliteWriter::out_of_place(const std::string& fault, const char* last_row) {
  const std::string what = "the database was " + fault + " while this command wrote it";
  if (!log_->fault().empty() || file_->fault().empty()) {
    sqlite3_db_config(db_.getHandle(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
  }
  try {
    const std::string kept = free_name();
    copy_database(db_, kept);
    if (last_run_ != 0 && !holds_all(kept)) {
      remove_database(kept);
      throw Error(ExitCode::error, "pages of it are gone", kept);
    }
    if (log_->fault().empty()) {
      for (const char* rest : {"-wal", "-shm"}) unlink((path_ + rest).c_str());
    }
    return {ExitCode::error, what, path_, "no row is lost: all are in " + kept + ", " + last_row};
  } catch (const Error& e) {
    return {ExitCode::error, what, path_,
            "the rows of this command (" + std::to_string(written_) +
                ") are lost, because they could not be copied: " + e.line()};
  } catch (const std::exception& e) {
    return {ExitCode::error, what, path_,
            "the rows of this command (" + std::to_string(written_) +
                ") are lost, because they could not be copied: " + e.what()};
  }
}

}  // namespace halmark::journal
