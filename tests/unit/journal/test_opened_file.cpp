// What a connection to a database file is set to, what may lie beside the file, and what is kept of
// it before its schema changes.
#include <gmock/gmock.h>
#include <sqlite3.h>
#include <sys/stat.h>

#include <filesystem>
#include <map>

#include "journal/file/new_file.hpp"
#include "journal/file/open_file.hpp"
#include "journal_fixture.hpp"
#include "rehash.hpp"
#include "tests/unit/error_of.hpp"

namespace halmark::journal {
namespace {

using namespace test;
using testing::HasSubstr;
namespace fs = std::filesystem;

class OpenedFile : public testing::Test {
 protected:
  using Settings = std::map<std::string, std::string>;

  OpenedFile() { make_database(path_, 2); }
  static Settings settings_of(SQLite::Database& db, const Settings& asked) {
    Settings out;
    for (const auto& [name, ignored] : asked) {
      out[name] = db.execAndGet("PRAGMA " + name).getString();
    }
    return out;
  }
  static bool has(SQLite::Database& db, int option) {
    int out = -1;
    sqlite3_db_config(db.getHandle(), option, -1, &out);
    return out == 1;
  }

  ScratchFolder folder_;
  const std::string path_ = folder_ / "a.db";
};

// 256 pages of 16 KiB are 4 MiB of log; synchronous 2 = FULL.
TEST_F(OpenedFile, of_a_writer_is_durable_and_runs_no_code_of_the_file) {
  const Settings expected{{"page_size", "16384"},   {"journal_mode", "wal"},
                          {"foreign_keys", "1"},    {"trusted_schema", "0"},
                          {"synchronous", "2"},     {"busy_timeout", "5000"},
                          {"cell_size_check", "1"}, {"user_version", "3"},
                          {"mmap_size", "0"},       {"wal_autocheckpoint", "256"}};
  SQLite::Database db = open_file(path_, Access::read_write);
  EXPECT_EQ(settings_of(db, expected), expected);
  EXPECT_TRUE(has(db, SQLITE_DBCONFIG_DEFENSIVE));
  EXPECT_FALSE(has(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE));
  EXPECT_EQ(sqlite3_limit(db.getHandle(), SQLITE_LIMIT_LENGTH, -1), 256 * 1024 * 1024);
}

TEST_F(OpenedFile, of_a_reader_copies_no_log_back) {
  const Settings expected{{"wal_autocheckpoint", "0"}, {"cell_size_check", "1"},
                          {"trusted_schema", "0"},     {"busy_timeout", "5000"},
                          {"writable_schema", "0"},    {"foreign_keys", "1"}};
  SQLite::Database db = open_file(path_, Access::read_only);
  EXPECT_EQ(settings_of(db, expected), expected);
  EXPECT_TRUE(has(db, SQLITE_DBCONFIG_DEFENSIVE));
  EXPECT_TRUE(has(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE));
}

TEST_F(OpenedFile, of_a_salvage_looks_past_what_does_not_hold) {
  const Settings expected{
      {"wal_autocheckpoint", "0"}, {"cell_size_check", "0"}, {"writable_schema", "1"}};
  SQLite::Database db = open_file(path_, Access::salvage);
  EXPECT_EQ(settings_of(db, expected), expected);
  EXPECT_FALSE(has(db, SQLITE_DBCONFIG_DEFENSIVE));
}

// 60 rows of 400 samples are 19 KiB of samples each, on pages of 16 KiB: some 6 MiB of log, had it
// not begun anew at 4.
TEST_F(OpenedFile, has_a_log_of_four_mebibytes) {
  const auto store = open_store(path_);
  for (std::uint64_t i = 1; i <= 60; ++i) store->append(1, numbered_measurement(i, 400));
  const auto bytes = fs::file_size(path_ + "-wal");
  EXPECT_GE(bytes, 4u << 20);
  EXPECT_LT(bytes, (4u << 20) + (1u << 19));
}

TEST_F(OpenedFile, has_nothing_beside_it_that_sqlite_would_wait_for_or_roll_back) {
  for (const char* rest : {"-wal", "-shm", "-journal"}) {
    fs::create_directory(path_ + rest);
    const Error error = error_of([&] { judge_file(path_); });
    EXPECT_EQ(error.exit_code(), ExitCode::refused);
    EXPECT_EQ(error.where(), path_ + rest);
    EXPECT_THAT(error.line(), HasSubstr("belongs to a database, and is no regular file"));
    EXPECT_EQ(error.remedy(), "move it away");
    fs::remove(path_ + rest);
  }
  write_file(path_ + "-journal", "");
  EXPECT_NO_THROW(judge_file(path_)) << "an empty one rolls nothing back";
  write_file(path_ + "-journal", "x");
  const Error error = error_of([&] { judge_file(path_); });
  EXPECT_EQ(error.exit_code(), ExitCode::refused);
  EXPECT_EQ(error.where(), path_ + "-journal");
  EXPECT_THAT(error.line(), HasSubstr("a rollback journal lies beside the database"));
}

TEST_F(OpenedFile, is_as_long_as_its_head_says) {
  const auto bytes = fs::file_size(path_);
  fs::resize_file(path_, bytes - 1);
  for (const char* beside : {"none", "empty"}) {
    if (beside == std::string("empty")) write_file(path_ + "-wal", "");
    const Error error = error_of([&] { judge_file(path_, Access::read_only); });
    EXPECT_EQ(error.exit_code(), ExitCode::refused);
    EXPECT_THAT(error.line(), HasSubstr("this database is truncated: " + std::to_string(bytes - 1) +
                                        " of " + std::to_string(bytes) + " bytes"));
    EXPECT_THAT(error.remedy(), HasSubstr("halmark salvage " + path_));
  }
  EXPECT_NO_THROW(judge_file(path_, Access::salvage)) << "what is there can be saved";
}

TEST_F(OpenedFile, says_which_schema_it_has_and_which_are_known) {
  raw_sql(path_, "PRAGMA user_version = 4");
  Error error = error_of([&] { judge_file(path_); });
  EXPECT_THAT(error.line(), HasSubstr("has schema 4; this halmark knows up to 3"));
  EXPECT_EQ(error.remedy(), "use a newer halmark");
  raw_sql(path_, "PRAGMA user_version = 0");
  error = error_of([&] { judge_file(path_); });
  EXPECT_THAT(error.line(), HasSubstr("has schema 0, which no halmark has written"));
  EXPECT_EQ(error.remedy(), "restore a backup");
}

TEST_F(OpenedFile, that_is_absent_is_made_by_writers_alone) {
  const Error error = error_of([&] { open_file(folder_ / "none.db", Access::salvage); });
  EXPECT_THAT(error.line(), HasSubstr("there is no results database"));
  EXPECT_EQ(error.remedy(), "run halmark tune or name one with --db");
  EXPECT_EQ(folder_.names(), std::set<std::string>{"a.db"});
}

// As it was, with every row; one that has the name is kept too.
TEST_F(OpenedFile, of_an_earlier_version_is_kept_before_it_is_brought_forward) {
  for (const char* name :
       {"backups/a.db.schema-1", "backups/a.db.schema-1-2", "backups/a.db.schema-1-3"}) {
    fs::remove(path_);
    make_database(path_, 2);
    turn_into_version(path_, 1);
    const std::string head = open_store_read_only(path_)->chain_head(1);
    EXPECT_FALSE(fs::exists(folder_ / name));
    open_file(path_, Access::read_write);
    SQLite::Database kept = open_file(folder_ / name, Access::read_only);
    EXPECT_EQ(schema_version_of(kept), 1);
    EXPECT_EQ(open_store_read_only(folder_ / name)->chain_head(1), head);
    EXPECT_EQ(open_store_read_only(folder_ / name)->run_measurements(1).size(), 2u);
  }
}

TEST_F(OpenedFile, of_an_earlier_version_that_cannot_be_kept_stays_what_it_is) {
  turn_into_version(path_, 2);
  const std::string before = file_bytes(path_);
  write_file(folder_ / "backups", "a file");
  const Error error = error_of([&] { open_file(path_, Access::read_write); });
  EXPECT_EQ(error.exit_code(), ExitCode::error);
  EXPECT_EQ(error.where(), folder_ / "backups");
  EXPECT_THAT(error.line(), HasSubstr("is copied there before its schema changes"));
  EXPECT_EQ(error.remedy(), "make room for it, or move the database");
  EXPECT_EQ(file_bytes(path_), before);
}

TEST_F(OpenedFile, that_is_complete_never_takes_a_name_that_is_in_use) {
  write_file(folder_ / "new", "complete");
  write_file(folder_ / "mine", "precious");
  Error error = error_of([&] { publish(folder_ / "new", folder_ / "mine"); });
  EXPECT_EQ(error.exit_code(), ExitCode::refused);
  EXPECT_EQ(error.where(), folder_ / "mine");
  EXPECT_THAT(error.line(), HasSubstr("this file exists, and is not overwritten"));
  EXPECT_EQ(file_bytes(folder_ / "mine"), "precious");
  error = error_of([&] { publish(folder_ / "absent", folder_ / "b"); });
  EXPECT_EQ(error.exit_code(), ExitCode::error);
  EXPECT_EQ(error.where(), folder_ / "b");
  EXPECT_THAT(error.line(), HasSubstr("the file cannot be made: No such file"));
  publish(folder_ / "new", folder_ / "b");
  EXPECT_EQ(file_bytes(folder_ / "b"), "complete");
  EXPECT_FALSE(fs::exists(folder_ / "new"));
}

// The rest of a copy that was killed is no obstacle, and nothing but the copy is left.
TEST_F(OpenedFile, is_copied_whole_under_a_name_that_nobody_has) {
  for (const char* rest : {"", "-journal", "-wal", "-shm"}) {
    write_file(folder_ / "b.db.new" + rest, "half a database");
  }
  SQLite::Database db = open_file(path_, Access::read_only);
  copy_database(db, folder_ / "b.db");
  EXPECT_EQ(open_store_read_only(folder_ / "b.db")->run_measurements(1).size(), 2u);
  for (const std::string& name : folder_.names())
    EXPECT_THAT(name, testing::Not(HasSubstr(".new")));
  EXPECT_EQ(error_of([&] { copy_database(db, folder_ / "b.db"); }).exit_code(), ExitCode::refused);
}

}  // namespace
}  // namespace halmark::journal
