// What is said of a database that does not hold: which fault is damage and which the machine's, in
// which words, and how many of them.
#include <SQLiteCpp/Exception.h>
#include <gmock/gmock.h>
#include <sqlite3.h>

#include "journal/check.hpp"
#include "journal/file/damage.hpp"
#include "journal/file/own_schema.hpp"
#include "journal_fixture.hpp"
#include "rehash.hpp"
#include "tests/unit/error_of.hpp"

namespace halmark::journal {
namespace {

using namespace test;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(StorageError, of_the_file_itself_is_damage_and_of_the_machine_is_not) {
  for (const int code :
       {SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_FORMAT, SQLITE_TOOBIG, SQLITE_ERROR}) {
    EXPECT_TRUE(is_damage(SQLite::Exception("x", code))) << code;
  }
  for (const int code : {SQLITE_FULL, SQLITE_IOERR, SQLITE_BUSY, SQLITE_NOMEM, SQLITE_CANTOPEN,
                         SQLITE_READONLY, SQLITE_CONSTRAINT}) {
    EXPECT_FALSE(is_damage(SQLite::Exception("x", code))) << code;
  }
}

TEST(StorageError, of_the_machine_says_what_was_done_and_what_to_do) {
  const Error error = storage_error(nullptr, SQLite::Exception("disk full", SQLITE_FULL),
                                    "a row could not be stored", "a.db", "free space there");
  EXPECT_EQ(error.exit_code(), ExitCode::error);
  EXPECT_EQ(error.where(), "a.db");
  EXPECT_THAT(error.line(), HasSubstr("a row could not be stored: disk full"));
  EXPECT_EQ(error.remedy(), "free space there");
}

TEST(StorageError, of_damage_names_the_first_place_where_sqlite_finds_some) {
  const ScratchFolder folder;
  const std::string path = folder / "a.db";
  make_database(path, 3);
  const SQLite::Exception malformed("malformed", SQLITE_CORRUPT);
  {
    SQLite::Database sound(path);
    EXPECT_EQ(first_fault(sound), "");
    EXPECT_THAT(storage_error(&sound, malformed, "x", path).line(),
                testing::Not(HasSubstr("malformed (")));
  }
  std::string bytes = file_bytes(path);
  for (std::size_t at = 16384; at < bytes.size(); at += 16384) bytes[at] = '\xff';  // of each page
  write_file(path, bytes);
  SQLite::Database rotten(path);
  EXPECT_THAT(first_fault(rotten), HasSubstr("btreeInitPage"));
  const Error error = storage_error(&rotten, malformed, "x", path);
  EXPECT_EQ(error.exit_code(), ExitCode::refused);
  EXPECT_THAT(error.line(), HasSubstr("this database is damaged: malformed (*** in database"));
  EXPECT_EQ(error.remedy(),
            "'halmark salvage " + path + " NEW.db' copies every sound row into a new file");
  EXPECT_THAT(storage_error(nullptr, malformed, "x", path).line(),
              testing::Not(HasSubstr("malformed (")));
}

class Foreign : public testing::Test {
 protected:
  Foreign() { make_database(path_, 1); }
  std::vector<std::string> parts() const {
    SQLite::Database db(path_);
    return foreign_parts(db);
  }
  std::string refusal() const {
    SQLite::Database db(path_);
    return error_of([&] { require_own_schema(db, path_); }).line();
  }
  ScratchFolder folder_;
  std::string path_ = folder_ / "a.db";
};

TEST_F(Foreign, parts_that_run_are_named_before_those_that_lie_there) {
  raw_sql(path_,
          "CREATE TABLE a(x); CREATE INDEX b ON entry(body); CREATE VIEW v AS SELECT 1; CREATE "
          "TRIGGER w AFTER INSERT ON entry BEGIN SELECT 1; END; DROP INDEX entry_by_run");
  EXPECT_THAT(parts(), ElementsAre("a view 'v'", "a trigger 'w'", "a table 'a'", "an index 'b'",
                                   "no index 'entry_by_run'"));
  EXPECT_THAT(refusal(), HasSubstr("has a view 'v' and 4 more; nothing is written into it"));
}

TEST_F(Foreign, parts_are_counted_where_there_are_several) {
  raw_sql(path_, "CREATE TABLE a(x)");
  EXPECT_THAT(refusal(), HasSubstr("has a table 'a'; nothing"));
  raw_sql(path_, "CREATE TABLE b(x)");
  EXPECT_THAT(refusal(), HasSubstr("has a table 'a' and 1 more; nothing"));
}

TEST_F(Foreign, parts_with_long_names_are_cut_at_sixty_characters) {
  const std::string sixty(60, 'n');
  raw_sql(path_, "CREATE TABLE " + sixty + "(x)");
  EXPECT_THAT(parts(), ElementsAre("a table '" + sixty + "'"));
  raw_sql(path_, "DROP TABLE " + sixty + "; CREATE TABLE " + sixty + "m(x)");
  EXPECT_THAT(parts(), ElementsAre("a table '" + sixty + "...'"));
}

TEST_F(Foreign, parts_that_differ_are_none_of_ours) {
  raw_sql(path_, "DROP INDEX entry_by_key; CREATE INDEX entry_by_key ON entry(key)");
  EXPECT_THAT(parts(), ElementsAre("another index 'entry_by_key' than halmark makes"));
}

TEST_F(Foreign, tables_are_those_that_a_reader_needs) {
  const auto fault = [&](bool with_blocks) {
    SQLite::Database db(path_);
    try {
      require_tables(db, path_, with_blocks);
    } catch (const Error& error) {
      EXPECT_EQ(error.exit_code(), ExitCode::refused);
      EXPECT_EQ(error.remedy(), "restore a backup");
      return error.line();
    }
    return std::string();
  };
  EXPECT_EQ(fault(true), "");
  EXPECT_EQ(fault(false), "");
  raw_sql(path_, "DROP TABLE sample_block");
  EXPECT_THAT(fault(true), HasSubstr("has no tables run, entry and sample_block"));
  EXPECT_EQ(fault(false), "") << "a salvage takes what there is";
  raw_sql(path_, "ALTER TABLE entry RENAME TO e");
  EXPECT_THAT(fault(false), HasSubstr("has no tables run and entry"));
}

TEST_F(Foreign, tables_of_an_earlier_version_are_two) {
  turn_into_version(path_, 2);
  SQLite::Database db(path_);
  EXPECT_NO_THROW(require_tables(db, path_, true));
}

// What a reader says after it has read run 1.
std::vector<std::string> said_of(const std::string& path) {
  const auto store = open_store_read_only(path);
  store->run_measurements(1);
  return store->damaged();
}

class NamedFaults : public testing::Test {
 protected:
  NamedFaults() { make_database(path_, 3); }
  ScratchFolder folder_;
  std::string path_ = folder_ / "a.db";
};

TEST_F(NamedFaults, say_which_row_and_which_run) {
  raw_sql(path_, "UPDATE entry SET chain = 'x' WHERE id = 2");
  const std::string behind =
      ": a row of run 1 was changed, removed, inserted or moved at or before this one";
  EXPECT_THAT(said_of(path_), ElementsAre("entry 2" + behind, "entry 3" + behind));
  raw_sql(path_, "UPDATE run SET chain = 'x'");
  EXPECT_THAT(said_of(path_),
              ElementsAre("entry 2" + behind, "entry 3" + behind,
                          "run 1: its own columns were changed, or its last rows are missing"));
}

// Whoever follows the chain and whoever reads the rows meet the same one.
TEST_F(NamedFaults, are_said_once) {
  raw_sql(path_, "UPDATE entry SET checksum = 1 WHERE id = 2");
  EXPECT_THAT(said_of(path_), ElementsAre("entry 2: checksum does not match"));
  const auto store = open_store_read_only(path_);
  store->run_measurements(1);
  store->run_measurements(1);
  EXPECT_THAT(store->damaged(), ElementsAre("entry 2: checksum does not match"));
}

TEST_F(NamedFaults, of_the_table_of_runs_are_found_by_who_looks_for_one) {
  raw_sql(path_, "UPDATE run SET command = 'x'");
  auto store = open_store_read_only(path_);
  store->latest_run();
  EXPECT_THAT(store->damaged(),
              ElementsAre("run 1: its own columns were changed",
                          "run 1: its own columns or its first row were changed"));
  raw_sql(path_, "PRAGMA foreign_keys = OFF; UPDATE entry SET run = 9 WHERE id = 3");
  store = open_store_read_only(path_);
  store->latest_runs(5);
  EXPECT_THAT(store->damaged(), ElementsAre("run 1: its own columns were changed",
                                            "run 9: has rows, and is not in the table of runs"));
}

TEST_F(NamedFaults, of_many_rows_are_two_hundred_at_most) {
  const std::string path = folder_ / "b.db";
  {
    const auto store = open_store(path);
    const std::int64_t run = store->begin_run(run_info());
    store->append(run, std::vector<Measurement>(250, numbered_measurement(1, 0)));
  }
  raw_sql(path, "UPDATE entry SET checksum = 1");
  EXPECT_EQ(said_of(path).size(), 200u);
  const auto store = open_store_read_only(path);
  store->run_measurements(1);
  EXPECT_THAT(error_of([&] { store->require_sound(); }).line(),
              HasSubstr("entry 1: checksum does not match; and 199 more"));
}

TEST_F(NamedFaults, of_one_row_are_counted_no_further) {
  raw_sql(path_, "UPDATE entry SET checksum = 1 WHERE id = 2");
  const auto store = open_store_read_only(path_);
  store->run_measurements(1);
  EXPECT_THAT(error_of([&] { store->require_sound(); }).line(), testing::Not(HasSubstr("more")));
}

TEST_F(NamedFaults, a_run_that_is_not_there_is_refused_by_its_number) {
  const auto store = open_store_read_only(path_);
  const Error error = error_of([&] { store->run_info(99); });
  EXPECT_THAT(error.line(), HasSubstr("there is no run 99"));
  EXPECT_EQ(error.where(), path_);
  EXPECT_EQ(store->chain_head(99), "");
  EXPECT_TRUE(store->run_measurements(99).empty());
  EXPECT_TRUE(store->damaged().empty());
}

// The orphan of each table names what it lacks.
TEST_F(NamedFaults, rows_and_samples_without_their_parent_are_told_apart) {
  raw_sql(path_,
          "PRAGMA foreign_keys = OFF; UPDATE entry SET run = 9 WHERE id = 3; INSERT INTO "
          "sample_block VALUES (7, x'00')");
  std::vector<std::string> orphans;
  for (const auto& o : open_snapshot(path_)->read().orphans) {
    orphans.push_back(o.table + ' ' + std::to_string(o.row) + ' ' + o.column + ' ' + o.parent);
  }
  EXPECT_THAT(orphans,
              testing::UnorderedElementsAre("entry 3 run run", "sample_block 7 entry entry"));
}

}  // namespace
}  // namespace halmark::journal
