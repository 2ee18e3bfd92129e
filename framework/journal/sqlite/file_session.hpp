// A connection to the file of a results database, as the journal asks it.
#pragma once

#include <SQLiteCpp/Database.h>

#include <string>

#include "sql/sqlite_statements.hpp"

namespace halmark::journal {

// Damage that SQLite meets is named and refused, whatever was asked.
class FileSession : public sql::Session {
 public:
  // Refers to `db`.
  FileSession(SQLite::Database& db, std::string path) : db_(db), path_(std::move(path)) {}

  sql::Dialect dialect() const override { return sql::Dialect::sqlite; }
  const std::string& location() const override { return path_; }
  void each(std::string_view sql, std::span<const sql::Value> values,
            const sql::Visit& visit) override {
    statements_.each(sql, values, visit);
  }
  std::vector<std::int64_t> insert(std::string_view sql,
                                   std::span<const sql::Value> values) override {
    return statements_.insert(sql, values);
  }
  void read(const std::function<void()>& body) override;
  void read_one_state(const std::function<void()>& body) override;
  void write(const std::function<void()>& body) override;

 private:
  SQLite::Database& db_;
  std::string path_;
  sql::SqliteStatements statements_{db_};
  bool is_writing_ = false;
};

inline constexpr const char* go_on = "start again: what was stored before is complete";

}  // namespace halmark::journal
