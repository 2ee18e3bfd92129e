// Which runs are this machine's: by fingerprint, and under an earlier one by what their rows say.
#include "journal/run_identity.hpp"

#include <gtest/gtest.h>

#include "journal_fixture.hpp"

namespace halmark {
namespace {

Measurement row(int parts, const std::string& affinity) {
  Measurement out;
  out.kernel_case.problem = {"gemm", {{"m", 1}}};
  out.kernel_case.parts = parts;
  out.status = Status::ok;
  if (!affinity.empty()) out.environment = "affinity=" + affinity + " OMP_NUM_THREADS=1";
  return out;
}

class RunIdentity : public testing::Test {
 protected:
  std::int64_t begun(const std::string& fingerprint, const std::vector<Measurement>& rows) {
    RunInfo info = test::run_info();
    info.fingerprint = fingerprint;
    const std::int64_t run = store_->begin_run(info);
    for (const Measurement& m : rows) store_->append(run, m);
    return run;
  }
  bool is_ours(std::int64_t run) const { return is_run_of(*store_, run, here_); }

  test::ScratchFolder folder_;
  std::unique_ptr<Store> store_ = open_store(folder_ / "a.db");
  MachineIdentity here_{.fingerprint = "cpu-new@host",
                        .earlier = {.fingerprint = "cpu-old", .affinity = {{1, "0-1"}, {2, "0"}}}};
};

TEST_F(RunIdentity, a_run_of_one_core_is_none_of_two) {
  EXPECT_TRUE(is_ours(begun("cpu-new@host", {})));
  EXPECT_FALSE(is_ours(begun("cpu-one@host", {row(1, "0")})));
  EXPECT_TRUE(is_ours(begun("cpu-old", {row(1, "0-1"), row(2, "0"), row(1, "")})));
  EXPECT_FALSE(is_ours(begun("cpu-old", {row(1, "0")})));
  EXPECT_FALSE(is_ours(begun("cpu-old", {row(1, "0-1"), row(1, "1")})));
  EXPECT_FALSE(is_ours(begun("cpu-old", {row(2, "0")}))) << "one core of how many?";
  EXPECT_FALSE(is_ours(begun("cpu-old", {row(1, "")}))) << "nothing is said, nothing is proven";
  EXPECT_FALSE(is_ours(begun("cpu-older", {row(1, "0-1")})));
}

TEST_F(RunIdentity, a_plan_goes_on_only_where_its_run_is_proven) {
  const std::int64_t old = begun("cpu-old", {row(1, "0")});
  EXPECT_FALSE(find_run(*store_, test::run_info().plan_hash, here_));
  store_->append(old, row(1, "0-1"));
  EXPECT_FALSE(find_run(*store_, test::run_info().plan_hash, here_)) << "a mixture";
  const std::int64_t whole = begun("cpu-old", {row(1, "0-1")});
  EXPECT_EQ(find_run(*store_, test::run_info().plan_hash, here_), whole);
  const std::int64_t ours = begun("cpu-new@host", {});
  EXPECT_EQ(find_run(*store_, test::run_info().plan_hash, here_), ours);
}

TEST_F(RunIdentity, a_device_file_of_two_cores_takes_no_rows_of_one) {
  Device device;
  device.fingerprint = "cpu-old";
  device.peaks.push_back({.path = "f32", .threads = 2, .flops_per_s = 1});
  const auto are = [&](const std::vector<Measurement>& rows) {
    return are_rows_of(device, "cpu-old", rows);
  };
  EXPECT_TRUE(are({row(1, "0-1"), row(2, "0")}));
  EXPECT_TRUE(are({row(1, "4,6")})) << "which cores does not matter";
  EXPECT_FALSE(are({row(1, "0")}));
  EXPECT_FALSE(are({row(1, "")}));
  EXPECT_FALSE(are({row(1, "0-x")}));
  EXPECT_FALSE(are_rows_of(device, "cpu-other", std::vector{row(1, "0-1")}));
  device.fingerprint = "cpu-new@host";
  EXPECT_TRUE(are_rows_of(device, "cpu-new@host", {})) << "this one says it all";
}

TEST_F(RunIdentity, runs_with_winners_are_those_under_both_fingerprints_in_order) {
  const std::vector<Measurement> rounds(3, test::numbered_measurement(1));
  const auto with_winner = [&](const std::string& fingerprint, std::vector<Measurement> rows) {
    const std::int64_t run = begun(fingerprint, rows);
    store_->append(run, test::winner_of(rounds));
    return run;
  };
  const std::int64_t first = with_winner("cpu-old", {row(1, "0-1")}),
                     ours = with_winner("cpu-new@host", {}),
                     last = with_winner("cpu-old", {row(1, "0-1")});
  with_winner("cpu-old", {row(1, "0")});
  with_winner("cpu-other", {row(1, "0-1")});
  begun("cpu-new@host", {row(1, "0-1")});
  EXPECT_EQ(runs_with_winners(*store_, here_), (std::vector{first, ours, last}));
  here_.earlier.fingerprint = here_.fingerprint;
  EXPECT_EQ(runs_with_winners(*store_, here_), std::vector{ours}) << "each run once";
  here_.earlier.fingerprint = "";
  EXPECT_EQ(runs_with_winners(*store_, here_), std::vector{ours});
}

TEST_F(RunIdentity, without_an_earlier_fingerprint_only_the_present_one_counts) {
  here_.earlier.fingerprint = "";
  EXPECT_FALSE(is_ours(begun("", {row(1, "0-1")})));
  EXPECT_FALSE(find_run(*store_, test::run_info().plan_hash, here_));
  const std::int64_t ours = begun("cpu-new@host", {});
  EXPECT_EQ(find_run(*store_, test::run_info().plan_hash, here_), ours);
}

TEST_F(RunIdentity, a_kernel_on_parts_of_which_nothing_is_known_here_proves_nothing) {
  EXPECT_FALSE(is_ours(begun("cpu-old", {row(1, "0-1"), row(3, "0")})));
}

TEST(AffinityOf, a_row_is_the_list_at_the_head_of_its_environment) {
  Measurement m;
  const auto of = [&](const char* environment) {
    m.environment = environment;
    return affinity_of(m);
  };
  EXPECT_EQ(of("affinity=0-3,8 OMP_NUM_THREADS=1"), "0-3,8");
  EXPECT_EQ(of("affinity=5"), "5");
  EXPECT_EQ(of("affinity= OMP_NUM_THREADS=1"), "");
  EXPECT_EQ(of("OMP_NUM_THREADS=1 affinity=5"), "");
  EXPECT_EQ(of(""), "");
}

// A device of `threads` CPUs, by its bandwidths where no peak says so.
bool is_on(int threads, const std::string& affinity, int parts = 1) {
  Device device;
  device.fingerprint = "cpu-old";
  device.peaks.push_back({.path = "f32", .threads = 1, .flops_per_s = 1});
  device.bandwidths.push_back({.level = "memory", .threads = threads});
  device.bandwidths.push_back({.level = "l1", .threads = 1});
  return are_rows_of(device, "cpu-old", std::vector{row(parts, affinity)});
}

// "0-3,8" are 5 CPUs, "1-3,5,8-9" are 3 + 1 + 2.
TEST(AffinityOf, a_row_counts_the_cpus_of_every_range) {
  EXPECT_TRUE(is_on(5, "0-3,8"));
  EXPECT_FALSE(is_on(4, "0-3,8"));
  EXPECT_TRUE(is_on(6, "1-3,5,8-9"));
  EXPECT_TRUE(is_on(1, "7"));
  EXPECT_TRUE(is_on(1, "7-7"));
  EXPECT_TRUE(is_on(2, "10,12"));
}

TEST(AffinityOf, what_is_no_list_of_cpus_counts_none) {
  for (const char* text : {"x", "3-1", "0-", "0-x", "0;1", "0,x", "1x"}) {
    for (int threads = 1; threads <= 4; ++threads) EXPECT_FALSE(is_on(threads, text)) << text;
  }
}

// Of 8 CPUs in 2 parts each has 4, in 3 parts 2 whole ones; a part has one at least.
TEST(AffinityOf, a_part_has_its_share_of_the_cpus) {
  EXPECT_TRUE(is_on(8, "0-3", 2));
  EXPECT_FALSE(is_on(8, "0-7", 2));
  EXPECT_TRUE(is_on(8, "0-1", 3));
  EXPECT_TRUE(is_on(2, "0", 4));
  EXPECT_TRUE(is_on(2, "0-1", 0)) << "a row that names no parts has all";
}

TEST(AffinityOf, only_machines_of_cpus_had_a_fingerprint_that_does_not_say_it) {
  Device device;
  device.fingerprint = "gpu-old";
  EXPECT_TRUE(are_rows_of(device, "gpu-old", {}));
  device.fingerprint = "cpu-old";
  EXPECT_FALSE(are_rows_of(device, "cpu-old", {}));
}

}  // namespace
}  // namespace halmark
