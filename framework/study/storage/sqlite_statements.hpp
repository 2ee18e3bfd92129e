// Statements that live as long as their connection: preparing costs more than a row.
#pragma once

#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Exception.h>
#include <SQLiteCpp/Statement.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "study/storage/backends.hpp"

namespace halmark::journal {

struct TextOrNull {
  const std::string& text;  // "" is NULL
};

class SqliteStatements {
 public:
  explicit SqliteStatements(SQLite::Database& db) : db_(db) {}

  // A statement in use. A query that was not read to its end would keep its lock on the file, so it
  // is reset when its user leaves.
  class Use {
   public:
    explicit Use(SQLite::Statement& statement) : statement_(&statement) {}
    ~Use() {
      if (statement_ != nullptr) statement_->tryReset();
    }
    Use(Use&& other) noexcept : statement_(std::exchange(other.statement_, nullptr)) {}
    Use& operator=(Use&&) = delete;
    SQLite::Statement* operator->() const { return statement_; }
    SQLite::Statement& operator*() const { return *statement_; }
    bool step() const { return statement_->executeStep(); }
    const char* text(int column) const { return statement_->getColumn(column).getText(); }
    std::int64_t integer(int column) const { return statement_->getColumn(column).getInt64(); }

   private:
    SQLite::Statement* statement_;
  };

  // `sql` is a literal; `values` outlive the use.
  template <class... Values>
  Use query(const char* sql, const Values&... values) {
    SQLite::Statement& statement = prepared(sql);
    int i = 0;
    (bind(statement, ++i, values), ...);
    return Use(statement);
  }

  // An insert that changed no row was undone by something in the file.
  template <class... Values>
  void run(const char* sql, const Values&... values) {
    const int changes = query(sql, values...)->exec();
    if (changes != 1 && std::string_view(sql).starts_with("INSERT")) {
      throw SQLite::Exception("a row was inserted and is not there");
    }
  }

 private:
  SQLite::Statement& prepared(const char* sql) {
    auto it = statements_.find(sql);
    if (it == statements_.end()) {
      it = statements_.emplace(sql, std::make_unique<SQLite::Statement>(db_, sql)).first;
    }
    it->second->clearBindings();
    return *it->second;
  }

  static void bind(SQLite::Statement& s, int i, const std::string& text) { s.bindNoCopy(i, text); }
  static void bind(SQLite::Statement& s, int i, const char* text) { s.bindNoCopy(i, text); }
  static void bind(SQLite::Statement& s, int i, std::int64_t value) { s.bind(i, value); }
  static void bind(SQLite::Statement& s, int i, int value) { s.bind(i, value); }
  // Only finite numbers are stored as such: the type beside them says what else they are.
  static void bind(SQLite::Statement& s, int i, double value) {
    if (std::string_view(value_type_name(value)) == "FINITE") s.bind(i, value);
  }
  static void bind(SQLite::Statement& s, int i, TextOrNull value) {
    if (!value.text.empty()) s.bindNoCopy(i, value.text);
  }

  SQLite::Database& db_;
  std::map<std::string_view, std::unique_ptr<SQLite::Statement>> statements_;
};

}  // namespace halmark::journal
