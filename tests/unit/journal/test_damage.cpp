#include <gmock/gmock.h>

#include <algorithm>
#include <vector>

#include "journal/check.hpp"
#include "journal_fixture.hpp"
#include "tests/unit/error_of.hpp"

namespace halmark {
namespace {

using namespace test;

struct Edit {
  const char* name;
  const char* sql;
};

class Damage : public testing::TestWithParam<Edit> {};

TEST_P(Damage, of_any_column_takes_the_row_out_and_names_it) {
  const ScratchFolder folder;
  const std::string path = folder / "a.db";
  make_database(path, 3);
  {
    const auto store = open_store(path);
    store->begin_run(run_info("second"));
  }
  raw_sql(path, GetParam().sql);
  const auto store = open_store_read_only(path);
  std::vector<std::uint64_t> seeds;
  for (const std::int64_t run : {1, 2}) {
    for (const Measurement& m : store->run_measurements(run)) seeds.push_back(m.seed);
    EXPECT_TRUE(store->rows<Evaluation>(run).empty());
  }
  EXPECT_EQ(seeds, (std::vector<std::uint64_t>{1, 3}));
  // A row that is elsewhere now is missing where it was: the chains of both runs say so too.
  const std::vector<std::string> damaged = store->damaged();
  EXPECT_THAT(damaged, testing::Contains(testing::StartsWith("entry 2:")));
  const Error error = error_of([&] { store->require_sound(); });
  EXPECT_EQ(error.exit_code(), ExitCode::refused);
  EXPECT_EQ(error.where(), path);
  EXPECT_THAT(error.line(), testing::HasSubstr(damaged.at(0)));
  EXPECT_THAT(error.remedy(), testing::HasSubstr("halmark salvage " + path));
}

INSTANTIATE_TEST_SUITE_P(
    Columns, Damage,
    testing::Values(
        Edit{"key", "UPDATE entry SET key = key || 'x' WHERE id = 2"},
        Edit{"body", "UPDATE entry SET body = replace(body, '1000.25', '1000.24') WHERE id = 2"},
        Edit{"samples",
             "UPDATE sample_block SET bytes = CAST(substr(bytes, 1, length(bytes) - 1) || x'01' "
             "AS BLOB) WHERE entry = 2"},
        Edit{"samples_gone", "DELETE FROM sample_block WHERE entry = 2"},
        Edit{"samples_of_another_row",
             "UPDATE sample_block SET bytes = (SELECT CAST(bytes || x'00' AS BLOB) FROM "
             "sample_block "
             "WHERE entry = 3) WHERE entry = 2"},
        Edit{"samples_in_the_row", "UPDATE entry SET samples = zeroblob(16) WHERE id = 2"},
        Edit{"kind", "UPDATE entry SET kind = 'evaluation' WHERE id = 2"},
        Edit{"run", "UPDATE entry SET run = 2 WHERE id = 2"},
        Edit{"checksum", "UPDATE entry SET checksum = checksum + 1 WHERE id = 2"}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(DamagedRows, are_left_out_of_the_rounds_of_a_case_too) {
  const ScratchFolder folder;
  const std::string path = folder / "a.db";
  make_database(path, 3);
  raw_sql(path, "UPDATE entry SET body = replace(body, 'suspect', 'ok') WHERE id = 2");
  const auto store = open_store(path);
  EXPECT_EQ(store->measurements(full_case().key(), "machine-1").size(), 2u);
  EXPECT_EQ(store->damaged().size(), 1u);
}

TEST(DamagedRows, do_not_stop_new_ones_from_being_stored) {
  const ScratchFolder folder;
  const std::string path = folder / "a.db";
  make_database(path, 1);
  raw_sql(path, "UPDATE entry SET body = '[' WHERE id = 1");
  const auto store = open_store(path);
  store->append(1, numbered_measurement(2));
  const auto rows = store->run_measurements(1);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].seed, 2u);
}

// What no checksum of a row can tell: a row that is gone, one that is in another place, a run whose
// own columns were changed.
class Missing : public testing::TestWithParam<Edit> {};

TEST_P(Missing, rows_and_changed_runs_are_noticed_by_whoever_reads_the_run) {
  const ScratchFolder folder;
  const std::string path = folder / "a.db";
  make_database(path, 3);
  {
    const auto sound = open_store_read_only(path);
    sound->run_info(1);
    sound->run_measurements(1);
    EXPECT_NO_THROW(sound->require_sound());
  }
  raw_sql(path, GetParam().sql);
  const auto store = open_store_read_only(path);
  if (store->latest_run() == 1) store->run_measurements(1);
  EXPECT_EQ(error_of([&] { store->require_sound(); }).exit_code(), ExitCode::refused);
}

INSTANTIATE_TEST_SUITE_P(
    Rows, Missing,
    testing::Values(
        Edit{"first", "DELETE FROM entry WHERE id = 1"},
        Edit{"inside", "DELETE FROM entry WHERE id = 2"},
        Edit{"last", "DELETE FROM entry WHERE id = 3"}, Edit{"all", "DELETE FROM entry"},
        Edit{"reordered",
             "UPDATE entry SET id = 9 WHERE id = 1; UPDATE entry SET id = 1 WHERE id = 2; UPDATE "
             "entry SET id = 2 WHERE id = 9"},
        Edit{"doubled",
             "INSERT INTO entry SELECT 9, run, kind, key, body, samples, checksum, chain FROM "
             "entry WHERE id = 3"},
        Edit{"plan", "UPDATE run SET plan_text = ''"},
        Edit{"machine", "UPDATE run SET fingerprint = 'machine-2'"},
        Edit{"head", "UPDATE run SET chain = 'x'"},
        Edit{"run_renamed", "PRAGMA foreign_keys = OFF; UPDATE run SET id = 7"},
        Edit{"run_gone", "PRAGMA foreign_keys = OFF; DELETE FROM run"}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(DamagedRows, of_a_run_that_is_gone_do_not_become_those_of_the_next_one) {
  const ScratchFolder folder;
  const std::string path = folder / "a.db";
  make_database(path, 3);
  raw_sql(path, "PRAGMA foreign_keys = OFF; DELETE FROM run");
  const auto store = open_store(path);
  EXPECT_EQ(error_of([&] { store->begin_run(run_info()); }).exit_code(), ExitCode::refused);
}

TEST(DamagedRows, of_a_run_that_is_gone_are_named_each_with_what_it_lacks) {
  const ScratchFolder folder;
  const std::string path = folder / "a.db";
  make_database(path, 3);
  raw_sql(path, "PRAGMA foreign_keys = OFF; DELETE FROM run");
  std::vector<std::int64_t> rows;
  for (const auto& orphan : open_snapshot(path)->read().orphans) {
    EXPECT_EQ(orphan.table, "entry");
    EXPECT_EQ(orphan.column, "run");
    EXPECT_EQ(orphan.parent, "run");
    rows.push_back(orphan.row);
  }
  std::ranges::sort(rows);
  EXPECT_EQ(rows, (std::vector<std::int64_t>{1, 2, 3}));
}

// The index says another kind than the row: a reader of that kind would not find it. (That of the
// row itself is not read where the index has it; verify reads both.)
TEST(DamagedRows, that_an_index_hides_are_missed) {
  const ScratchFolder folder;
  const std::string path = folder / "a.db";
  make_database(path, 3);
  const std::string whole = file_bytes(path);
  int missed = 0;
  for (std::size_t at = whole.find("measurement"); at != std::string::npos;
       at = whole.find("measurement", at + 1)) {
    std::string bytes = whole;
    bytes[at] = 'n';
    write_file(path, bytes);
    const auto store = open_store_read_only(path);
    const std::size_t rows = store->run_measurements(1).size();
    if (!store->damaged().empty()) ++missed;
    EXPECT_TRUE(rows == 3 || !store->damaged().empty()) << at;
  }
  EXPECT_GE(missed, 3) << "in the index that leads to the rows";
}

TEST(DamagedRows, that_the_writer_itself_added_are_followed_as_they_come) {
  const ScratchFolder folder;
  const auto store = open_store(folder / "a.db");
  const std::int64_t run = store->begin_run(run_info());
  for (std::uint64_t i = 1; i <= 5; ++i) {
    store->append(run, numbered_measurement(i));
    EXPECT_EQ(store->run_measurements(run).size(), i);
    EXPECT_NO_THROW(store->require_sound());
  }
}

}  // namespace
}  // namespace halmark
