// Studies in a SQLite file: rollback journal, FULL, one short immediate transaction per change.
#include <sqlite3.h>

#include <filesystem>

#include "core/text/error.hpp"
#include "sql/sqlite_statements.hpp"
#include "study/storage/backends.hpp"
#include "study/storage/sql_studies.hpp"
#include "study/storage/sqlite_file.hpp"

namespace halmark::journal {
namespace {

class StudyFile : public sql::Session {
 public:
  StudyFile(std::string path, StudyAccess access)
      : path_(std::move(path)), db_(open_study_file(path_, access, turn_)) {
    schema_cookie_ = schema_cookie();
  }

  ~StudyFile() override {
    try {
      require_in_place("");  // a journal of this name may be another database's
      remove_empty_journal(db_);
    } catch (...) {
      // Nothing is lost: only an empty file may stay.
    }
  }

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

  // Every transaction sees one state of the file.
  void read(const std::function<void()>& body) override {
    if (in_transaction_) return body();
    transaction("BEGIN", body);
  }
  void read_one_state(const std::function<void()>& body) override { read(body); }

  void write(const std::function<void()>& body) override {
    // Before too: the rollback journal has its name from the path, where another database may be.
    require_in_place("the last change is not stored; all before it");
    transaction("BEGIN IMMEDIATE", [&] {
      require_same_schema();
      body();
    });
    require_in_place("no trial is lost: all");
  }

 private:
  void transaction(const char* begin, const std::function<void()>& body) {
    try {
      db_.exec(begin);
      in_transaction_ = true;
      body();
      db_.exec("COMMIT");
      in_transaction_ = false;
    } catch (const SQLite::Exception& e) {
      roll_back();
      throw error_of(e);
    } catch (...) {
      roll_back();
      throw;
    }
  }

  void roll_back() {
    in_transaction_ = false;
    if (sqlite3_get_autocommit(db_.getHandle()) == 0) {
      sqlite3_exec(db_.getHandle(), "ROLLBACK", nullptr, nullptr, nullptr);
    }
  }

  int schema_cookie() { return db_.execAndGet("PRAGMA schema_version").getInt(); }

  // Within the transaction: whoever added a table or a trigger has done so before this look.
  void require_same_schema() {
    const int now = schema_cookie();
    if (now == schema_cookie_) return;
    require_no_code(db_, path_);
    schema_cookie_ = now;
  }

  // SQLite looks for itself only when it opens its rollback journal, which stays open.
  void require_in_place(const char* what_is_kept) {
    int has_moved = 0;
    sqlite3_file_control(db_.getHandle(), "main", SQLITE_FCNTL_HAS_MOVED, &has_moved);
    if (has_moved == 0) return;
    const std::string what = "this file was deleted, moved or replaced while it was written";
    std::string kept = path_ + ".rescued";
    for (int i = 2; std::filesystem::exists(kept); ++i) {
      kept = path_ + ".rescued-" + std::to_string(i);
    }
    try {
      SQLite::Statement copy(db_, "VACUUM INTO ?");
      copy.bind(1, kept);
      copy.exec();
    } catch (const SQLite::Exception& e) {
      throw Error(
          ExitCode::error, what, path_,
          std::string("its trials are lost, because they could not be copied: ") + e.what());
    }
    throw Error(ExitCode::error, what, path_, std::string(what_is_kept) + " is in " + kept);
  }

  Error error_of(const SQLite::Exception& e) {
    if (is_study_damage(e)) return damaged_study(&db_, e, path_);
    if (e.getExtendedErrorCode() == SQLITE_READONLY_DBMOVED) {
      return {ExitCode::error, "this file was deleted, moved or replaced while it was open", path_,
              "the last change is not stored; name the file again"};
    }
    switch (e.getErrorCode()) {
      case SQLITE_BUSY:
        return {ExitCode::error, "another process holds this file for more than a minute", path_,
                "end it, or keep the studies in PostgreSQL"};
      case SQLITE_READONLY:
        return refused("this file must not be written", path_);
      default:
        return {ExitCode::error, std::string("the study could not be stored: ") + e.what(), path_,
                "free space there and start again: what was stored before is complete"};
    }
  }

  std::string path_;
  StudyTurn turn_;
  SQLite::Database db_;
  sql::SqliteStatements statements_{db_};
  bool in_transaction_ = false;
  int schema_cookie_ = 0;
};

}  // namespace

std::unique_ptr<StudyStore> open_sqlite_studies(const std::string& location,
                                                const std::string& path, StudyAccess access) {
  return studies_in(std::make_unique<StudyFile>(path, access), location);
}

}  // namespace halmark::journal
