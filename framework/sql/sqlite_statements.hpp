// Statements of a SQLite connection, prepared once: preparing costs more than a row.
#pragma once

#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Statement.h>

#include <map>
#include <string>

#include "sql/session.hpp"

namespace halmark::sql {

// As Session's `each` and `insert`. Throws SQLite::Exception.
class SqliteStatements {
 public:
  // Refers to `db`.
  explicit SqliteStatements(SQLite::Database& db) : db_(db) {}
  void each(std::string_view sql, std::span<const Value> values, const Visit& visit);
  // An insert that changed no row was undone by something in the file.
  std::vector<std::int64_t> insert(std::string_view sql, std::span<const Value> values);

 private:
  class Use;
  SQLite::Database& db_;
  std::map<std::string, SQLite::Statement, std::less<>> unused_;
};

}  // namespace halmark::sql
