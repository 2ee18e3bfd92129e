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

}  // namespace
}  // namespace halmark
