// Tables of kernels whose times follow a law: written, read as every command reads them, and asked
// for shapes that they do not have.
#include "onboard/fit.hpp"

#include <gmock/gmock.h>

#include "../scratch_folder.hpp"
#include "problems.hpp"

namespace halmark::onboard {
namespace {

using namespace onboard_test;
using testing::ElementsAre;
using testing::HasSubstr;

// A launch, and 70 % of the peak of what binds; 1 % of noise.
double law_ns(const Problem& problem) {
  const Work work = find_contract("gemm")->work(problem.params);
  const double busy_ns = std::max(work.flops() / 1e13, work.bytes() / 1e11) * 1e9 / 0.7;
  return (5000 + busy_ns) * (1 + 0.01 * std::sin(busy_ns));
}

std::vector<LatencyPoint> measured_points() {
  std::vector<LatencyPoint> out;
  for (const std::int64_t n : {1024, 2048, 4096, 8192, 16384}) {
    for (const std::int64_t k : {1024, 4096, 12288}) {
      for (const std::int64_t m : {1, 4, 16, 64, 256, 1024}) {
        const Problem problem = gemm(m, n, k);
        out.push_back({problem, law_ns(problem)});
      }
    }
  }
  return out;
}

std::vector<HeldKernel> held_kernels() {
  std::vector<HeldKernel> out;
  for (const std::int64_t n : {1536, 5120, 11008}) {
    for (const std::int64_t m : {2, 32, 384}) {
      const Problem problem = gemm(m, n, 2560);
      out.push_back({.family = "gemm f32", .problem = problem, .measured_ns = law_ns(problem)});
    }
  }
  return out;
}

TEST(Fit, shapes_that_were_kept_back_are_predicted_from_the_written_tables) {
  const test::ScratchFolder folder;
  QuarantinedTimes too_fast;
  const auto kinds = fitted(measured_points(), {}, device(), too_fast);
  ASSERT_EQ(kinds.size(), 1u);
  EXPECT_EQ(too_fast.kernels, 0u);
  EXPECT_EQ(kinds[0].kind.name, "op_gemm");
  const Tables made = tables(kinds, {.id = "mine",
                                     .backend = "fake",
                                     .release = "1",
                                     .file = "fake-1.parquet",
                                     .source = "a test"});
  test::write_file(folder / "fake-1.parquet", made.parquet);
  test::write_file(folder / "manifest.toml", made.manifest);
  const auto files = forecast_files({folder.path()}, "mine");
  ASSERT_EQ(files.size(), 1u);
  EXPECT_EQ(files[0].kinds[0].rows, 90u);
  std::vector<HeldKernel> held = held_kernels();
  predict(held, files[0], device());
  const auto errors = family_errors(held, {{"gemm f32", 90}});
  ASSERT_EQ(errors.size(), 2u);
  EXPECT_EQ(errors[0].family, "gemm f32");
  EXPECT_EQ(errors[0].unreached, 0u);
  EXPECT_LT(*errors[0].median, 0.05);
  EXPECT_LT(*errors[0].p90, 0.15);
  EXPECT_GE(*errors[0].inside, 0.6);
  EXPECT_EQ(errors[1].fitted, 90u);
}

TEST(Fit, a_time_that_the_device_cannot_reach_is_left_out_and_counted) {
  std::vector<LatencyPoint> points = measured_points();
  points[7].ns = 1;
  QuarantinedTimes too_fast;
  const auto kinds = fitted(points, {}, device(), too_fast);
  EXPECT_EQ(too_fast.kernels, 1u);
  EXPECT_EQ(kinds.at(0).points.size(), 89u);
}

TEST(Fit, errors_of_a_family_are_of_its_own_kernels) {
  std::vector<HeldKernel> held;
  for (int i = 1; i <= 4; ++i) {
    held.push_back({.family = "a", .problem = {}, .measured_ns = 100, .ns = 100 + i});
    held.back().low_ns = 90;
    held.back().high_ns = i == 4 ? 95 : 110;
  }
  held.push_back({.family = "b", .problem = {}, .measured_ns = 100});
  const auto errors = family_errors(held, {});
  ASSERT_EQ(errors.size(), 3u);
  EXPECT_NEAR(*errors[0].median, 0.025, 1e-12);
  EXPECT_NEAR(*errors[0].inside, 0.75, 1e-12);
  EXPECT_FALSE(errors[1].median);
  EXPECT_EQ(errors[1].unreached, 1u);
  EXPECT_EQ(errors[2].held_out, 5u);
}

}  // namespace
}  // namespace halmark::onboard
