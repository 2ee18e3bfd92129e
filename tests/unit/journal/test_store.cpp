#include "journal/store.hpp"

#include <cmath>
#include <stdexcept>

#include "any_store.hpp"
#include "core/json/json.hpp"
#include "journal_fixture.hpp"
#include "tests/unit/error_of.hpp"

namespace halmark {
namespace {

using namespace test;

class StoreTest : public testing::Test {
 protected:
  ScratchFolder folder_;
  std::string path_ = folder_ / "a.db";
};

INSTANTIATE_TEST_SUITE_P(Places, AnyStore, testing::Values("sqlite", "postgresql"),
                         [](const auto& info) { return std::string(info.param); });

TEST_P(AnyStore, every_value_comes_back_after_reopening) {
  Measurement m = numbered_measurement(0xfedcba9876543210u, 5);
  m.samples[2].device_ns = 12.5;
  {
    const auto store = open_store(path_);
    const std::int64_t run = store->begin_run(run_info());
    store->append(run, m);
    store->append(run, full_evaluation());
    store->append(run, full_validation());
  }
  const auto store = open_store_read_only(path_);
  const std::int64_t run = store->latest_run().value();
  const auto measurements = store->run_measurements(run);
  ASSERT_EQ(measurements.size(), 1u);
  EXPECT_EQ(dump_json(Json(measurements[0])), dump_json(Json(m)));
  ASSERT_EQ(measurements[0].samples.size(), 5u);
  EXPECT_EQ(measurements[0].samples[2].device_ns, 12.5);
  EXPECT_EQ(measurements[0].samples[1].device_ns, std::nullopt);
  EXPECT_EQ(measurements[0].samples[4].wall_ns, m.samples[4].wall_ns);
  EXPECT_EQ(measurements[0].shard_wall_ns, m.shard_wall_ns);
  const auto evaluations = store->rows<Evaluation>(run);
  ASSERT_EQ(evaluations.size(), 1u);
  EXPECT_EQ(dump_json(Json(evaluations[0])), dump_json(Json(full_evaluation())));
  const auto validations = store->rows<Validation>(run);
  ASSERT_EQ(validations.size(), 1u);
  EXPECT_EQ(validations[0].operators.size(), 2u);
  EXPECT_EQ(validations[0].measured_ns, 110.25);
  EXPECT_TRUE(store->damaged().empty());
}

TEST_P(AnyStore, run_columns_come_back) {
  const auto store = open_store(path_);
  const RunInfo back = store->run_info(store->begin_run(run_info("77")));
  EXPECT_EQ(back.command, run_info().command);
  EXPECT_EQ(back.plan_hash, "77");
  EXPECT_EQ(back.plan_text, run_info().plan_text);
  EXPECT_EQ(back.fingerprint, run_info().fingerprint);
  EXPECT_EQ(back.tool_version, run_info().tool_version);
  EXPECT_EQ(back.tool_build, run_info().tool_build);
  EXPECT_EQ(back.started_utc, run_info().started_utc);
  EXPECT_EQ(error_of([&] { store->run_info(99); }).exit_code(), ExitCode::refused);
}

TEST_P(AnyStore, the_machine_of_a_run_and_the_latest_sweep_are_found) {
  const auto store = open_store(path_);
  EXPECT_EQ(store->latest_sweep(), std::nullopt);
  const std::int64_t sweep = store->begin_run(run_info("aa"));
  RunInfo of_kernels = run_info();
  of_kernels.plan_hash = of_kernels.plan_text = "";
  const std::int64_t kernels = store->begin_run(of_kernels);
  EXPECT_EQ(store->latest_sweep(), sweep);
  EXPECT_EQ(store->latest_run(), kernels);
  EXPECT_FALSE(store->machine(sweep));
  store->append(sweep, RunMachine{{"cpu: one", "memory: 2"}});
  EXPECT_EQ(store->machine(sweep)->lines, (std::vector<std::string>{"cpu: one", "memory: 2"}));
  EXPECT_FALSE(store->machine(kernels));
  EXPECT_FALSE(store->machine(sweep)->ends_night);
  store->append(sweep, RunMachine{{"cpu: one"}, "abcdef", true});
  EXPECT_EQ(store->machine(sweep)->build, "abcdef") << "the last one counts";
  EXPECT_TRUE(store->machine(sweep)->ends_night);
}

TEST_P(AnyStore, what_was_not_tried_comes_back_as_it_was) {
  const auto store = open_store(path_);
  const std::int64_t run = store->begin_run(run_info());
  EXPECT_TRUE(store->rows<Untried>(run).empty());
  const Untried prefill{.phase = Phase::prefill, .count = 1u << 20, .reason = "no peaks"};
  const Untried decode{.phase = Phase::decode,
                       .count = 3,
                       .could_enter = {{.configuration = {.model = "m", .parallel = {.tp = 2}},
                                        .step_ns = 1.5,
                                        .tokens_per_s = 2.5,
                                        .memory_bytes_total = 3,
                                        .probability = 0.25}}};
  store->append(run, decode);
  store->append(run, prefill);
  EXPECT_EQ(store->rows<Untried>(run), (std::vector<Untried>{decode, prefill}));
  EXPECT_TRUE(store->rows<Evaluation>(run).empty()) << "it is no trial";
}

TEST_P(AnyStore, duets_come_back_as_they_were) {
  const auto store = open_store(path_);
  const std::int64_t run = store->begin_run(run_info());
  Duet duet{.kernel_case = {},
            .plugin_name = "cpu",
            .old_build = "aa",
            .new_build = "bb",
            .log_ratios = {0.05, -0.01, 1.0 / 3},
            .choosing_pairs = 2,
            .old_ns = 1000,
            .new_ns = 1050.5};
  duet.kernel_case.problem = {"gemm", {{"m", 1}}};
  duet.kernel_case.backend = "cpu";
  store->append(run, duet);
  duet.status = Status::crashed;
  duet.reason = "the new build: gone";
  duet.log_ratios.clear();
  store->append(run, duet);
  const std::vector<Duet> back = open_store_read_only(path_)->rows<Duet>(run);
  ASSERT_EQ(back.size(), 2U);
  EXPECT_EQ(back[0].kernel_case, duet.kernel_case);
  EXPECT_EQ(back[0].old_build, "aa");
  EXPECT_EQ(back[0].new_build, "bb");
  EXPECT_EQ(back[0].log_ratios, (std::vector<double>{0.05, -0.01, 1.0 / 3}));
  EXPECT_EQ(back[0].choosing_pairs, 2);
  EXPECT_EQ(back[0].new_ns, 1050.5);
  EXPECT_EQ(back[1].status, Status::crashed);
  EXPECT_EQ(back[1].reason, duet.reason);
  EXPECT_TRUE(store->rows<Duet>(run + 1).empty());
}

TEST_P(AnyStore, a_run_is_found_by_plan_and_machine) {
  const auto store = open_store(path_);
  EXPECT_EQ(store->latest_run(), std::nullopt);
  const std::int64_t first = store->begin_run(run_info("aa"));
  const std::int64_t second = store->begin_run(run_info("aa"));
  const std::int64_t other = store->begin_run(run_info("bb"));
  EXPECT_LT(first, second);
  EXPECT_EQ(store->find_run("aa", "machine-1"), second) << "the latest one";
  EXPECT_EQ(store->find_run("bb", "machine-1"), other);
  EXPECT_EQ(store->find_run("aa", "machine-2"), std::nullopt);
  EXPECT_EQ(store->latest_run(), other);
}

TEST_P(AnyStore, rounds_of_a_case_are_found_over_runs_of_the_same_machine_only) {
  const auto store = open_store(path_);
  RunInfo elsewhere = run_info();
  elsewhere.fingerprint = "machine-2";
  const std::int64_t a = store->begin_run(run_info()), b = store->begin_run(run_info());
  const std::int64_t c = store->begin_run(elsewhere);
  store->append(a, numbered_measurement(1));
  store->append(c, numbered_measurement(2));
  store->append(b, numbered_measurement(3));
  Measurement another = numbered_measurement(4);
  another.kernel_case.sets = 9;
  store->append(a, another);
  const auto rounds = store->measurements(full_case().key(), "machine-1");
  ASSERT_EQ(rounds.size(), 2u);
  EXPECT_EQ(rounds[0].seed, 1u) << "oldest first";
  EXPECT_EQ(rounds[1].seed, 3u);
}

TEST_P(AnyStore, peaks_that_a_run_used_come_back_in_their_order_and_to_that_run_alone) {
  const auto store = open_store(path_);
  const auto run = store->begin_run({.plan_hash = "a"}),
             other = store->begin_run({.plan_hash = "b"});
  const UsedPeaks first{"id = \"cpu:0\"\nclock_hz = 3e9\n", 2}, refined{"id = \"cpu:0\"\n", 4};
  store->append(run, first);
  store->append(run, refined);
  EXPECT_EQ(store->rows<UsedPeaks>(run), (std::vector<UsedPeaks>{first, refined}));
  EXPECT_TRUE(store->rows<UsedPeaks>(other).empty());
  EXPECT_TRUE(store->damaged().empty());
}

TEST_P(AnyStore, several_rows_of_one_append_keep_their_order) {
  const auto store = open_store(path_);
  const std::int64_t run = store->begin_run(run_info());
  std::vector<Measurement> rows;
  for (std::uint64_t i = 1; i <= 64; ++i) rows.push_back(numbered_measurement(i));
  store->append(run, rows);
  store->append(run, std::vector<Measurement>{});
  const auto back = store->run_measurements(run);
  ASSERT_EQ(back.size(), 64u);
  for (std::uint64_t i = 0; i < 64; ++i) EXPECT_EQ(back[i].seed, i + 1);
}

TEST_P(AnyStore, a_row_with_a_number_that_is_not_finite_is_not_stored) {
  const auto store = open_store(path_);
  const std::int64_t run = store->begin_run(run_info());
  Measurement bad = numbered_measurement(1);
  bad.wall_s = std::nan("");
  const std::string head = store->chain_head(run);
  EXPECT_THROW(store->append(run, bad), std::logic_error);
  EXPECT_TRUE(store->run_measurements(run).empty());
  EXPECT_EQ(store->chain_head(run), head);
  store->append(run, numbered_measurement(2));
  EXPECT_EQ(store->run_measurements(run).size(), 1u);
}

TEST_F(StoreTest, the_chain_depends_on_every_row_and_on_their_order) {
  const auto head_of = [&](const std::string& name, std::vector<std::uint64_t> numbers) {
    const auto store = open_store(folder_ / name);
    const std::int64_t run = store->begin_run(run_info());
    for (const std::uint64_t n : numbers) store->append(run, numbered_measurement(n));
    return store->chain_head(run);
  };
  const std::string head = head_of("1.db", {1, 2});
  EXPECT_EQ(head.size(), 64u);
  EXPECT_EQ(head_of("2.db", {1, 2}), head);
  EXPECT_NE(head_of("3.db", {2, 1}), head);
  EXPECT_NE(head_of("4.db", {1}), head);
}

TEST_P(AnyStore, readers_see_rows_while_the_writer_goes_on) {
  const auto writer = open_store(path_);
  const std::int64_t run = writer->begin_run(run_info());
  writer->append(run, numbered_measurement(1));
  const auto reader = open_store_read_only(path_);
  EXPECT_EQ(reader->run_measurements(run).size(), 1u);
  writer->append(run, numbered_measurement(2));
  EXPECT_EQ(reader->run_measurements(run).size(), 2u);
  EXPECT_EQ(reader->chain_head(run), writer->chain_head(run));
}

TEST_F(StoreTest, only_measurements_have_a_block_of_samples) {
  {
    const auto store = open_store(path_);
    const std::int64_t run = store->begin_run(run_info());
    store->append(run, numbered_measurement(1));
    store->append(run, numbered_measurement(2, 0));
    store->append(run, full_evaluation());
    store->append(run, full_validation());
    store->append(run, winner_of({numbered_measurement(1), numbered_measurement(3)}));
    store->append(run, UsedPeaks{"id = \"cpu:0\"\n", 2});
  }
  raw_sql(path_,
          // Fails where a row breaks it.
          "CREATE TEMP TABLE t(x CHECK (x)); INSERT INTO t SELECT (id = 1) = (id IN (SELECT entry "
          "FROM sample_block)) AND samples IS NULL FROM entry");
  const auto store = open_store_read_only(path_);
  EXPECT_EQ(store->run_measurements(1).size(), 2u);
  EXPECT_EQ(store->rows<Winner>(1).size(), 1u);
  EXPECT_EQ(store->runs_with_winners("machine-1"), std::vector<std::int64_t>{1});
  EXPECT_TRUE(store->runs_with_winners("machine-2").empty());
}

TEST_P(AnyStore, a_reader_cannot_write) {
  make_database(path_, 1);
  const auto reader = open_store_read_only(path_);
  const Error error = error_of([&] { reader->append(1, numbered_measurement(2)); });
  EXPECT_EQ(error.exit_code(), ExitCode::error);
  EXPECT_EQ(error.where(), path_);
  EXPECT_EQ(reader->run_measurements(1).size(), 1u);
}

TEST_P(AnyStore, a_row_of_a_run_that_does_not_exist_is_an_error) {
  const auto store = open_store(path_);
  EXPECT_EQ(error_of([&] { store->append(99, numbered_measurement(1)); }).exit_code(),
            ExitCode::error);
}

}  // namespace
}  // namespace halmark
