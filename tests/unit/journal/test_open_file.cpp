#include "journal/file/open_file.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <functional>

#include "journal/check.hpp"
#include "journal/sqlite/schema.hpp"
#include "journal_fixture.hpp"
#include "rehash.hpp"
#include "tests/unit/case_name.hpp"
#include "tests/unit/error_of.hpp"

namespace halmark {
namespace {

using namespace test;
namespace fs = std::filesystem;

struct Foreign {
  const char* name;
  std::function<void(const std::string& path)> make;
  const char* says;
};

class ForeignFile : public testing::TestWithParam<Foreign> {};

TEST_P(ForeignFile, is_refused_with_exit_code_2_and_stays_byte_for_byte) {
  const ScratchFolder folder;
  const std::string path = folder / "a.db";
  GetParam().make(path);
  fs::remove(path + ".lock");
  const std::string before = file_bytes(path);
  const auto names = folder.names();
  for (const auto& open : {&open_store, &open_store_read_only}) {
    const Error error = error_of([&] { open(path); });
    EXPECT_EQ(error.exit_code(), ExitCode::refused) << error.line();
    EXPECT_EQ(error.where(), path);
    EXPECT_NE(error.line().find(GetParam().says), std::string::npos) << error.line();
    EXPECT_FALSE(error.remedy().empty());
  }
  EXPECT_EQ(file_bytes(path), before);
  EXPECT_EQ(folder.names(), names) << "nothing is written beside it";
}

void with_sql(const std::string& path, const std::string& sql) {
  make_database(path, 3);
  raw_sql(path, sql);
}

INSTANTIATE_TEST_SUITE_P(
    Files, ForeignFile,
    testing::Values(
        Foreign{"text", [](auto& path) { write_file(path, "name = \"quickstart\"\n"); },
                "not a results database"},
        Foreign{"jpeg",
                [](auto& path) {
                  write_file(path,
                             "\xff\xd8\xff\xe0" + std::string("JFIF") + std::string(5000, 'x'));
                },
                "not a results database"},
        Foreign{"first_3000_bytes",
                [](auto& path) {
                  make_database(path, 3);
                  fs::resize_file(path, 3000);
                },
                "truncated"},
        Foreign{"last_byte_missing",
                [](auto& path) {
                  make_database(path, 3);
                  fs::resize_file(path, fs::file_size(path) - 1);
                },
                "truncated"},
        Foreign{"newer_schema", [](auto& path) { with_sql(path, "PRAGMA user_version = 4"); },
                "schema 4"},
        Foreign{"schema_that_no_version_had",
                [](auto& path) { with_sql(path, "PRAGMA user_version = 0"); }, "schema 0"},
        Foreign{"another_program", [](auto& path) { with_sql(path, "PRAGMA application_id = 7"); },
                "another program"},
        Foreign{"plain_sqlite", [](auto& path) { raw_sql(path, "CREATE TABLE t(x)"); },
                "another program"}),
    [](const auto& info) { return std::string(info.param.name); });

class Inside {
 public:
  explicit Inside(const fs::path& folder) { fs::current_path(folder); }
  ~Inside() { fs::current_path(before_); }

 private:
  const fs::path before_ = fs::current_path();
};

class DatabaseUrl : public testing::TestWithParam<const char*> {};

TEST_P(DatabaseUrl, is_refused_with_exit_code_2_and_makes_no_file) {
  const ScratchFolder folder;
  const Inside inside(folder.path());
  for (const auto& open : {&open_store, &open_store_read_only}) {
    const Error error = error_of([&] { open(GetParam()); });
    EXPECT_EQ(error.exit_code(), ExitCode::refused) << error.line();
    EXPECT_NE(error.line().find("URL"), std::string::npos) << error.line();
  }
  EXPECT_TRUE(folder.names().empty());
}

INSTANTIATE_TEST_SUITE_P(Urls, DatabaseUrl,
                         testing::Values("postgresqll://localhost/halmark", "mysql://a@b/c",
                                         "sqlite:///a.db"),
                         [](const auto& info) { return test::case_name({info.param}); });

TEST(OpenFile, a_url_that_nearly_names_a_server_gets_its_scheme_named) {
  const Error error = error_of([] { open_store("postgresq://u:secret@h/d"); });
  EXPECT_NE(error.line().find("did you mean 'postgresql'"), std::string::npos) << error.line();
  EXPECT_EQ(error.line().find("secret"), std::string::npos) << error.line();
}

TEST(OpenFile, an_absent_database_is_made_with_its_folder_for_writers_only) {
  const ScratchFolder folder;
  const std::string path = folder / "deep/er/a.db";
  EXPECT_EQ(error_of([&] { open_store_read_only(path); }).exit_code(), ExitCode::refused);
  EXPECT_TRUE(folder.names().empty());
  EXPECT_EQ(open_store(path)->latest_run(), std::nullopt);
  EXPECT_NO_THROW(open_store_read_only(path));
}

TEST(OpenFile, an_empty_file_becomes_a_database) {
  const ScratchFolder folder;
  write_file(folder / "a.db", "");
  EXPECT_EQ(make_database(folder / "a.db", 1), 1);
  EXPECT_EQ(open_store_read_only(folder / "a.db")->run_measurements(1).size(), 1u);
}

class EarlierVersion : public testing::TestWithParam<int> {};

TEST_P(EarlierVersion, is_read_as_it_is_and_brought_forward_by_its_first_writer) {
  const ScratchFolder folder;
  const std::string path = folder / "a.db";
  make_database(path, 3);
  turn_into_version(path, GetParam());
  EXPECT_EQ(open_store_read_only(path)->run_measurements(1).size(), 3u);
  EXPECT_TRUE(open_snapshot(path)->read().foreign_parts.empty());
  const std::string before = open_store_read_only(path)->chain_head(1);
  {
    const auto store = open_store(path);
    EXPECT_EQ(store->chain_head(1), before);
    EXPECT_EQ(store->latest_run(), 1);
    store->append(1, winner_of({numbered_measurement(1)}));
    store->append(1, numbered_measurement(4));
    EXPECT_EQ(store->rows<Winner>(1).size(), 1u);
    std::vector<std::size_t> samples;
    for (const Measurement& m : store->run_measurements(1)) samples.push_back(m.samples.size());
    EXPECT_EQ(samples, (std::vector<std::size_t>(4, 3)));
    EXPECT_TRUE(store->damaged().empty());
  }
  const StoredDatabase after = open_snapshot(path)->read();
  EXPECT_TRUE(after.foreign_parts.empty());
  EXPECT_TRUE(after.orphans.empty());
}

// A reader that was there first meets the new tables in its next look.
TEST_P(EarlierVersion, is_brought_forward_beside_a_reader) {
  const ScratchFolder folder;
  const std::string path = folder / "a.db";
  make_database(path, 3);
  turn_into_version(path, GetParam());
  const auto reader = open_store_read_only(path);
  EXPECT_EQ(reader->run_measurements(1).size(), 3u);
  open_store(path)->append(1, numbered_measurement(4));
  EXPECT_EQ(reader->run_measurements(1).size(), 4u);
  EXPECT_NO_THROW(reader->require_sound());
}

TEST_P(EarlierVersion, with_a_trigger_is_not_brought_forward) {
  const ScratchFolder folder;
  const std::string path = folder / "a.db";
  make_database(path, 2);
  turn_into_version(path, GetParam());
  raw_sql(path, "CREATE TRIGGER t AFTER INSERT ON run BEGIN DELETE FROM run; END");
  const std::string before = file_bytes(path);
  EXPECT_EQ(error_of([&] { open_store(path); }).exit_code(), ExitCode::refused);
  EXPECT_EQ(file_bytes(path), before);
}

INSTANTIATE_TEST_SUITE_P(Versions, EarlierVersion, testing::Values(1, 2),
                         [](const auto& info) { return test::case_name({info.param}); });

TEST(OpenFile, a_folder_that_cannot_be_made_is_an_error_that_names_the_path) {
  const ScratchFolder folder;
  write_file(folder / "file", "x");
  const Error error = error_of([&] { open_store(folder / "file/a.db"); });
  EXPECT_EQ(error.exit_code(), ExitCode::error);
  EXPECT_NE(error.line().find(folder / "file/a.db"), std::string::npos) << error.line();
}

TEST(OpenFile, the_rest_of_a_creation_that_was_killed_is_no_obstacle) {
  const ScratchFolder folder;
  write_file(folder / "a.db.new", "half a database");
  write_file(folder / "a.db.new-journal", "half a journal");
  make_database(folder / "a.db", 1);
  EXPECT_EQ(folder.names(), (std::set<std::string>{"a.db"}));
}

// A process that is killed while it copies the -wal back leaves a first page that promises more
// pages than the file has; the -wal still has them.
TEST(OpenFile, a_kill_in_the_middle_of_a_checkpoint_loses_nothing) {
  const ScratchFolder folder;
  const std::string live = folder / "live.db", dead = folder / "dead.db";
  {
    const auto store = open_store(live);
    const std::int64_t run = store->begin_run(run_info());
    for (int i = 1; i <= 20; ++i) store->append(run, numbered_measurement(i, 100));
    fs::copy(live, dead);
    fs::copy(live + "-wal", dead + "-wal");
  }
  const std::string complete = file_bytes(live), early = file_bytes(dead);
  ASSERT_GT(complete.size(), early.size()) << "closing the store copied the -wal back";
  constexpr std::size_t first_page = 16384;
  write_file(dead, complete.substr(0, first_page) + early.substr(first_page));
  {
    const auto reader = open_store_read_only(dead);
    EXPECT_EQ(reader->run_measurements(1).size(), 20u);
  }
  const auto store = open_store(dead);
  EXPECT_EQ(store->run_measurements(1).size(), 20u);
  store->append(1, numbered_measurement(21));
  EXPECT_EQ(store->run_measurements(1).size(), 21u);
  EXPECT_TRUE(store->damaged().empty());
}

TEST(OpenFile, a_truncated_database_beside_a_foreign_wal_is_refused_and_kept) {
  const ScratchFolder folder;
  const std::string path = folder / "a.db";
  make_database(path, 20);
  fs::resize_file(path, 16384 * 3);
  const std::string before = file_bytes(path);
  for (const auto& open : {&open_store, &open_store_read_only}) {
    write_file(path + "-wal", std::string(200, 'x'));
    const Error error = error_of([&] { open(path); });
    EXPECT_EQ(error.exit_code(), ExitCode::refused) << error.line();
    EXPECT_EQ(error.where(), path);
  }
  EXPECT_EQ(file_bytes(path), before);
}

// What is not ours would run, or stand in for a table, in the middle of our transactions.
struct ForeignPart {
  const char* name;
  const char* sql;
  const char* says;
};

class ForeignPartOf : public testing::TestWithParam<ForeignPart> {};

TEST_P(ForeignPartOf, a_database_is_refused_by_writers_with_the_command_that_repairs) {
  const ScratchFolder folder;
  const std::string path = folder / "a.db";
  make_database(path, 3);
  raw_sql(path, GetParam().sql);
  const std::string before = file_bytes(path);
  const Error error = error_of([&] { open_store(path); });
  EXPECT_EQ(error.exit_code(), ExitCode::refused);
  EXPECT_EQ(error.where(), path);
  EXPECT_THAT(error.line(), testing::HasSubstr(GetParam().says));
  EXPECT_THAT(error.remedy(), testing::HasSubstr("halmark salvage " + path));
  EXPECT_EQ(file_bytes(path), before);
}

INSTANTIATE_TEST_SUITE_P(
    Parts, ForeignPartOf,
    testing::Values(
        ForeignPart{"trigger_that_swallows",
                    "CREATE TRIGGER t BEFORE INSERT ON entry BEGIN SELECT RAISE(IGNORE); END",
                    "a trigger 't'"},
        ForeignPart{"trigger_that_rewrites",
                    "CREATE TRIGGER t AFTER INSERT ON entry BEGIN UPDATE entry SET body = 'x'; END",
                    "a trigger 't'"},
        ForeignPart{"view", "CREATE VIEW v AS SELECT * FROM entry", "a view 'v'"},
        ForeignPart{"view_in_the_place_of_a_table",
                    "ALTER TABLE entry RENAME TO e; CREATE VIEW entry AS SELECT * FROM e",
                    "another view 'entry'"},
        ForeignPart{"table", "CREATE TABLE other(x)", "a table 'other'"},
        ForeignPart{"index", "CREATE INDEX i ON entry(body)", "an index 'i'"},
        ForeignPart{"column", "ALTER TABLE entry ADD COLUMN more TEXT", "another table 'entry'"},
        ForeignPart{"view_in_the_place_of_samples",
                    "DROP TABLE sample_block; CREATE VIEW sample_block AS SELECT 1 AS entry, x'00' "
                    "AS bytes",
                    "another view 'sample_block'"},
        ForeignPart{"samples_gone", "DROP TABLE sample_block", "no table 'sample_block'"},
        ForeignPart{"index_gone", "DROP INDEX entry_by_key", "no index 'entry_by_key'"}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(OpenFile, a_view_in_the_place_of_a_table_is_read_by_nobody) {
  const ScratchFolder folder;
  make_database(folder / "a.db", 1);
  raw_sql(folder / "a.db", "ALTER TABLE entry RENAME TO e; CREATE VIEW entry AS SELECT * FROM e");
  const Error error = error_of([&] { open_store_read_only(folder / "a.db"); });
  EXPECT_EQ(error.exit_code(), ExitCode::refused);
}

}  // namespace
}  // namespace halmark
