#include "journal/check.hpp"

#include <SQLiteCpp/Statement.h>

#include "core/text/digest.hpp"
#include "journal/open_file.hpp"
#include "journal/schema.hpp"

namespace halmark {
namespace {

using namespace journal;

std::string schema_of(SQLite::Database& db) {
  std::string out;
  SQLite::Statement query(
      db, "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY type, name");
  while (query.executeStep()) out += query.getColumn(0).getString() + ";\n";
  return out;
}

std::string expected_schema(int version) {
  SQLite::Database db(":memory:", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
  db.exec(tables_of(version));
  return schema_of(db);
}

}  // namespace

StoredDatabase read_database(const std::string& path) {
  SQLite::Database db = open_file(path, Access::read_only);
  StoredDatabase out{.schema = schema_of(db),
                     .expected_schema = expected_schema(schema_version_of(db))};
  SQLite::Statement integrity(db, "PRAGMA integrity_check");
  while (integrity.executeStep()) {
    const std::string line = integrity.getColumn(0).getString();
    if (line != "ok") out.integrity.push_back(line);
  }
  SQLite::Statement keys(db, "PRAGMA foreign_key_check");
  while (keys.executeStep()) {
    // The schema has one foreign key: entry.run.
    out.orphans.push_back({keys.getColumn(0).getString(), keys.getColumn(1).getInt64(), "run",
                           keys.getColumn(2).getString()});
  }
  SQLite::Statement runs(db,
                         "SELECT id, command, plan_hash, plan_text, fingerprint, tool_version, "
                         "tool_build, started_utc, chain FROM run ORDER BY id");
  while (runs.executeStep()) {
    Encoder encoder;
    for (int i = 1; i <= 7; ++i) encoder.text(runs.getColumn(i).getString());
    out.runs.push_back(
        {runs.getColumn(0).getInt64(), sha256_of(encoder.bytes()), runs.getColumn(8).getString()});
  }
  return out;
}

void for_each_entry(const std::string& path, const std::function<void(const StoredEntry&)>& visit) {
  SQLite::Database db = open_file(path, Access::read_only);
  SQLite::Statement query(db,
                          "SELECT id, run, kind, key, body, samples, checksum, chain FROM entry "
                          "ORDER BY run, id");
  while (query.executeStep()) {
    const SQLite::Column blob = query.getColumn(5);
    const std::string samples(static_cast<const char*>(blob.getBlob()),
                              static_cast<std::size_t>(blob.getBytes()));
    StoredEntry entry{.id = query.getColumn(0).getInt64(),
                      .run = query.getColumn(1).getInt64(),
                      .checksum = query.getColumn(6).getInt64(),
                      .kind = query.getColumn(2).getString(),
                      .chain = query.getColumn(7).getString()};
    const std::string key = query.getColumn(3).getString(), body = query.getColumn(4).getString();
    entry.bytes = encode({entry.run, entry.kind, key, body, samples, !blob.isNull()});
    if (entry.kind == "winner") entry.winner_body = body;
    visit(entry);
  }
}

}  // namespace halmark
