// Sides of a comparison by the words that name them: known devices, databases, tables.
#include "tests/unit/expect.hpp"
#include "tune/sources/device_sides.hpp"

#include <gmock/gmock.h>

#include <fstream>

#include "journal/store.hpp"
#include "kernels/contract.hpp"
#include "latency/sides/side_kernels.hpp"
#include "tests/checkout.hpp"
#include "tests/unit/scratch_folder.hpp"

namespace halmark::tune {
namespace {

using halmark::test::error_of;
using halmark::test::expect_error;
using testing::HasSubstr;

const Folders devices{halmark::test::in_source("/configs/devices")};

std::vector<DeviceSide> sides(SideChoice choice) { return device_sides(choice, devices); }

KernelCase gemm(std::int64_t m, const std::string& device = "0") {
  const auto bf16 = static_cast<std::int64_t>(Dtype::bf16);
  KernelCase out;
  out.problem = complete_problem({"gemm",
                                  {{"m", m},
                                   {"n", 1024},
                                   {"k", 1024},
                                   {"src_dtype", bf16},
                                   {"wei_dtype", bf16},
                                   {"dst_dtype", bf16}}});
  out.backend = "cpu";
  out.device = device;
  out.mode = CacheMode::rotate_const;
  out.sets = 1000;
  return out;
}

Measurement row(const KernelCase& kernel_case, double ns) {
  Measurement out;
  out.kernel_case = kernel_case;
  out.status = Status::ok;
  out.samples.push_back({.wall_ns = ns});
  out.duration_ns_median = ns;
  out.duration_ns_interval = {ns * 0.99, ns * 1.01};
  return out;
}

class DeviceSides : public testing::Test {
 protected:
  DeviceSides() { store_ = open_store(path_); }
  std::int64_t run(const std::string& fingerprint, const std::vector<Measurement>& rows) {
    const std::int64_t out = store_->begin_run({.command = "halmark bench",
                                                .fingerprint = fingerprint,
                                                .tool_version = "0.1",
                                                .tool_build = "b",
                                                .started_utc = "2026-01-02T03:04:05Z"});
    for (const Measurement& m : rows) store_->append(out, m);
    return out;
  }

  test::ScratchFolder folder_;
  std::string path_ = (folder_.path() / "results.db").string();
  std::unique_ptr<Store> store_;
};

TEST(KnownSides, have_the_bounds_of_plain_gemms_where_nothing_else_is_named) {
  const auto found = sides({.names = {"h100-sxm", "a100"}, .prices = {"a100=1.5"}});
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].device, "h100-sxm");
  EXPECT_EQ(found[0].basis, TimeBasis::bound);
  EXPECT_TRUE(found[0].power_w);
  EXPECT_EQ(found[1].usd_per_hour, 1.5);
  for (const DeviceSide& side : found) {
    ASSERT_FALSE(side.kernels.empty());
    for (const DeviceKernel& k : side.kernels) {
      EXPECT_EQ(k.problem.op, "gemm");
      EXPECT_EQ(k.ns, k.least.bound_ns());
    }
    EXPECT_THAT(side.lines, testing::Contains(HasSubstr("no measurement")));
  }
  // An A100 multiplies no fp8; an H100 every type that is asked for.
  EXPECT_EQ(found[0].kernels.size(), 3u * 15 * 2);
  EXPECT_EQ(found[1].kernels.size(), 2u * 15 * 2);
  EXPECT_EQ(sides({.names = {"h100-sxm"}, .op = "gemm"})[0].kernels.size(), 3u * 15 * 2);
}

TEST(KnownSides, what_is_none_is_refused_with_what_is_near) {
  const auto refusal = [](SideChoice choice) { return error_of([&] { sides(choice); }); };
  EXPECT_THAT(refusal({.names = {"h100-sxn"}}).what(),
              HasSubstr("no such file and no such device"));
  EXPECT_THAT(refusal({.names = {"h100-sxn"}}).line(), HasSubstr("h100-sxm"));
  EXPECT_THAT(refusal({.names = {"nowhere.db=h100-sxm"}}).what(), HasSubstr("no such file"));
  EXPECT_THAT(refusal({.names = {"h100-sxm"}, .prices = {"a100=2"}}).what(),
              HasSubstr("no side is of 'a100'"));
  EXPECT_THAT(refusal({.names = {"h100-sxm"}, .op = "attention"}).what(),
              HasSubstr("no side has kernels of 'attention'"));
}

TEST_F(DeviceSides, a_database_has_the_newest_rows_of_the_machine_that_measured_last) {
  run("machine", {row(gemm(1), 9e6), row(gemm(2), 8e6)});
  run("elsewhere", {row(gemm(3), 7e6)});
  run("machine", {row(gemm(1), 6e6), row(gemm(4, "1"), 5e6)});
  store_.reset();
  const auto found = sides({.names = {path_}});
  ASSERT_EQ(found.size(), 1u);
  const DeviceSide& side = found[0];
  EXPECT_EQ(side.basis, TimeBasis::measured);
  EXPECT_EQ(side.device, "") << "nobody said of which device";
  ASSERT_EQ(side.kernels.size(), 2u);
  EXPECT_EQ(side.kernels[0].ns, 6e6) << "of the newest run that has it";
  EXPECT_EQ(side.kernels[1].ns, 8e6);
  EXPECT_THAT(side.left_out,
              testing::UnorderedElementsAre(
                  testing::Pair("of another machine, elsewhere", 1),
                  testing::Pair("of an earlier run than the newest of its kernel", 1),
                  testing::Pair("of cpu:1, not cpu:0", 1)));
  EXPECT_THAT(side.lines.front(), HasSubstr("cpu:0 of machine, 2 runs"));
}

TEST_F(DeviceSides, one_run_of_a_database_may_be_named_and_its_device_too) {
  const std::int64_t first = run("machine", {row(gemm(1), 9e6)});
  run("machine", {row(gemm(1), 6e6)});
  store_.reset();
  const auto old = sides({.names = {path_ + ':' + std::to_string(first)}});
  ASSERT_EQ(old[0].kernels.size(), 1u);
  EXPECT_EQ(old[0].kernels[0].ns, 9e6);
  EXPECT_THAT(old[0].lines.front(), HasSubstr("1 run"));
  const auto both = sides({.names = {path_ + "=h100-sxm", "a100"}});
  EXPECT_EQ(both[0].device, "h100-sxm");
  EXPECT_GT(both[0].kernels[0].peak_ns, 0);
  ASSERT_EQ(both[1].kernels.size(), 1u) << "the bounds of the other side's problems";
  EXPECT_EQ(both[1].kernels[0].problem, both[0].kernels[0].problem);
}

TEST_F(DeviceSides, a_database_without_rows_says_so) {
  run("machine", {});
  store_.reset();
  expect_error([&] { sides({.names = {path_}}); }, "no rows of kernels");
}

TEST_F(DeviceSides, a_table_is_of_the_device_that_it_or_the_command_names) {
  const std::string table = (folder_.path() / "t.csv").string();
  std::ofstream(table) << "gemm_dtype,m,n,k,latency\nbfloat16,1,1024,1024,0.5\n"
                          "bfloat16,1,1024,1024,0.25\n";
  expect_error([&] { sides({.names = {table}}); }, "does not say of which device");
  const auto found = sides({.names = {table + "=a100"}, .prices = {table + "=a100=3"}});
  EXPECT_EQ(found[0].basis, TimeBasis::imported);
  EXPECT_EQ(found[0].device, "a100");
  EXPECT_EQ(found[0].usd_per_hour, 3);
  ASSERT_EQ(found[0].kernels.size(), 1u);
  EXPECT_EQ(found[0].kernels[0].problem.op, "gemm");
}

}  // namespace
}  // namespace halmark::tune
