#include "verify/salvage.hpp"

#include <gmock/gmock.h>

#include <filesystem>

#include "tests/unit/error_of.hpp"
#include "tests/unit/journal/journal_fixture.hpp"
#include "tests/unit/journal/rehash.hpp"

namespace halmark {
namespace {

using namespace test;
using testing::HasSubstr;
namespace fs = std::filesystem;

class SalvageDatabase : public testing::Test {
 protected:
  SalvageDatabase() {
    make_database(from_, 4);
    head_ = open_store_read_only(from_)->chain_head(1);
  }

  using Seeds = std::vector<std::uint64_t>;
  Seeds seeds_of_the_copy() const {
    const auto store = open_store(to_);  // a writer takes it
    Seeds out;
    for (const Measurement& m : store->run_measurements(1)) out.push_back(m.seed);
    store->require_sound();
    return out;
  }

  static std::vector<std::string> names(const Salvage& done) {
    std::vector<std::string> out;
    for (const LeftOut& l : done.copy.left_out) {
      EXPECT_FALSE(l.reason.empty());
      out.push_back(l.table + ' ' + std::to_string(l.row));
    }
    return out;
  }

  ScratchFolder folder_;
  std::string from_ = folder_ / "a.db", to_ = folder_ / "b.db", head_;
};

TEST_F(SalvageDatabase, of_a_sound_one_is_the_same_rows_under_the_same_heads) {
  const std::string before = file_bytes(from_);
  const Salvage done = salvage_database(from_, to_);
  EXPECT_TRUE(names(done).empty());
  EXPECT_EQ(done.copy.entries, 4);
  ASSERT_EQ(done.copy.runs.size(), 1u);
  EXPECT_EQ(done.copy.runs[0].head, head_);
  EXPECT_EQ(open_store_read_only(to_)->chain_head(1), head_);
  EXPECT_EQ(seeds_of_the_copy(), (Seeds{1, 2, 3, 4}));
  EXPECT_EQ(file_bytes(from_), before);
}

TEST_F(SalvageDatabase, leaves_triggers_views_and_foreign_tables_behind_and_no_row) {
  raw_sql(from_,
          "CREATE TABLE other(x); CREATE VIEW v AS SELECT 1; CREATE TRIGGER t AFTER INSERT ON "
          "entry BEGIN DELETE FROM entry; END; CREATE INDEX i ON entry(body)");
  const Salvage done = salvage_database(from_, to_);
  EXPECT_EQ(names(done), (std::vector<std::string>(4, "schema 0")));
  EXPECT_EQ(done.copy.runs.at(0).head, head_);
  EXPECT_EQ(seeds_of_the_copy(), (Seeds{1, 2, 3, 4}));
}

TEST_F(SalvageDatabase, leaves_out_rows_without_their_checksum_and_says_that_the_head_is_new) {
  raw_sql(from_, "UPDATE entry SET body = replace(body, 'suspect', 'ok') WHERE id = 2");
  const Salvage done = salvage_database(from_, to_);
  EXPECT_EQ(names(done), (std::vector<std::string>{"entry 2"}));
  EXPECT_EQ(done.copy.runs.at(0).stored_head, head_);
  EXPECT_NE(done.copy.runs.at(0).head, head_);
  EXPECT_EQ(seeds_of_the_copy(), (Seeds{1, 3, 4}));
}

TEST_F(SalvageDatabase, leaves_out_forged_figures_and_what_was_drawn_from_them) {
  {
    const auto store = open_store(from_);
    const std::int64_t run = store->begin_run(run_info("second"));
    const std::vector<Measurement> rounds(3, numbered_measurement(1));
    store->append(run, rounds);
    store->append(run, winner_of(rounds));
  }
  raw_sql(from_,
          "UPDATE entry SET body = json_set(body, '$.duration_ns_median', 500.0) WHERE id = 6");
  rehash(from_);
  EXPECT_EQ(names(salvage_database(from_, to_)), (std::vector<std::string>{"entry 6", "entry 8"}));
}

TEST_F(SalvageDatabase, never_takes_the_name_of_another_file) {
  write_file(to_, "mine");
  const Error error = error_of([&] { salvage_database(from_, to_); });
  EXPECT_EQ(error.exit_code(), ExitCode::refused);
  EXPECT_EQ(error.where(), to_);
  EXPECT_EQ(file_bytes(to_), "mine");
  EXPECT_EQ(error_of([&] { salvage_database(from_, from_); }).exit_code(), ExitCode::refused);
  fs::create_symlink(folder_ / "nowhere", folder_ / "link");
  EXPECT_EQ(error_of([&] { salvage_database(from_, folder_ / "link"); }).exit_code(),
            ExitCode::refused);
}

TEST_F(SalvageDatabase, makes_nothing_of_what_is_no_results_database) {
  write_file(folder_ / "text", "no database");
  raw_sql(folder_ / "plain", "CREATE TABLE t(x)");
  for (const std::string& from : {folder_ / "text", folder_ / "plain", folder_ / "absent"}) {
    const Error error = error_of([&] { salvage_database(from, to_); });
    EXPECT_EQ(error.exit_code(), ExitCode::refused) << error.line();
    EXPECT_EQ(error.where(), from);
    EXPECT_FALSE(fs::exists(to_));
    EXPECT_FALSE(fs::exists(to_ + ".new"));
  }
}

TEST_F(SalvageDatabase, reads_as_far_as_a_truncated_file_goes) {
  {
    const auto store = open_store(from_);
    for (std::uint64_t i = 5; i <= 60; ++i) store->append(1, numbered_measurement(i, 50));
  }
  const std::string bytes = file_bytes(from_);
  write_file(from_, bytes.substr(0, bytes.size() / 2));
  const Salvage done = salvage_database(from_, to_);
  EXPECT_GT(done.copy.entries, 10);
  EXPECT_LT(done.copy.entries, 60);
  EXPECT_NE(done.copy.runs.at(0).head, done.copy.runs.at(0).stored_head) << "it says so";
  EXPECT_EQ(seeds_of_the_copy().size(), static_cast<std::size_t>(done.copy.entries));
}

TEST_F(SalvageDatabase, of_the_first_version_is_one_of_the_present) {
  turn_into_version(from_, 1);
  head_ = open_store_read_only(from_)->chain_head(1);
  EXPECT_EQ(salvage_database(from_, to_).copy.runs.at(0).head, head_);
  EXPECT_EQ(seeds_of_the_copy().size(), 4u);
}

TEST_F(SalvageDatabase, keeps_rows_whose_samples_are_retired) {
  {
    const auto store = open_store(from_);
    store->retire_samples(1, "now");
    store->append(1, numbered_measurement(5));
    head_ = store->chain_head(1);
  }
  const Salvage done = salvage_database(from_, to_);
  EXPECT_TRUE(names(done).empty());
  EXPECT_EQ(done.copy.runs.at(0).head, head_);
  EXPECT_EQ(seeds_of_the_copy(), (Seeds{1, 2, 3, 4, 5}));
  EXPECT_EQ(open_store_read_only(to_)->run_measurements(1).at(4).samples.size(), 3u);
}

TEST_F(SalvageDatabase, leaves_out_rows_whose_samples_are_changed_or_missing) {
  raw_sql(from_,
          "UPDATE sample_block SET bytes = zeroblob(16) WHERE entry = 2; DELETE FROM sample_block "
          "WHERE entry = 3");
  EXPECT_EQ(names(salvage_database(from_, to_)), (std::vector<std::string>{"entry 2", "entry 3"}));
  EXPECT_EQ(seeds_of_the_copy(), (Seeds{1, 4}));
}

TEST_F(SalvageDatabase, without_a_table_of_samples_is_what_has_none) {
  {
    const auto store = open_store(from_);
    store->append(store->begin_run(run_info("second")), full_evaluation());
  }
  raw_sql(from_, "DROP TABLE sample_block");
  const Salvage done = salvage_database(from_, to_);
  EXPECT_EQ(done.copy.entries, 1);
  EXPECT_EQ(names(done).front(), "schema 0");
}

TEST_F(SalvageDatabase, takes_what_a_writer_has_committed_meanwhile) {
  const auto writer = open_store(from_);
  writer->append(1, numbered_measurement(5));
  EXPECT_EQ(salvage_database(from_, to_).copy.entries, 5);
  writer->append(1, numbered_measurement(6));
}

}  // namespace
}  // namespace halmark
