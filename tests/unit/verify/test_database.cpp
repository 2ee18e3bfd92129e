#include "verify/database.hpp"

#include <gmock/gmock.h>

#include "tests/unit/error_of.hpp"
#include "tests/unit/journal/journal_fixture.hpp"

namespace halmark {
namespace {

using namespace test;

// "table row column", once each.
std::vector<std::string> places(const DatabaseCheck& check) {
  std::vector<std::string> out;
  for (const DatabaseFinding& f : check.findings) {
    EXPECT_FALSE(f.text.empty());
    out.push_back(f.table + ' ' + std::to_string(f.row) + ' ' + f.column);
  }
  return out;
}

class CheckDatabase : public testing::Test {
 protected:
  void SetUp() override {
    make_database(path_, 4);
    const auto store = open_store(path_);
    const std::int64_t run = store->begin_run(run_info("second"));
    store->append(run, full_evaluation());
    store->append(run, full_validation());
  }

  std::vector<std::string> places_after(const std::string& sql) {
    raw_sql(path_, sql);
    return places(check_database(path_));
  }

  ScratchFolder folder_;
  std::string path_ = folder_ / "a.db";
};

TEST_F(CheckDatabase, finds_nothing_in_a_sound_one_and_changes_nothing) {
  const std::string before = file_bytes(path_);
  const DatabaseCheck check = check_database(path_);
  EXPECT_TRUE(places(check).empty());
  EXPECT_EQ(check.runs, 2);
  EXPECT_EQ(check.entries, 6);
  const auto store = open_store_read_only(path_);
  ASSERT_EQ(check.heads.size(), 2u);
  EXPECT_EQ(check.heads[0].chain, store->chain_head(1));
  EXPECT_EQ(check.heads[1].chain, store->chain_head(2));
  EXPECT_EQ(file_bytes(path_), before);
}

TEST_F(CheckDatabase, works_beside_a_writer) {
  const auto writer = open_store(path_);
  writer->append(1, numbered_measurement(9));
  const DatabaseCheck check = check_database(path_);
  EXPECT_TRUE(places(check).empty());
  EXPECT_EQ(check.entries, 7);
}

TEST_F(CheckDatabase, a_winner_must_follow_from_the_measurements_of_its_run) {
  const auto store = open_store(path_);
  const std::int64_t run = store->begin_run(run_info("third"));
  const std::vector<Measurement> rounds(3, numbered_measurement(1));
  store->append(run, rounds);
  Winner winner = winner_of(rounds);
  store->append(run, winner);
  EXPECT_TRUE(places(check_database(path_)).empty());
  winner.variants.at(0).ns /= 2;
  store->append(run, winner);
  EXPECT_EQ(places(check_database(path_)), (std::vector<std::string>{"entry 11 body"}));
}

struct Edit {
  const char* name;
  const char* sql;
  std::vector<std::string> places;
};

class Edited : public CheckDatabase, public testing::WithParamInterface<Edit> {};

TEST_P(Edited, is_named_by_table_row_and_column) {
  EXPECT_EQ(places_after(GetParam().sql), GetParam().places);
}

const std::vector<std::string> row_2{"entry 2 checksum", "entry 2 chain"};

INSTANTIATE_TEST_SUITE_P(
    Statements, Edited,
    testing::Values(
        Edit{"key", "UPDATE entry SET key = 'gemm' WHERE id = 2", row_2},
        Edit{"body", "UPDATE entry SET body = replace(body, '1000.25', '1000.24') WHERE id = 2",
             row_2},
        Edit{"samples", "UPDATE entry SET samples = zeroblob(length(samples)) WHERE id = 2", row_2},
        Edit{"kind", "UPDATE entry SET kind = 'evaluation' WHERE id = 2", row_2},
        Edit{"checksum", "UPDATE entry SET checksum = 1 WHERE id = 2", {"entry 2 checksum"}},
        Edit{"chain",
             "UPDATE entry SET chain = 'x' WHERE id = 2",
             {"entry 2 chain", "entry 3 chain"}},
        Edit{"deleted_inside", "DELETE FROM entry WHERE id = 2", {"entry 3 chain"}},
        Edit{"deleted_at_the_end", "DELETE FROM entry WHERE id = 4", {"run 1 chain"}},
        Edit{"deleted_all", "DELETE FROM entry WHERE run = 1", {"run 1 chain"}},
        Edit{"inserted_copy",
             "INSERT INTO entry SELECT 99, run, kind, key, body, samples, checksum, chain FROM "
             "entry WHERE id = 4",
             {"entry 99 chain"}},
        Edit{"reordered",
             "UPDATE entry SET id = 99 WHERE id = 2; UPDATE entry SET id = 2 WHERE id = 3; UPDATE "
             "entry SET id = 3 WHERE id = 99",
             {"entry 2 chain", "entry 3 chain", "entry 4 chain"}},
        Edit{"moved_to_another_run",
             "UPDATE entry SET run = 2 WHERE id = 4",
             {"entry 4 checksum", "entry 4 chain", "entry 5 chain", "run 1 chain"}},
        Edit{"orphan",
             "UPDATE entry SET run = 7 WHERE id = 4",
             {"entry 4 run", "entry 4 checksum", "entry 4 chain", "run 1 chain"}},
        Edit{"run_plan", "UPDATE run SET plan_hash = 'x' WHERE id = 2", {"entry 5 chain"}},
        Edit{"run_head", "UPDATE run SET chain = 'x' WHERE id = 1", {"run 1 chain"}},
        Edit{"run_deleted",
             "DELETE FROM run WHERE id = 2",
             {"entry 5 run", "entry 6 run", "entry 5 chain"}},
        Edit{"index_dropped", "DROP INDEX entry_by_key", {"schema 0 "}},
        Edit{"table_added", "CREATE TABLE other(x)", {"schema 0 "}}),
    [](const auto& info) { return std::string(info.param.name); });

TEST_F(CheckDatabase, a_run_without_rows_is_held_by_its_own_columns) {
  {
    const auto store = open_store(path_);
    store->begin_run(run_info("third"));
  }
  EXPECT_EQ(places_after("UPDATE run SET command = 'x' WHERE id = 3"),
            (std::vector<std::string>{"run 3 chain"}));
}

TEST_F(CheckDatabase, bytes_that_rot_inside_a_page_are_found) {
  std::string bytes = file_bytes(path_);
  const std::size_t at = bytes.find("1000.25");
  ASSERT_NE(at, std::string::npos);
  bytes[at] = '2';
  write_file(path_, bytes);
  // SQLite's own check does not look into values: only ours speaks.
  EXPECT_THAT(places(check_database(path_)),
              testing::ElementsAre(testing::MatchesRegex("entry [1-4] checksum"),
                                   testing::MatchesRegex("entry [1-4] chain")));
}

// The key of a row stands in its table and in an index: SQLite's check compares the two.
TEST_F(CheckDatabase, an_index_that_rots_is_a_finding_about_the_file) {
  const std::string bytes = file_bytes(path_), key = full_case().key();
  std::size_t found = 0;
  for (std::size_t at = bytes.find(key); at != std::string::npos; at = bytes.find(key, at + 1)) {
    std::string rotten = bytes;
    rotten[at] = '!';
    write_file(path_, rotten);
    for (const DatabaseFinding& f : check_database(path_).findings) {
      if (f.table != "file") continue;
      ++found;
      EXPECT_EQ(f.row, 0) << "of no row";
      EXPECT_EQ(f.column, "");
      EXPECT_FALSE(f.text.empty());
    }
  }
  EXPECT_GT(found, 0u);
}

TEST_F(CheckDatabase, winners_are_judged_by_the_rows_of_their_own_runs) {
  const auto store = open_store(path_);
  std::vector<std::vector<Measurement>> rounds;
  for (const double ns : {1000.0, 2000.0, 3000.0}) {
    const std::int64_t run = store->begin_run(run_info("of " + std::to_string(ns)));
    rounds.emplace_back(3, numbered_measurement(1));
    for (Measurement& m : rounds.back()) m.duration_ns_median = ns;
    store->append(run, rounds.back());
    store->append(run, winner_of(rounds.back()));
    store->append(run, winner_of(rounds.back()));
  }
  EXPECT_TRUE(places(check_database(path_)).empty());
  store->append(2, winner_of(rounds[0]));
  EXPECT_EQ(places(check_database(path_)).size(), 1u) << "run 2 has no rows of it";
}

TEST_F(CheckDatabase, refuses_what_is_no_database_of_ours) {
  write_file(folder_ / "b.db", "no database");
  EXPECT_EQ(error_of([&] { check_database(folder_ / "b.db"); }).exit_code(), ExitCode::refused);
  EXPECT_EQ(error_of([&] { check_database(folder_ / "none.db"); }).exit_code(), ExitCode::refused);
}

}  // namespace
}  // namespace halmark
