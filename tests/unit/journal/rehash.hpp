// Makes every checksum and chain of a database right again after an edit: what somebody does who
// knows the format and wants to be believed.
#pragma once

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "core/json/json.hpp"
#include "core/text/digest.hpp"
#include "journal/sqlite/schema.hpp"

namespace halmark::test {

class Rehash {
 public:
  explicit Rehash(const std::string& path) {
    EXPECT_EQ(sqlite3_open(path.c_str(), &db_), SQLITE_OK);
  }
  ~Rehash() { sqlite3_close(db_); }
  Rehash(const Rehash&) = delete;
  Rehash& operator=(const Rehash&) = delete;

  void run() {
    start_runs();
    std::vector<std::string> edits;
    const bool has_blocks = has("sqlite_schema WHERE name = 'sample_block'");
    for (auto* rows = prepare((std::string("SELECT id, run, kind, key, body, samples, ") +
                               (has_blocks ? "(SELECT bytes FROM sample_block WHERE "
                                             "sample_block.entry = entry.id)"
                                           : "NULL") +
                               " FROM entry ORDER BY id")
                                  .c_str());
         step(rows);) {
      const std::int64_t run = sqlite3_column_int64(rows, 1);
      const bool has_samples = sqlite3_column_type(rows, 5) != SQLITE_NULL;
      const std::string kind = text(rows, 2), key = text(rows, 3), samples = text(rows, 5),
                        body = named(text(rows, 4), text(rows, 6));
      const std::string bytes = journal::encode({run, kind, key, body, samples, has_samples});
      chains_[run] = sha256_of(chains_[run] + bytes);
      char* edit = sqlite3_mprintf(
          "UPDATE entry SET body = %Q, checksum = %lld, chain = %Q WHERE "
          "id = %s",
          body.c_str(), static_cast<std::int64_t>(xxh3_of(bytes)), chains_[run].c_str(),
          text(rows, 0).c_str());
      edits.emplace_back(edit);
      sqlite3_free(edit);
    }
    for (const auto& [run, chain] : chains_) {
      edits.push_back("UPDATE run SET chain = '" + chain + "' WHERE id = " + std::to_string(run));
    }
    for (const std::string& edit : edits) exec(edit);
  }

 private:
  void start_runs() {
    const bool has_checksum = has("pragma_table_info('run') WHERE name = 'checksum'");
    std::vector<std::string> edits;
    for (auto* runs = prepare("SELECT id, command, plan_hash, plan_text, fingerprint, "
                              "tool_version, tool_build, started_utc FROM run");
         step(runs);) {
      journal::Encoder encoder;
      for (int i = 1; i <= 7; ++i) encoder.text(text(runs, i));
      chains_[sqlite3_column_int64(runs, 0)] = sha256_of(encoder.bytes());
      edits.push_back("UPDATE run SET checksum = " +
                      std::to_string(static_cast<std::int64_t>(xxh3_of(encoder.bytes()))) +
                      " WHERE id = " + text(runs, 0));
    }
    for (const std::string& edit : edits) {
      if (has_checksum) exec(edit);
    }
  }

  // Whoever changes samples also changes what the row says of them.
  static std::string named(const std::string& body, const std::string& block) {
    if (block.size() < sizeof(double) || body.find("\"sample_block\"") == std::string::npos) {
      return body;
    }
    double samples = 0;
    std::memcpy(&samples, block.data(), sizeof samples);
    Json out = Json::parse(body);
    out["sample_block"] = {{"samples", static_cast<std::int64_t>(samples)},
                           {"sha256", sha256_of(block)}};
    return dump_json(out);
  }

  bool has(const std::string& what) {
    auto* query = prepare(("SELECT count(*) FROM " + what).c_str());
    sqlite3_step(query);
    const bool out = sqlite3_column_int64(query, 0) > 0;
    sqlite3_finalize(query);
    return out;
  }
  void exec(const std::string& sql) {
    EXPECT_EQ(sqlite3_exec(db_, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK) << sql;
  }
  sqlite3_stmt* prepare(const char* sql) {
    sqlite3_stmt* out = nullptr;
    EXPECT_EQ(sqlite3_prepare_v2(db_, sql, -1, &out, nullptr), SQLITE_OK) << sql;
    return out;
  }
  // Ends the statement behind its last row.
  static bool step(sqlite3_stmt* statement) {
    if (sqlite3_step(statement) == SQLITE_ROW) return true;
    sqlite3_finalize(statement);
    return false;
  }
  static std::string text(sqlite3_stmt* statement, int column) {
    const void* data = sqlite3_column_blob(statement, column);
    const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement, column));
    return data == nullptr ? std::string() : std::string(static_cast<const char*>(data), size);
  }

  sqlite3* db_ = nullptr;
  std::map<std::int64_t, std::string> chains_;
};

inline void rehash(const std::string& path) { Rehash(path).run(); }

// A database as an earlier version made it: samples stand in their rows, runs have no checksums,
// and version 1 has a list of kinds that knows no winners.
inline void turn_into_version(const std::string& path, int version) {
  const std::string run_columns =
      "id, command, plan_hash, plan_text, fingerprint, tool_version, tool_build, started_utc, "
      "chain";
  const std::string sql =
      "BEGIN; UPDATE entry SET body = json_remove(body, '$.sample_block'), samples = "
      "ifnull((SELECT bytes FROM sample_block WHERE sample_block.entry = entry.id), zeroblob(16)) "
      "WHERE kind = 'measurement'; DROP TABLE sample_block; ALTER TABLE entry RENAME TO e; ALTER "
      "TABLE run RENAME TO r; DROP INDEX entry_by_key; DROP INDEX entry_by_run;" +
      journal::tables_of(version) + "INSERT INTO run(" + run_columns + ") SELECT " + run_columns +
      " FROM r; INSERT INTO entry SELECT * FROM e; DROP TABLE e; DROP TABLE r; PRAGMA "
      "user_version = " +
      std::to_string(version) + "; COMMIT;";
  sqlite3* db = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &db), SQLITE_OK);
  EXPECT_EQ(sqlite3_exec(db, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK)
      << sqlite3_errmsg(db);
  sqlite3_close(db);
  rehash(path);
}

}  // namespace halmark::test
