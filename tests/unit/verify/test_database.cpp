#include "verify/database.hpp"

#include <gmock/gmock.h>

#include "kernels/contract.hpp"
#include "tests/unit/error_of.hpp"
#include "tests/unit/journal/journal_fixture.hpp"
#include "tests/unit/journal/rehash.hpp"

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

using Places = std::vector<std::string>;

// Of figures that stay when their samples are retired.
TEST_F(CheckDatabase, a_winner_must_follow_from_the_measurements_of_its_run) {
  for (const bool are_retired : {false, true}) {
    const auto store = open_store(path_);
    const std::int64_t run = store->begin_run(run_info(are_retired ? "fourth" : "third"));
    const std::vector<Measurement> rounds(3, numbered_measurement(1));
    store->append(run, rounds);
    Winner winner = winner_of(rounds);
    store->append(run, winner);
    if (are_retired) store->retire_samples(run, "now");
    const std::size_t before = are_retired ? 1 : 0;
    EXPECT_EQ(places(check_database(path_)).size(), before);
    winner.variants.at(0).ns /= 2;
    store->append(run, winner);
    EXPECT_EQ(places(check_database(path_)).size(), before + 1);
  }
  EXPECT_EQ(places(check_database(path_)).front(), "entry 11 body");
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
        Edit{"samples",
             "UPDATE sample_block SET bytes = zeroblob(length(bytes)) WHERE entry = 2",
             {"entry 2 samples"}},
        Edit{"samples_gone", "DELETE FROM sample_block WHERE entry = 2", {"entry 2 samples"}},
        Edit{
            "samples_of_no_row", "INSERT INTO sample_block VALUES (5, x'00')", {"entry 5 samples"}},
        Edit{"samples_in_the_row", "UPDATE entry SET samples = x'00' WHERE id = 2", row_2},
        Edit{"kind", "UPDATE entry SET kind = 'evaluation' WHERE id = 2", row_2},
        Edit{"checksum", "UPDATE entry SET checksum = 1 WHERE id = 2", {"entry 2 checksum"}},
        Edit{"chain",
             "UPDATE entry SET chain = 'x' WHERE id = 2",
             {"entry 2 chain", "entry 3 chain"}},
        Edit{"deleted_inside",
             "DELETE FROM entry WHERE id = 2",
             {"sample_block 2 entry", "entry 3 chain"}},
        Edit{"deleted_at_the_end",
             "DELETE FROM entry WHERE id = 4; DELETE FROM sample_block WHERE entry = 4",
             {"run 1 chain"}},
        Edit{"deleted_all",
             "DELETE FROM entry WHERE run = 1; DELETE FROM sample_block",
             {"run 1 chain"}},
        Edit{
            "inserted_copy",
            "INSERT INTO entry SELECT 99, run, kind, key, body, samples, checksum, chain FROM "
            "entry WHERE id = 4; INSERT INTO sample_block SELECT 99, bytes FROM sample_block WHERE "
            "entry = 4",
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
        Edit{"run_plan",
             "UPDATE run SET plan_hash = 'x' WHERE id = 2",
             {"entry 5 chain", "run 2 checksum"}},
        Edit{"run_checksum", "UPDATE run SET checksum = 1 WHERE id = 2", {"run 2 checksum"}},
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
            (Places{"run 3 checksum", "run 3 chain"}));
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
    rounds.emplace_back(3, measurement_around(ns));
    store->append(run, rounds.back());
    store->append(run, winner_of(rounds.back()));
    store->append(run, winner_of(rounds.back()));
  }
  EXPECT_TRUE(places(check_database(path_)).empty());
  store->append(2, winner_of(rounds[0]));
  EXPECT_EQ(places(check_database(path_)).size(), 1u) << "run 2 has no rows of it";
}

TEST_F(CheckDatabase, retired_samples_are_no_finding_and_are_counted) {
  const std::string head = open_store_read_only(path_)->chain_head(1);
  {
    const auto store = open_store(path_);
    store->retire_samples(1, "now");
    store->append(1, numbered_measurement(9));
  }
  const DatabaseCheck check = check_database(path_, NotedHead{head, 1});
  EXPECT_TRUE(places(check).empty());
  EXPECT_EQ(check.retired, (std::map<std::int64_t, std::int64_t>{{1, 4}}));
  EXPECT_EQ(check.noted->rows_behind, 2);
  EXPECT_EQ(places_after("DELETE FROM sample_block WHERE entry = 8"), (Places{"entry 8 samples"}));
  // Row 7 retires them: without it four rows miss theirs.
  EXPECT_EQ(places_after("UPDATE entry SET kind = 'machine' WHERE id = 7").size(), 2u + 5u);
}

TEST_F(CheckDatabase, refuses_what_is_no_database_of_ours) {
  write_file(folder_ / "b.db", "no database");
  EXPECT_EQ(error_of([&] { check_database(folder_ / "b.db"); }).exit_code(), ExitCode::refused);
  EXPECT_EQ(error_of([&] { check_database(folder_ / "none.db"); }).exit_code(), ExitCode::refused);
}

// Whoever knows the format makes all hashes right again: figures that others bear out remain.
class Forged : public CheckDatabase, public testing::WithParamInterface<Edit> {
 protected:
  std::vector<std::string> places_after_forging(const std::string& sql) {
    raw_sql(path_, sql);
    rehash(path_);
    return places(check_database(path_));
  }
};

TEST_P(Forged, is_found_by_what_follows_from_other_figures) {
  EXPECT_EQ(places_after_forging(GetParam().sql), GetParam().places);
}

const char* const edit_body_of_2 =
    "UPDATE entry SET body = replace(body, '\"duration_ns_median\":1000.25', "
    "'\"duration_ns_median\":500.125') WHERE id = 2";

INSTANTIATE_TEST_SUITE_P(
    Figures, Forged,
    testing::Values(
        Edit{"nothing", "UPDATE entry SET body = body", {}},
        Edit{"median", edit_body_of_2, {"entry 2 body"}},
        Edit{"interval",
             "UPDATE entry SET body = json_set(body, '$.duration_ns_interval[0]', 990.0) WHERE id "
             "= 2",
             {"entry 2 body"}},
        Edit{"least",
             "UPDATE entry SET body = json_set(body, '$.duration_ns_min', 1.0) WHERE id = 2",
             {"entry 2 body"}},
        Edit{"spread",
             "UPDATE entry SET body = json_set(body, '$.relative_iqr', 0.0) WHERE id = 2",
             {"entry 2 body"}},
        Edit{"one_sample",
             "UPDATE sample_block SET bytes = CAST(substr(bytes, 1, 16) || x'0000000000000000' || "
             "substr(bytes, 25) AS BLOB) WHERE entry = 2",
             {"entry 2 body", "entry 2 body", "entry 2 body", "entry 2 samples"}},
        Edit{"no_samples",
             "UPDATE sample_block SET bytes = zeroblob(16) WHERE entry = 2",
             {"entry 2 samples"}},
        Edit{"samples_that_are_not_named",
             "DELETE FROM sample_block WHERE entry = 2; UPDATE entry SET body = json_remove(body, "
             "'$.sample_block') WHERE id = 2",
             {"entry 2 samples"}},
        Edit{"case_of_another_kernel",
             "UPDATE entry SET key = 'gemm k=1 | | |' WHERE id = 2",
             {"entry 2 key"}},
        Edit{"run_of_a_whole_step",
             "UPDATE entry SET body = json_set(body, '$.measured_ns', 50.0) WHERE kind = "
             "'validation'",
             {"entry 6 body"}},
        Edit{"body_that_is_none", "UPDATE entry SET body = '{}' WHERE id = 2", {"entry 2 body"}}),
    [](const auto& info) { return std::string(info.param.name); });

// Six rounds of one kernel and a step of ten executions of it.
class CheckComposed : public testing::Test {
 protected:
  CheckComposed() {
    const Dtype f32 = Dtype::f32;
    const auto code = static_cast<std::int64_t>(f32);
    kernel_.problem = complete({"gemm",
                                {{"m", 4},
                                 {"n", 64},
                                 {"k", 32},
                                 {"src_dtype", code},
                                 {"wei_dtype", code},
                                 {"dst_dtype", code}}});
    for (int round = 0; round < 3; ++round) {
      Measurement m = measurement_around(1000.0 + 10 * round);
      m.kernel_case.problem = kernel_.problem;
      m.round = round;
      rows_.push_back(m);
    }
  }

  static Problem complete(const Problem& problem) { return complete_problem(problem); }

  // Median of 1000, 1010, 1020, and their range.
  Evaluation evaluation() const {
    const Work work = find_contract("gemm")->work(kernel_.problem.params);
    Evaluation e = full_evaluation();
    e.configuration.parallel = {};
    e.configuration.workload = {Phase::decode, 4, 1, 64};
    Estimate estimate;
    estimate.provenance = Provenance::measured;
    estimate.operators = {{.name = "ffn",
                           .count = 10,
                           .ns = 10100,
                           .low_ns = 10000,
                           .high_ns = 10200,
                           .flops = 10 * work.flops(),
                           .bytes = 10 * work.bytes(),
                           .provenance = Provenance::measured}};
    estimate.step_ns = 10100;
    estimate.low_ns = 10000;
    estimate.high_ns = 10200;
    estimate.tokens_per_s = 4 / 10100e-9;
    e.estimate = estimate;
    return e;
  }

  DatabaseCheck check_of(const Evaluation& e) {
    const std::string path = folder_ / ("a" + std::to_string(++files_) + ".db");
    {
      const auto store = open_store(path);
      const std::int64_t run = store->begin_run(run_info());
      store->append(run, rows_);
      store->append(run, e);
    }
    return check_database(path);
  }

  ScratchFolder folder_;
  KernelCase kernel_;
  std::vector<Measurement> rows_;
  int files_ = 0;
};

TEST_F(CheckComposed, finds_nothing_in_an_estimate_that_follows_from_its_rows) {
  EXPECT_TRUE(places(check_of(evaluation())).empty());
}

TEST_F(CheckComposed, a_step_must_be_the_sum_of_its_operators_and_give_its_throughput) {
  Evaluation e = evaluation();
  e.estimate->step_ns = 9000;
  EXPECT_EQ(places(check_of(e)), (Places{"entry 4 body", "entry 4 body"}));
  e.estimate->tokens_per_s = 4 / 9000e-9;
  EXPECT_EQ(places(check_of(e)), (Places{"entry 4 body"}));
  e = evaluation();
  e.estimate->high_ns = 10150;
  EXPECT_EQ(places(check_of(e)), (Places{"entry 4 body"}));
}

TEST_F(CheckComposed, an_operator_must_take_as_long_as_rows_of_its_work_say) {
  Evaluation e = evaluation();
  OperatorShare& ffn = e.estimate->operators[0];
  e.estimate->step_ns = ffn.ns = 5050;
  e.estimate->tokens_per_s = 4 / 5050e-9;
  EXPECT_EQ(places(check_of(e)), (Places{"entry 4 body"})) << "of no row";
  e = evaluation();
  e.estimate->operators[0].flops *= 2;
  EXPECT_EQ(places(check_of(e)), (Places{"entry 4 body"})) << "of another kernel";
  e.estimate->operators[0].provenance = e.estimate->provenance = Provenance::roofline;
  EXPECT_TRUE(places(check_of(e)).empty()) << "no row bears out what nobody measured";
}

TEST_F(CheckComposed, an_estimate_of_the_first_rounds_alone_follows_from_them) {
  Evaluation e = evaluation();
  OperatorShare& ffn = e.estimate->operators[0];
  e.estimate->step_ns = ffn.ns = 10050;
  e.estimate->low_ns = ffn.low_ns = 10000;
  e.estimate->high_ns = ffn.high_ns = 10100;
  e.estimate->tokens_per_s = 4 / 10050e-9;
  EXPECT_TRUE(places(check_of(e)).empty());
}

// Samples rewritten with all that follows from them agree with themselves: only a head that was
// noted elsewhere knows better.
TEST_F(CheckDatabase, a_consistent_forgery_of_samples_is_found_by_the_noted_head) {
  const std::string head = open_store_read_only(path_)->chain_head(1);
  {
    const auto store = open_store(folder_ / "b.db");
    store->begin_run(run_info());
    store->append(1, measurement_around(500.25));
    const std::string forged = "ATTACH '" + (folder_ / "b.db") +
                               "' AS b; UPDATE entry SET body = (SELECT body FROM b.entry) WHERE "
                               "id = 2; UPDATE sample_block SET bytes = (SELECT bytes FROM "
                               "b.sample_block) WHERE entry = 2";
    raw_sql(path_, forged);
    rehash(path_);
  }
  EXPECT_TRUE(places(check_database(path_)).empty());
  EXPECT_EQ(places(check_database(path_, NotedHead{head, 1})), (Places{"run 1 chain"}));
  EXPECT_EQ(places(check_database(path_, NotedHead{head, {}})), (Places{"run 0 chain"}));
}

TEST_F(CheckDatabase, a_noted_head_is_found_in_its_run_and_behind_it_rows_of_later) {
  const auto reader = open_store_read_only(path_);
  const std::string first = reader->chain_head(1), second = reader->chain_head(2);
  for (const auto& run : std::vector<std::optional<std::int64_t>>{std::nullopt, 2}) {
    const DatabaseCheck check = check_database(path_, NotedHead{second, run});
    EXPECT_TRUE(places(check).empty());
    ASSERT_TRUE(check.noted);
    EXPECT_EQ(check.noted->run, 2);
    EXPECT_EQ(check.noted->rows_behind, 0);
  }
  EXPECT_EQ(places(check_database(path_, NotedHead{second, 1})), (Places{"run 1 chain"}));
  open_store(path_)->append(1, numbered_measurement(7));
  const DatabaseCheck later = check_database(path_, NotedHead{first, {}});
  EXPECT_TRUE(places(later).empty());
  ASSERT_TRUE(later.noted);
  EXPECT_EQ(later.noted->run, 1);
  EXPECT_EQ(later.noted->rows_behind, 1);
}

TEST_F(CheckDatabase, rows_cut_off_behind_a_noted_head_are_found) {
  const std::string head = open_store_read_only(path_)->chain_head(1);
  raw_sql(path_, "DELETE FROM sample_block WHERE entry = 4; DELETE FROM entry WHERE id = 4");
  rehash(path_);
  EXPECT_TRUE(places(check_database(path_)).empty());
  EXPECT_EQ(places(check_database(path_, NotedHead{head, {}})).size(), 1u);
}

}  // namespace
}  // namespace halmark
