// Kernels beside a baseline: what it is called, what is measured for it, and the scores it gives.
#include "tests/unit/expect.hpp"
#include "tune/stored/baseline.hpp"

#include <gmock/gmock.h>

namespace halmark::tune {
namespace {

using testing::HasSubstr;

TEST(Baseline, is_a_backend_or_a_kernel_of_one) {
  EXPECT_EQ(parse_baseline("cpu").backend, "cpu");
  EXPECT_EQ(parse_baseline("cpu").kernel, "");
  EXPECT_EQ(parse_baseline("cpu:gemm_onednn").backend, "cpu");
  EXPECT_EQ(parse_baseline("cpu:gemm_onednn").kernel, "gemm_onednn");
  for (const char* bad : {"", ":", "cpu:", ":gemm"}) {
    const Error error = halmark::test::error_of([&] { parse_baseline(bad); });
    EXPECT_EQ(error.exit_code(), ExitCode::refused) << bad;
    EXPECT_THAT(error.line(),
                halmark::test::has_all({"--baseline: '" + std::string(bad) + "' names no baseline",
                                        "BACKEND:KERNEL"}));
  }
}

KernelCase copy_of(std::int64_t bytes, const std::string& kernel = {}) {
  KernelCase out;
  out.problem = {"copy", {{"bytes", bytes}}};
  out.backend = "opencl";
  out.kernel = kernel;
  if (!kernel.empty()) out.config.params.set("tile", 4);
  return out;
}

TEST(Baseline, runs_each_problem_once_in_its_own_way) {
  const std::vector<KernelCase> cases = {copy_of(1, "a"), copy_of(1, "b"), copy_of(2, "a")};
  const auto base = baseline_cases(cases, {.backend = "cpu", .kernel = "c"});
  ASSERT_EQ(base.size(), 2u);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(base[i].problem, copy_of(static_cast<std::int64_t>(i) + 1).problem);
    EXPECT_EQ(base[i].backend, "cpu");
    EXPECT_EQ(base[i].kernel, "c");
    EXPECT_TRUE(base[i].config.text().empty());
  }
  EXPECT_EQ(joined(cases, base).size(), 5u);
  EXPECT_EQ(joined(cases, std::vector{cases[1]}).size(), 3u) << "its own baseline";
  EXPECT_EQ(joined({}, base), base);
}

KernelPoint point(const std::string& problem, std::optional<double> ns, double bound_ns = 10,
                  const std::string& mode = "hot") {
  KernelPoint out;
  out.key = problem + mode;
  out.problem = problem;
  out.mode = mode;
  out.duration_ns = ns;
  out.lower_bound_ns = bound_ns;
  out.reason = "because " + problem;
  out.place = "cpu:0";
  out.implementation = "base";
  return out;
}

// S = 1 / (1 + (T - 10) / (30 - 10)): 0.5 at the baseline's 30, 0.8 at 15.
TEST(Baseline, scores_a_point_by_the_one_of_its_problem_and_mode) {
  std::vector<KernelPoint> points = {point("p", 15), point("q", 15), point("p", 15, 10, "cold")};
  score_points(points, std::vector{point("r", 1), point("p", 30)});
  ASSERT_TRUE(points[0].score);
  EXPECT_DOUBLE_EQ(*points[0].score, 0.8);
  EXPECT_EQ(points[0].baseline, "cpu:0 base");
  EXPECT_EQ(points[0].score_reason, "");
  for (const std::size_t without : {1u, 2u}) {
    EXPECT_FALSE(points[without].score);
    EXPECT_EQ(points[without].baseline, "");
    EXPECT_EQ(points[without].score_reason, "");
  }
}

TEST(Baseline, says_which_time_is_missing) {
  std::vector<KernelPoint> points = {point("p", 15), point("q", std::nullopt), point("r", 15, 0)};
  score_points(points, std::vector{point("p", std::nullopt), point("q", 1), point("r", 1)});
  EXPECT_EQ(points[0].score_reason, "the baseline has no time: because p");
  EXPECT_EQ(points[1].score_reason, "no time: because q");
  EXPECT_THAT(points[2].score_reason, HasSubstr("no bound: this device has no measured peaks"));
  for (const KernelPoint& p : points) EXPECT_FALSE(p.score);
}

TEST(Baseline, may_be_among_the_points) {
  const KernelCase base = copy_of(1);
  std::vector<KernelPoint> points = {point("p", 15), point("p", 30)};
  points[1].key = base.key();
  score_beside(points, std::vector{copy_of(9), base});
  EXPECT_DOUBLE_EQ(points[0].score.value(), 0.8);
  EXPECT_DOUBLE_EQ(points[1].score.value(), 0.5) << "against itself";
}

}  // namespace
}  // namespace halmark::tune
