// Raw samples go by policy, and the chains of their runs say so; whatever else is missing is
// damage.
#include "journal/samples/retention.hpp"

#include <gmock/gmock.h>

#include <ctime>
#include <filesystem>
#include <utility>

#include "core/json/json.hpp"
#include "journal/sqlite/writer_lock.hpp"
#include "journal_fixture.hpp"
#include "rehash.hpp"
#include "tests/checkout.hpp"
#include "tests/unit/error_of.hpp"

namespace halmark {
namespace {

using namespace test;
using testing::ElementsAre;
using testing::HasSubstr;

class Retention : public testing::Test {
 protected:
  // Four runs on three dates, each with two rows of samples and a crash without.
  Retention() {
    const auto store = open_store(path_);
    for (const char* began : {"2026-11-20T23:00:00Z", "2026-11-21T10:00:00Z",
                              "2026-11-21T20:00:00Z", "2026-11-22T10:00:00Z"}) {
      RunInfo info = run_info(began);
      info.started_utc = began;
      const std::int64_t run = store->begin_run(info);
      store->append(run, numbered_measurement(1));
      store->append(run, numbered_measurement(2, 40));
      store->append(run, numbered_measurement(3, 0));
    }
  }

  std::vector<std::int64_t> runs_with_samples() const {
    std::vector<std::int64_t> out;
    for (const RunSamples& run : open_store_read_only(path_)->samples_by_run()) {
      out.push_back(run.run);
    }
    return out;
  }

  std::vector<std::int64_t> left_by(const RetentionPolicy& policy) {
    retire_samples(*open_store(path_), policy);
    return runs_with_samples();
  }

  ScratchFolder folder_;
  std::string path_ = folder_ / "a.db";
};

TEST_F(Retention, the_latest_runs_or_nights_or_those_from_a_moment_on_keep_theirs) {
  EXPECT_THAT(left_by({.before_utc = "2026-11-20T23:00:00Z"}), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(left_by({.before_utc = "2026-11-21T10:00:00Z"}), ElementsAre(2, 3, 4));
  EXPECT_THAT(left_by({.keep_nights = 3}), ElementsAre(2, 3, 4)) << "more are not there";
  EXPECT_THAT(left_by({.keep_nights = 2}), ElementsAre(2, 3, 4)) << "two runs of one date";
  EXPECT_THAT(left_by({.keep_runs = 2}), ElementsAre(3, 4));
  EXPECT_THAT(left_by({.keep_nights = 1}), ElementsAre(4));
  EXPECT_THAT(left_by({.keep_runs = 1}), ElementsAre(4));
}

TEST_F(Retention, rows_keep_every_figure_and_say_how_many_samples_they_had) {
  const auto before = open_store_read_only(path_)->run_measurements(1);
  const RetiredSamples done =
      retire_samples(*open_store(path_), {.keep_runs = 3, .text = "by hand"});
  ASSERT_EQ(done.runs.size(), 1u);
  EXPECT_EQ(done.runs[0].rows, 2);
  // Two counts, {wall, cpu, device, set} per sample, two shards with a count each.
  EXPECT_EQ(done.runs[0].bytes, 8 * ((2 + 3 * 4 + 2 * (1 + 3)) + (2 + 40 * 4 + 2 * (1 + 40))));
  const auto store = open_store_read_only(path_);
  const auto after = store->run_measurements(1);
  EXPECT_NO_THROW(store->require_sound());
  ASSERT_EQ(after.size(), 3u);
  for (std::size_t i = 0; i < after.size(); ++i) {
    EXPECT_EQ(dump_json(Json(after[i])), dump_json(Json(before[i])));
    EXPECT_TRUE(after[i].samples.empty());
    EXPECT_TRUE(after[i].shard_wall_ns.empty());
    EXPECT_EQ(after[i].retired_samples, static_cast<std::int64_t>(before[i].samples.size()));
    EXPECT_EQ(after[i].was_sampled(), i < 2);
  }
  EXPECT_EQ(store->measurements(full_case().key(), "machine-1").size(), 12u);
  EXPECT_NO_THROW(store->require_sound());
  EXPECT_EQ(store->run_measurements(2).at(1).samples.size(), 40u) << "another run's stay";
}

// The rows as they were are still what a head that was noted before is of.
TEST_F(Retention, chains_grow_by_one_row_and_a_second_call_changes_nothing) {
  retire_samples(*open_store(path_), {.keep_runs = 3});
  const std::string head = open_store_read_only(path_)->chain_head(1);
  EXPECT_TRUE(retire_samples(*open_store(path_), {.keep_runs = 3}).runs.empty());
  EXPECT_EQ(open_store_read_only(path_)->chain_head(1), head);
}

TEST_F(Retention, a_run_that_goes_on_keeps_the_samples_of_its_later_rows) {
  {
    const auto store = open_store(path_);
    store->retire_samples(1, "now");
    store->append(1, numbered_measurement(7));
  }
  const auto store = open_store_read_only(path_);
  const auto rows = store->run_measurements(1);
  EXPECT_NO_THROW(store->require_sound());
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_EQ(rows[3].samples.size(), 3u);
  EXPECT_EQ(rows[3].retired_samples, 0);
}

struct Damaged {
  const char* name;
  const char* sql;
};

// Of run 2, whose rows are 4 to 6, once its samples are retired (by row 13), and row 14 came
// behind.
class NotRetired : public Retention, public testing::WithParamInterface<Damaged> {};

TEST_P(NotRetired, samples_are_damage) {
  {
    const auto store = open_store(path_);
    store->retire_samples(2, "now");
    store->append(2, numbered_measurement(8));
  }
  raw_sql(path_, GetParam().sql);
  const auto store = open_store_read_only(path_);
  store->run_measurements(2);
  EXPECT_EQ(error_of([&] { store->require_sound(); }).exit_code(), ExitCode::refused);
}

INSTANTIATE_TEST_SUITE_P(
    Edits, NotRetired,
    testing::Values(Damaged{"row_behind", "DELETE FROM sample_block WHERE entry = 14"},
                    Damaged{"retirement_gone", "DELETE FROM entry WHERE id = 13"},
                    Damaged{"retirement_changed", "UPDATE entry SET body = '{}' WHERE id = 13"},
                    Damaged{"retirement_moved", "UPDATE entry SET run = 3 WHERE id = 13"},
                    Damaged{"other_samples", "INSERT INTO sample_block VALUES (4, zeroblob(16))"}),
    [](const auto& info) { return std::string(info.param.name); });

TEST_F(Retention, damage_is_named_and_not_retired) {
  raw_sql(path_, "UPDATE sample_block SET bytes = zeroblob(16) WHERE entry = 2");
  const Error error = error_of([&] { retire_samples(*open_store(path_), {.keep_runs = 1}); });
  EXPECT_EQ(error.exit_code(), ExitCode::refused);
  EXPECT_THAT(error.line(), HasSubstr("entry 2: its samples"));
  EXPECT_THAT(runs_with_samples(), ElementsAre(1, 2, 3, 4));
  raw_sql(path_, "DELETE FROM sample_block WHERE entry = 2");
  EXPECT_EQ(error_of([&] { retire_samples(*open_store(path_), {.keep_runs = 1}); }).exit_code(),
            ExitCode::refused);
}

TEST_F(Retention, what_would_go_is_known_before_and_a_reader_retires_nothing) {
  const std::string before = file_bytes(path_);
  const auto reader = open_store_read_only(path_);
  const RetiredSamples planned = samples_to_retire(*reader, {.keep_runs = 1});
  EXPECT_EQ(planned.runs.size(), 3u);
  EXPECT_EQ(planned.rows_with_samples, 8);
  EXPECT_THROW(reader->retire_samples(1, "now"), Error);
  EXPECT_EQ(file_bytes(path_), before);
}

TEST_F(Retention, rows_of_earlier_versions_keep_their_samples) {
  turn_into_version(path_, 2);
  const auto store = open_store(path_);
  EXPECT_TRUE(retire_samples(*store, {.keep_runs = 1}).runs.empty());
  EXPECT_EQ(store->run_measurements(1).at(1).samples.size(), 40u);
  EXPECT_NO_THROW(store->require_sound());
}

// 300 rows of 400 samples: most of the file.
TEST_F(Retention, the_file_becomes_smaller_beside_a_reader_and_the_rows_stay) {
  {
    const auto store = open_store(path_);
    const std::int64_t run = store->begin_run(run_info("large"));
    store->append(run, std::vector<Measurement>(300, numbered_measurement(1, 400)));
    store->begin_run(run_info("small"));
  }
  const auto size = std::filesystem::file_size(path_);
  const auto reader = open_store_read_only(path_);
  EXPECT_EQ(reader->run_measurements(5).size(), 300u);
  {
    const auto store = open_store(path_);
    RetiredSamples done = retire_samples(*store, {.keep_runs = 1});
    EXPECT_GT(done.after.free_bytes, static_cast<std::int64_t>(size / 2));
    EXPECT_EQ(give_space_back(*store, done), "");
    EXPECT_LT(done.after.bytes + done.after.free_bytes, static_cast<std::int64_t>(size / 2));
    store->append(6, numbered_measurement(9));
  }
  EXPECT_LT(std::filesystem::file_size(path_), size / 2);
  EXPECT_EQ(reader->run_measurements(5).size(), 300u);
  EXPECT_EQ(reader->run_measurements(6).size(), 1u);
  EXPECT_NO_THROW(reader->require_sound());
}

// Rows that were measured, with the signals that rows have had since.
TEST(RowSize, of_measured_kernels_is_at_most_4_KiB_without_samples) {
  const ScratchFolder folder;
  // A copy: whoever opens a database leaves a log beside it.
  std::filesystem::copy_file(test::in_source("/tests/data/fixtures/dense.db"), folder / "dense.db");
  std::vector<Measurement> rows = open_store_read_only(folder / "dense.db")->run_measurements(1);
  ASSERT_EQ(rows.size(), 216u);
  for (Measurement& row : rows) {
    for (const char* name : {"cpus_used", "repeat_cost_share", "cpu_share_after_wait",
                             "clean_share", "check_seed", "new_inputs_cost"}) {
      row.signals.push_back({name, 0.12345678901234567, ""});
    }
    row.correctness.method +=
        ", 15 executions around 556 samples against the first output: a "
        "fault of every 10th is found with 79.4 %, 5 with changed inputs";
  }
  const auto store = open_store(folder / "a.db");
  const std::int64_t run = store->begin_run(run_info());
  for (int night = 0; night < 5; ++night) store->append(run, rows);
  store->begin_run(run_info("next"));
  RetiredSamples done = retire_samples(*store, {.keep_runs = 1});
  EXPECT_EQ(done.rows_with_samples, done.runs.at(0).rows);
  EXPECT_EQ(give_space_back(*store, done), "");
  EXPECT_LE(done.after.bytes / done.after.rows, 4096);
  EXPECT_GT(done.after.bytes / done.after.rows, 2000) << "these are whole rows";
}

TEST(RetentionOptions, are_an_age_or_numbers_and_the_rows_will_say_them) {
  EXPECT_EQ(retention_policy(3, 0, "").keep_runs, 3u);
  EXPECT_EQ(retention_policy(0, 7, "").keep_nights, 7u);
  EXPECT_EQ(retention_policy(3, 7, "30d").text, "--keep-runs 3 --keep-nights 7 --older-than 30d");
  const auto before = [](const char* age) { return retention_policy(0, 0, age).before_utc; };
  EXPECT_GT(before("12h"), before("1d"));
  EXPECT_GT(before("6d"), before("1w"));
  EXPECT_GT(before("1w"), before("8d"));
  for (const char* age : {"", "d", "30", "30days", "-1d", "0d", "1.5d", "99999999999999999999d",
                          "5x", "0h", "100001h"}) {
    EXPECT_EQ(error_of([&] { retention_policy(0, 0, age); }).exit_code(), ExitCode::refused) << age;
  }
  EXPECT_NO_THROW(before("1h"));
  EXPECT_NO_THROW(before("100000h"));
}

TEST(RetentionOptions, an_age_is_counted_back_from_now_in_hours_days_and_weeks) {
  for (const auto& [age, hours] : {std::pair{"5h", 5}, {"3d", 3 * 24}, {"2w", 2 * 7 * 24}}) {
    const std::time_t first = std::time(nullptr);
    const std::string before = retention_policy(0, 0, age).before_utc;
    EXPECT_GE(before, journal::utc_text(first - hours * 3600)) << age;
    EXPECT_LE(before, journal::utc_text(std::time(nullptr) - hours * 3600)) << age;
  }
}

}  // namespace
}  // namespace halmark
