// What a history asks of all runs at once: figures, cases, runs and sizes, wherever the rows are.
#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>

#include "any_store.hpp"
#include "core/numeric/cast.hpp"
#include "journal/check.hpp"
#include "journal/samples/retention.hpp"
#include "journal/shared_store.hpp"
#include "journal_fixture.hpp"
#include "tests/unit/error_of.hpp"

namespace halmark {
namespace {

using namespace test;
using testing::ElementsAre;

class StoredRows : public AnyStore {
 protected:
  void SetUp() override {
    AnyStore::SetUp();
    if (!IsSkipped()) store_ = open_store(path_);
  }
  std::int64_t begun(const std::string& fingerprint, const std::string& plan_text = "p") {
    RunInfo info = run_info();
    info.fingerprint = fingerprint;
    info.plan_text = plan_text;
    return store_->begin_run(info);
  }
  static Measurement of_sets(int sets, std::uint64_t seed, double ns = 1000.25) {
    Measurement m = numbered_measurement(seed);
    m.kernel_case.sets = sets;
    m.duration_ns_median = ns;
    return m;
  }

  std::unique_ptr<Store> store_;
};
INSTANTIATE_TEST_SUITE_P(Places, StoredRows, testing::Values("sqlite", "postgresql"),
                         [](const auto& info) { return std::string(info.param); });

TEST_P(StoredRows, figures_of_a_case_are_the_latest_ones_with_the_oldest_first) {
  const std::int64_t a = begun("machine-1"), b = begun("machine-2");
  for (int i = 1; i <= 3; ++i) store_->append(i == 2 ? b : a, of_sets(4, 1, 100 * i));
  store_->append(a, of_sets(5, 1, 999));
  const std::string key = of_sets(4, 1).kernel_case.key();
  const auto medians = [&](std::size_t count) {
    std::vector<double> out;
    for (const RowFigures& f : store_->case_figures(key, count)) {
      EXPECT_EQ(f.key, key);
      EXPECT_EQ(f.run, f.row.duration_ns_median == 200 ? b : a);
      out.push_back(f.row.duration_ns_median);
    }
    return out;
  };
  EXPECT_THAT(medians(9), ElementsAre(100, 200, 300));
  EXPECT_THAT(medians(2), ElementsAre(200, 300));
  EXPECT_THAT(medians(1), ElementsAre(300));
  EXPECT_THAT(medians(0), ElementsAre());
  EXPECT_EQ(store_->run_figures(a).size(), 3u);
  EXPECT_EQ(store_->run_figures(b).size(), 1u);
}

TEST_P(StoredRows, measured_cases_are_each_key_once_in_order) {
  const std::int64_t run = begun("machine-1");
  Measurement wide = of_sets(4, 1);
  wide.kernel_case.problem.params.set("m", 8);
  for (const Measurement& m : {wide, of_sets(7, 1), of_sets(4, 1), of_sets(7, 2)}) {
    store_->append(run, m);
  }
  store_->append(run, full_evaluation());
  const std::string four = of_sets(4, 1).kernel_case.key(), seven = of_sets(7, 1).kernel_case.key();
  EXPECT_THAT(store_->measured_cases("gemm"), ElementsAre(four, seven, wide.kernel_case.key()));
  EXPECT_EQ(store_->measured_cases("").size(), 3u);
  EXPECT_THAT(store_->measured_cases("gemm k=1024 m=4"), ElementsAre(four, seven));
  EXPECT_TRUE(store_->measured_cases("softmax").empty());
  EXPECT_TRUE(store_->measured_cases("a").empty());
}

TEST_P(StoredRows, latest_runs_are_those_of_one_machine_or_of_all) {
  const std::int64_t a = begun("machine-1"), b = begun("machine-2"), c = begun("machine-1");
  EXPECT_THAT(store_->latest_runs(9), ElementsAre(a, b, c));
  EXPECT_THAT(store_->latest_runs(3), ElementsAre(a, b, c));
  EXPECT_THAT(store_->latest_runs(2), ElementsAre(b, c));
  EXPECT_THAT(store_->latest_runs(2, "machine-1"), ElementsAre(a, c));
  EXPECT_THAT(store_->latest_runs(1, "machine-1"), ElementsAre(c));
  EXPECT_THAT(store_->latest_runs(0), ElementsAre());
  EXPECT_THAT(store_->latest_runs(9, "machine-3"), ElementsAre());
}

TEST_P(StoredRows, runs_with_winners_are_those_of_the_machine_that_hold_one) {
  const std::int64_t a = begun("machine-1"), b = begun("machine-2"), c = begun("machine-1");
  const std::vector<Measurement> rounds(3, numbered_measurement(1));
  for (const std::int64_t run : {a, b}) store_->append(run, winner_of(rounds));
  store_->append(c, rounds);
  EXPECT_THAT(store_->runs_with_winners("machine-1"), ElementsAre(a));
  EXPECT_THAT(store_->runs_with_winners("machine-2"), ElementsAre(b));
  EXPECT_EQ(store_->rows<Winner>(a).size(), 1u);
  EXPECT_TRUE(store_->rows<Winner>(c).empty());
}

// Two counts, four numbers a sample, two shards with a count each: 8 * (2 + 4 n + 2 * (1 + n)).
TEST_P(StoredRows, samples_and_sizes_are_counted_by_run) {
  const std::int64_t a = begun("machine-1"), b = begun("machine-1"), c = begun("machine-1");
  store_->append(a, numbered_measurement(1, 3));
  store_->append(a, numbered_measurement(2, 10));
  store_->append(b, numbered_measurement(3, 0));
  store_->append(c, numbered_measurement(4, 3));
  const std::vector<RunSamples> samples = store_->samples_by_run();
  ASSERT_EQ(samples.size(), 2u);
  EXPECT_EQ(samples[0].run, a);
  EXPECT_EQ(samples[0].rows, 2);
  EXPECT_EQ(samples[0].bytes, 8 * ((2 + 12 + 8) + (2 + 40 + 22)));
  EXPECT_EQ(samples[1].run, c);
  EXPECT_EQ(samples[1].rows, 1);
  EXPECT_EQ(samples[1].bytes, 8 * (2 + 12 + 8));
  const DatabaseSize size = store_->size();
  EXPECT_EQ(size.rows, 4);
  EXPECT_GT(size.bytes, 8 * 100);
  const RetiredSamples planned = samples_to_retire(*store_, {.keep_runs = 1});
  EXPECT_EQ(planned.rows_with_samples, 3);
  EXPECT_EQ(planned.sample_bytes, 8 * (22 + 64 + 22));
  ASSERT_EQ(planned.runs.size(), 1u);
  EXPECT_EQ(planned.runs[0].run, a);
  EXPECT_EQ(planned.before.rows, 4);
  EXPECT_EQ(planned.after.rows, 4);
  EXPECT_EQ(planned.after.bytes, planned.before.bytes);
  const RetiredSamples done = retire_samples(*store_, {.keep_runs = 1, .text = "by hand"});
  EXPECT_EQ(done.before.rows, 4);
  EXPECT_EQ(done.after.rows, 5) << "one row says so";
  const RunSamples again = store_->retire_samples(a, "by hand");
  EXPECT_EQ(again.rows, 0);
  EXPECT_EQ(again.bytes, 0);
  EXPECT_EQ(store_->size().rows, 5) << "nothing more was there to retire";
}

TEST_P(StoredRows, a_checker_sees_every_row_with_what_lies_beside_it) {
  const std::int64_t a = begun("machine-1"), b = begun("machine-1");
  store_->append(b, numbered_measurement(1));
  store_->append(a, full_evaluation());
  store_->append(a, numbered_measurement(2));
  const auto snapshot = open_snapshot(path_);
  std::vector<std::string> seen;
  std::size_t with_block = 0;
  snapshot->in_one_state([&] {
    const StoredDatabase database = snapshot->read();
    ASSERT_EQ(database.runs.size(), 2u);
    EXPECT_EQ(database.runs[0].id, a);
    EXPECT_TRUE(database.runs[0].has_checksum);
    EXPECT_EQ(database.runs[0].fault, "");
    EXPECT_EQ(database.runs[0].chains.size(), 1u);
    EXPECT_TRUE(database.integrity.empty());
    EXPECT_TRUE(database.orphans.empty());
    EXPECT_TRUE(database.foreign_parts.empty());
    snapshot->for_each_entry([&](const StoredEntry& entry) {
      seen.push_back(std::to_string(entry.run) + ' ' + entry.kind);
      EXPECT_FALSE(entry.key.empty());
      EXPECT_FALSE(entry.bytes.empty());
      EXPECT_EQ(entry.chain.size(), 64u);
      with_block += entry.block ? 1 : 0;
    });
  });
  EXPECT_THAT(seen,
              ElementsAre(std::to_string(a) + " evaluation", std::to_string(a) + " measurement",
                          std::to_string(b) + " measurement"));
  EXPECT_EQ(with_block, 2u);
}

TEST_P(StoredRows, readers_write_nothing_at_all) {
  const std::int64_t run = begun("machine-1");
  const auto reader = open_store_read_only(path_);
  EXPECT_THROW(reader->begin_run(run_info()), Error);
  EXPECT_THROW(reader->retire_samples(run, "now"), Error);
  EXPECT_THROW(reader->append(run, full_evaluation()), Error);
  EXPECT_THAT(store_->latest_runs(9), ElementsAre(run));
}

TEST_P(StoredRows, the_parts_of_a_run_that_it_has_not_are_empty) {
  const std::int64_t run = begun("machine-1");
  store_->append(run, UsedPeaks{"id = \"cuda:0\"\n", 2, {"cuda:0"}});
  EXPECT_THAT(store_->rows<UsedPeaks>(run).at(0).devices, ElementsAre("cuda:0"));
  store_->append(run, RunMachine{{"cpu: one"}});
  EXPECT_EQ(store_->machine(run)->build, "");
  EXPECT_FALSE(store_->machine(run)->ends_night);
  EXPECT_TRUE(store_->rows<Duet>(run).empty());
  EXPECT_TRUE(store_->rows<Evaluation>(run).empty());
  EXPECT_TRUE(store_->rows<Validation>(run).empty());
  EXPECT_TRUE(store_->rows<Winner>(run).empty());
  EXPECT_TRUE(store_->run_figures(run).empty());
}

// The pages of the file, at 16 KiB each; one twentieth of it free is worth the while.
TEST(SizeOfAFile, is_its_pages_in_use_and_free_ones) {
  const ScratchFolder folder;
  const std::string path = folder / "a.db";
  {
    const auto store = open_store(path);
    const std::int64_t run = store->begin_run(run_info());
    store->append(run, std::vector<Measurement>(40, numbered_measurement(1, 400)));
    store->begin_run(run_info("next"));
  }
  const auto bytes = static_cast<std::int64_t>(std::filesystem::file_size(path));
  {
    const auto store = open_store(path);
    EXPECT_EQ(store->size().bytes, bytes);
    EXPECT_EQ(store->size().free_bytes, 0);
    RetiredSamples none;
    EXPECT_EQ(give_space_back(*store, none), "");
    EXPECT_EQ(none.after.bytes, 0) << "nothing is free, nothing is done";
    RetiredSamples done = retire_samples(*store, {.keep_runs = 1, .text = "now"});
    EXPECT_EQ(done.after.bytes % 16384, 0);
    EXPECT_EQ(done.after.free_bytes % 16384, 0);
    EXPECT_EQ(done.after.bytes + done.after.free_bytes, bytes);
    EXPECT_GT(done.after.free_bytes, bytes / 2) << "40 blocks of 19 KiB";
  }
}

// Of 200 rows the samples of some are retired: below a twentieth of the file free, and above it.
TEST(SizeOfAFile, shrinks_from_a_twentieth_on) {
  for (const int retired : {5, 30}) {
    const ScratchFolder folder;
    const auto store = open_store(folder / "a.db");
    const std::int64_t first = store->begin_run(run_info("first"));
    store->append(first, std::vector<Measurement>(as_size(retired), numbered_measurement(1, 400)));
    const std::int64_t second = store->begin_run(run_info("second"));
    store->append(second,
                  std::vector<Measurement>(as_size(200 - retired), numbered_measurement(1, 400)));
    RetiredSamples done = retire_samples(*store, {.keep_runs = 1, .text = "now"});
    const DatabaseSize before = done.after;
    const double share = as_double(before.free_bytes) / as_double(before.bytes + before.free_bytes);
    EXPECT_EQ(share >= 0.05, retired == 30) << share;
    EXPECT_EQ(give_space_back(*store, done), "");
    EXPECT_EQ(done.after.free_bytes < before.free_bytes, retired == 30);
  }
}

TEST(StorageDescription, names_the_library_and_the_node_names_the_process) {
  EXPECT_THAT(storage_description(), testing::MatchesRegex("SQLite 3[.][0-9.]+"));
  EXPECT_THAT(this_node(), testing::EndsWith(" pid " + std::to_string(getpid())));
  EXPECT_GT(this_node().find(" pid "), 0u);
}

}  // namespace
}  // namespace halmark
