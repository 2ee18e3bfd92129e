#include "journal/check.hpp"

#include <SQLiteCpp/Statement.h>

#include <utility>

#include "core/text/url.hpp"
#include "journal/file/damage.hpp"
#include "journal/file/empty_log.hpp"
#include "journal/file/open_file.hpp"
#include "journal/file/own_schema.hpp"
#include "journal/rows/stored_entry.hpp"
#include "journal/sqlite/file_session.hpp"
#include "journal/sqlite/sqlite_rows.hpp"

namespace halmark {
namespace {

using namespace journal;

void read_integrity(SQLite::Database& db, StoredDatabase& out) {
  SQLite::Statement integrity(db, "PRAGMA integrity_check");
  while (integrity.executeStep()) {
    const std::string line = integrity.getColumn(0).getString();
    if (line != "ok") out.integrity.push_back(line);
  }
  SQLite::Statement keys(db, "PRAGMA foreign_key_check");
  while (keys.executeStep()) {
    // Each table has one foreign key: entry.run, sample_block.entry.
    const std::string table = keys.getColumn(0).getString();
    out.orphans.push_back({table, keys.getColumn(1).getInt64(), table == "entry" ? "run" : "entry",
                           keys.getColumn(2).getString()});
  }
}

class FileSnapshot : public DatabaseSnapshot {
 public:
  explicit FileSnapshot(const std::string& path)
      : path_(path), log_(path), db_(open_file(path, Access::read_only)) {
    reading([&] { db_.exec("BEGIN"); });
  }

  // From the first question on: the transaction that was begun has one.
  void in_one_state(const std::function<void()>& body) override { body(); }

  StoredDatabase read() override {
    StoredDatabase out;
    reading([&] {
      out.foreign_parts = foreign_parts(db_);
      read_integrity(db_, out);
    });
    rows_.each_run([&](const RunRow& run) {
      out.runs.push_back(
          {.id = run.id,
           .start_chain = chain_start(run.info),
           .chains = rows_.chains(run),
           .has_checksum = !run.checksum || *run.checksum == run_checksum(run.info)});
    });
    return out;
  }

  void for_each_entry(const std::function<void(const StoredEntry&)>& visit) override {
    rows_.each_row_of_table([&](const StoredRow& row) { visit(checked_entry(row)); });
  }

 private:
  template <class Body>
  void reading(Body body) {
    try {
      body();
    } catch (const SQLite::Exception& e) {
      throw storage_error(&db_, e, "the database cannot be read", path_);
    }
  }

  std::string path_;
  EmptyLog log_;  // goes after the connection
  SQLite::Database db_;
  FileSession session_{db_, path_};
  SqliteRows rows_{session_};
};

}  // namespace

namespace journal {

StoredEntry checked_entry(StoredRow row) {
  std::string bytes = row.bytes();
  return {.id = row.id,
          .run = row.run,
          .checksum = row.checksum,
          .writer = row.writer,
          .kind = std::move(row.kind),
          .key = std::move(row.key),
          .body = std::move(row.body),
          .samples = std::move(row.samples),
          .chain = std::move(row.chain),
          .bytes = std::move(bytes),
          .block = std::move(row.block)};
}

}  // namespace journal

std::unique_ptr<DatabaseSnapshot> open_snapshot(const std::string& database) {
  if (is_postgresql_url(database)) return open_server_snapshot(database);
  return std::make_unique<FileSnapshot>(database);
}

}  // namespace halmark
