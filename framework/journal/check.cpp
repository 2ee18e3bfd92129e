#include "journal/check.hpp"

#include <SQLiteCpp/Statement.h>

#include <utility>

#include "journal/file/damage.hpp"
#include "journal/file/empty_log.hpp"
#include "journal/file/open_file.hpp"
#include "journal/file/own_schema.hpp"
#include "journal/schema.hpp"
#include "journal/stored_row.hpp"

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

StoredEntry entry_of(StoredRow row) {
  std::string bytes = row.bytes();
  return {.id = row.id,
          .run = row.run,
          .checksum = row.checksum,
          .kind = std::move(row.kind),
          .key = std::move(row.key),
          .body = std::move(row.body),
          .samples = std::move(row.samples),
          .chain = std::move(row.chain),
          .bytes = std::move(bytes),
          .block = std::move(row.block)};
}

}  // namespace

struct DatabaseSnapshot::Connection {
  explicit Connection(const std::string& name)
      : path(name), log(name), db(open_file(name, Access::read_only)) {
    reading([&] { db.exec("BEGIN"); });
  }

  template <class Body>
  void reading(Body body) {
    try {
      body();
    } catch (const SQLite::Exception& e) {
      throw storage_error(&db, e, "the database cannot be read", path);
    }
  }

  std::string path;
  EmptyLog log;  // goes after the connection
  SQLite::Database db;
};

DatabaseSnapshot::DatabaseSnapshot(const std::string& path)
    : connection_(std::make_unique<Connection>(path)) {}
DatabaseSnapshot::~DatabaseSnapshot() = default;

StoredDatabase DatabaseSnapshot::read() const {
  StoredDatabase out;
  connection_->reading([&] {
    SQLite::Database& db = connection_->db;
    out.foreign_parts = foreign_parts(db);
    read_integrity(db, out);
    const bool has_checksums = schema_version_of(db) >= blocks_version;
    SQLite::Statement runs(db, std::string("SELECT id, chain, ") +
                                   (has_checksums ? "checksum, " : "NULL, ") + run_columns +
                                   " FROM run ORDER BY id");
    while (runs.executeStep()) {
      const RunInfo info = run_info_of(runs, 3);
      out.runs.push_back({runs.getColumn(0).getInt64(), chain_start(info),
                          runs.getColumn(1).getString(),
                          !has_checksums || runs.getColumn(2).getInt64() == run_checksum(info)});
    }
  });
  return out;
}

void DatabaseSnapshot::for_each_entry(const std::function<void(const StoredEntry&)>& visit) const {
  connection_->reading([&] {
    // By the table itself: an index may be what is damaged.
    SQLite::Statement query(connection_->db,
                            "SELECT " + columns_with_block(schema_version_of(connection_->db)) +
                                " FROM entry NOT INDEXED ORDER BY run, id");
    while (query.executeStep()) visit(entry_of(row_of(query)));
  });
}

}  // namespace halmark
