// Curves fitted to times that a formula of this file makes: what they say beyond their samples is
// compared with the formula.
#include "latency/interpolation/efficiency_curve.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "kernels/contract.hpp"
#include "tune/sources/curve_solver.hpp"

namespace halmark {
namespace {

using testing::HasSubstr;

// 4 us, 80 % of compute once there are some 20 us of it, 90 % of memory.
double true_ns(const ResourceTimes& t) {
  const double compute = t.compute_ns <= 0 ? 0 : t.compute_ns / 0.8 * (1 + 20e3 / t.compute_ns);
  return 4e3 + std::max(compute, t.memory_ns / 0.9);
}

std::vector<EfficiencyCurve::Sample> samples(double largest_ns) {
  std::vector<EfficiencyCurve::Sample> out;
  for (double compute = 10; compute <= largest_ns; compute *= 2) {
    for (double memory = 10; memory <= largest_ns; memory *= 2) {
      const ResourceTimes times{compute, memory, 0};
      out.push_back({times, true_ns(times)});
    }
  }
  return out;
}

TEST(EfficiencyCurve, reaches_beyond_what_it_was_fitted_to) {
  const auto known = samples(1e6);
  const EfficiencyCurve curve(known, tune::curve_solver());
  for (const double ns : {4e6, 3.2e7}) {
    for (const ResourceTimes& t :
         {ResourceTimes{ns, ns / 100, 0}, ResourceTimes{ns / 100, ns, 0}}) {
      EXPECT_NEAR(curve.ns(t) / true_ns(t), 1, 0.06) << ns;
    }
  }
  EXPECT_LT(curve.launch_ns(), true_ns({10, 10, 0}));
  EXPECT_NEAR(curve.ns({10, 10, 0}) / true_ns({10, 10, 0}), 1, 0.1);
  EXPECT_THAT(curve.text(), HasSubstr("compute "));
  EXPECT_THAT(curve.text(), HasSubstr("memory "));
  EXPECT_THAT(curve.text(), testing::Not(HasSubstr("link")));
}

// One sample in ten is wrong by a factor of five: a quadratic loss would follow them.
TEST(EfficiencyCurve, a_few_wrong_times_do_not_bend_it) {
  auto known = samples(1e6);
  for (std::size_t i = 0; i < known.size(); i += 10) known[i].ns *= 5;
  const EfficiencyCurve curve(known, tune::curve_solver());
  const ResourceTimes large{4e6, 4e4, 0};
  EXPECT_NEAR(curve.ns(large) / true_ns(large), 1, 0.1);
}

TEST(EfficiencyCurve, stays_within_its_bounds) {
  // Faster than any device: no curve of it goes above 102 % of the compute peak.
  std::vector<EfficiencyCurve::Sample> known;
  for (double ns = 1e3; ns < 1e8; ns *= 1.2) known.push_back({{ns, ns / 100, 0}, ns / 3});
  const EfficiencyCurve curve(known, tune::curve_solver());
  EXPECT_GE(curve.ns({1e8, 0, 0}), 1e8 / 1.02);
}

TEST(EfficiencyCurve, too_few_samples_make_none) {
  auto known = samples(1e6);
  known.resize(EfficiencyCurve::samples_min - 1);
  EXPECT_THROW(EfficiencyCurve(known, tune::curve_solver()), std::logic_error);
}

Device device() {
  Device out{.id = "made-up", .kind = "gpu"};
  out.peaks = {{.path = "bf16_matrix", .dtype = Dtype::bf16, .flops_per_s = 1e15}};
  out.bandwidths = {{.level = "memory", .bytes_per_s = 2e12}};
  out.links = {{.name = "link", .bytes_per_s = 1e11}};
  return out;
}

TEST(ResourceRates, each_resource_at_its_peak) {
  const auto bf16 = static_cast<std::int64_t>(Dtype::bf16);
  const ResourceRates rates(device());
  const Problem gemm = complete_problem({"gemm",
                                         {{"m", 1000},
                                          {"n", 1000},
                                          {"k", 1000},
                                          {"src_dtype", bf16},
                                          {"wei_dtype", bf16},
                                          {"dst_dtype", bf16}}});
  const auto of_gemm = rates.of(gemm);
  ASSERT_TRUE(of_gemm);
  EXPECT_DOUBLE_EQ(of_gemm->compute_ns, 2e9 / 1e15 * 1e9);
  EXPECT_DOUBLE_EQ(of_gemm->memory_ns, 6e6 / 2e12 * 1e9);
  EXPECT_EQ(of_gemm->link_ns, 0);
  EXPECT_EQ(of_gemm->binding(), ResourceTimes::Resource::memory);
  // Bus factor of nccl-tests: 2 (n - 1) / n of the message.
  const auto of_sum = rates.of({"all_reduce", {{"bytes", 1 << 20}, {"ranks", 4}, {"dtype", bf16}}});
  ASSERT_TRUE(of_sum);
  EXPECT_DOUBLE_EQ(of_sum->link_ns, 1.5 * (1 << 20) / 1e11 * 1e9);
  EXPECT_EQ(of_sum->binding(), ResourceTimes::Resource::link);
  EXPECT_FALSE(rates.of({"no_such_op", {}}));
}

}  // namespace
}  // namespace halmark
