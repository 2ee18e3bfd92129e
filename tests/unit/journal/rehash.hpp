// Makes every checksum and chain of a database right again after an edit: what somebody does who
// knows the format and wants to be believed.
#pragma once

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/text/digest.hpp"
#include "journal/schema.hpp"

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
    for (auto* runs = prepare("SELECT id, command, plan_hash, plan_text, fingerprint, "
                              "tool_version, tool_build, started_utc FROM run");
         step(runs);) {
      journal::Encoder encoder;
      for (int i = 1; i <= 7; ++i) encoder.text(text(runs, i));
      chains_[sqlite3_column_int64(runs, 0)] = sha256_of(encoder.bytes());
    }
    std::vector<std::string> edits;
    for (auto* rows = prepare("SELECT id, run, kind, key, body, samples FROM entry ORDER BY id");
         step(rows);) {
      const std::int64_t run = sqlite3_column_int64(rows, 1);
      const bool has_samples = sqlite3_column_type(rows, 5) != SQLITE_NULL;
      const std::string kind = text(rows, 2), key = text(rows, 3), body = text(rows, 4),
                        samples = text(rows, 5);
      const std::string bytes = journal::encode({run, kind, key, body, samples, has_samples});
      chains_[run] = sha256_of(chains_[run] + bytes);
      edits.push_back("UPDATE entry SET checksum = " +
                      std::to_string(static_cast<std::int64_t>(xxh3_of(bytes))) + ", chain = '" +
                      chains_[run] + "' WHERE id = " + text(rows, 0));
    }
    for (const auto& [run, chain] : chains_) {
      edits.push_back("UPDATE run SET chain = '" + chain + "' WHERE id = " + std::to_string(run));
    }
    for (const std::string& edit : edits) {
      EXPECT_EQ(sqlite3_exec(db_, edit.c_str(), nullptr, nullptr, nullptr), SQLITE_OK) << edit;
    }
  }

 private:
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

}  // namespace halmark::test
