// Beliefs of kernel times: where they begin, what is learned from others, and whether intervals
// hold of kernels that are drawn from the stated distribution.
#include "tune/search/gain/kernel_belief.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

#include "core/numeric/statistics.hpp"

namespace halmark::tune {
namespace {

// Kernels of `families`, so many of each, alike but for their last trait.
std::vector<BelievedKernel> kernels_of(const std::vector<std::string>& families, int each) {
  std::vector<BelievedKernel> out;
  for (const std::string& family : families) {
    for (int i = 0; i < each; ++i) {
      const std::string own = family + std::to_string(i);
      out.push_back({.bound_ns = 1,
                     .guess_ns = 1000,
                     .traits = {"any", family, "bf16", family, "1 part", family, family, family,
                                family, own}});
    }
  }
  return out;
}

// ln(time / guess) of each kernel in many draws.
std::vector<std::vector<double>> logs(const std::vector<BelievedKernel>& kernels, int draws) {
  const KernelBelief belief(kernels);
  std::vector<std::vector<double>> out(kernels.size());
  for (int d = 0; d < draws; ++d) {
    const std::vector<KernelTime> times = belief.draw(5, static_cast<std::uint64_t>(d));
    for (std::size_t k = 0; k < kernels.size(); ++k) {
      out[k].push_back(std::log(times[k].ns / kernels[k].guess_ns));
    }
  }
  return out;
}

double deviation(const std::vector<double>& x) {
  double squares = 0;
  for (const double v : x) squares += (v - mean(x)) * (v - mean(x));
  return std::sqrt(squares / static_cast<double>(x.size()));
}

double correlation(const std::vector<double>& x, const std::vector<double>& y) {
  double products = 0;
  for (std::size_t i = 0; i < x.size(); ++i) products += (x[i] - mean(x)) * (y[i] - mean(y));
  return products / static_cast<double>(x.size()) / deviation(x) / deviation(y);
}

TEST(KernelBelief, begins_at_the_guess_and_errs_by_about_a_factor_of_two) {
  const auto drawn = logs(kernels_of({"gemm"}, 1), 4000);
  EXPECT_NEAR(mean(drawn[0]), 0, 0.05);
  EXPECT_GT(deviation(drawn[0]), std::log(2.0));
  EXPECT_LT(deviation(drawn[0]), std::log(3.0));
}

// Of what was not measured; and a bound that was broken bounds no other under its ceiling.
TEST(KernelBelief, no_draw_is_below_the_bound) {
  std::vector<BelievedKernel> kernels = kernels_of({"gemm", "attention"}, 2);
  for (BelievedKernel& k : kernels) k.bound_ns = 900;
  kernels[3].medians_ns = {905};
  const auto least = [&](std::size_t k) { return std::ranges::min(logs(kernels, 200)[k]); };
  for (std::size_t k = 0; k < 3; ++k) EXPECT_NEAR(least(k), std::log(0.9), 1e-12);
  kernels[3].medians_ns = {450};
  kernels[0].ceiling = "memory";
  EXPECT_NEAR(least(0), std::log(0.9), 1e-12);
  EXPECT_LT(least(2), std::log(0.7));
  EXPECT_GE(least(2), std::log(0.45) - 1e-12);
}

TEST(KernelBelief, those_that_have_more_in_common_err_together) {
  const auto drawn = logs(kernels_of({"gemm", "attention"}, 2), 4000);
  const double same = correlation(drawn[0], drawn[1]), other = correlation(drawn[0], drawn[2]);
  EXPECT_GT(same, 0.8);
  EXPECT_GT(other, 0.2);
  EXPECT_LT(other, same - 0.2);
}

TEST(KernelBelief, a_measured_kernel_teaches_its_family_most) {
  std::vector<BelievedKernel> kernels = kernels_of({"gemm", "attention"}, 4);
  for (int i : {0, 1}) kernels[static_cast<std::size_t>(i)].medians_ns = {3000, 3010};
  const auto drawn = logs(kernels, 2000);
  EXPECT_NEAR(mean(drawn[0]), std::log(3.005), 0.01);
  EXPECT_NEAR(mean(drawn[2]), std::log(3.0), 0.25);
  EXPECT_LT(deviation(drawn[2]), 0.45) << "of the family";
  EXPECT_GT(mean(drawn[4]), 0.15) << "of another";
  EXPECT_GT(deviation(drawn[4]), 1.3 * deviation(drawn[2]));
}

TEST(KernelBelief, rounds_that_scatter_widen_every_measured_time) {
  std::vector<BelievedKernel> kernels = kernels_of({"gemm"}, 12);
  for (BelievedKernel& k : kernels) k.medians_ns = {1000, 1010, 990};
  const double calm = KernelBelief(kernels).scatter();
  for (BelievedKernel& k : kernels) k.medians_ns = {1000, 1300, 800};
  kernels[0].medians_ns = {1000};
  const double rough = KernelBelief(kernels).scatter();
  EXPECT_LT(calm, 0.03);
  EXPECT_GT(rough, 0.15);
  EXPECT_NEAR(deviation(logs(kernels, 2000)[0]), rough, 0.1 * rough);
}

// Kernels whose errors are as stated, a third of them measured: 90 % of the others lie between the
// 5 % and the 95 % points of their draws.
TEST(KernelBelief, intervals_hold_of_kernels_from_the_same_distribution) {
  int inside = 0, all = 0;
  for (int world = 0; world < 40; ++world) {
    std::vector<BelievedKernel> kernels = kernels_of({"gemm", "attention", "norm", "rope"}, 6);
    // What the prior draws is a world.
    const std::vector<KernelTime> truth =
        KernelBelief(kernels).draw(99, static_cast<std::uint64_t>(world));
    for (std::size_t k = 0; k < kernels.size(); k += 3) kernels[k].medians_ns = {truth[k].ns};
    const auto drawn = logs(kernels, 200);
    for (std::size_t k = 0; k < kernels.size(); ++k) {
      if (!kernels[k].medians_ns.empty()) continue;
      const double x = std::log(truth[k].ns / kernels[k].guess_ns);
      inside += x >= quantile(drawn[k], 0.05) && x <= quantile(drawn[k], 0.95) ? 1 : 0;
      ++all;
    }
  }
  EXPECT_GT(inside, 0.84 * all);
  EXPECT_LT(inside, 0.95 * all);
}

TEST(KernelBelief, is_a_function_of_seed_and_number) {
  const auto kernels = kernels_of({"gemm"}, 2);
  const KernelBelief belief(kernels);
  EXPECT_EQ(belief.draw(1, 2)[0].ns, belief.draw(1, 2)[0].ns);
  EXPECT_NE(belief.draw(1, 2)[0].ns, belief.draw(1, 3)[0].ns);
  EXPECT_NE(belief.draw(1, 2)[0].ns, belief.draw(2, 2)[0].ns);
}

}  // namespace
}  // namespace halmark::tune
