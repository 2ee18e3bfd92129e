// What published deployments took against what the shipped terms predict, by events. The figures of
// curves that a fit was not given are in the README of simulate/serving; these have seen all of
// them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/numeric/statistics.hpp"
#include "served_points.hpp"
#include "simulate/serving/fitted_terms.hpp"
#include "tests/shared_data.hpp"

namespace halmark::test {
namespace {

using serving::FittedTerms;

// The level that probability_at_most says is kept with 90 %, by bisection.
double limit_at_90_percent(double value, const Ratios& r) {
  double low = value, high = 100 * value;
  for (int round = 0; round < 60; ++round) {
    const double middle = (low + high) / 2;
    const double p = probability_at_most(middle, value, r.low * value, r.high * value);
    (p < 0.9 ? low : high) = middle;
  }
  return high;
}

struct Errors {
  std::vector<double> ttft, tpot;
  std::size_t within_ttft = 0, within_tpot = 0, kept_ttft = 0, kept_tpot = 0;

  void add(const serving::ServedPoint& point, const FittedTerms& row) {
    const auto f = predicted(point, row.series);
    ttft.push_back(std::abs(f.ttft_ns / point.ttft_ns - 1));
    tpot.push_back(std::abs(f.tpot_ns / point.tpot_ns - 1));
    const auto is_within = [](double measured, double value, const Ratios& r) {
      return measured >= r.low * value && measured <= r.high * value ? 1U : 0U;
    };
    within_ttft += is_within(point.ttft_ns, f.ttft_ns, row.ttft);
    within_tpot += is_within(point.tpot_ns, f.tpot_ns, row.tpot);
    kept_ttft += point.ttft_ns <= limit_at_90_percent(f.ttft_ns, row.ttft) ? 1U : 0U;
    kept_tpot += point.tpot_ns <= limit_at_90_percent(f.tpot_ns, row.tpot) ? 1U : 0U;
  }
};

TEST(ServedDeployments, are_predicted_by_the_shipped_terms) {
  if (!std::filesystem::exists(shared_data("served-deployments.csv"))) {
    GTEST_SKIP() << "data not found: " << shared_data("served-deployments.csv");
  }
  const ServedPoints points(shared_data(""));
  Errors all;
  for (const auto& [name, series] : points.series()) {
    for (const auto* point : series) {
      const ServedRow& row = points.row_of(*point);
      all.add(*point, serving::fitted_terms(row.backend, row.model));
    }
  }
  EXPECT_GE(all.ttft.size(), 330u);
  EXPECT_LE(median(all.tpot), 0.10);
  EXPECT_LE(median(all.ttft), 0.25);
  const auto n = static_cast<double>(all.ttft.size());
  EXPECT_GE(static_cast<double>(all.within_tpot) / n, 0.80);
  EXPECT_GE(static_cast<double>(all.within_ttft) / n, 0.80);
  for (const std::size_t kept : {all.kept_ttft, all.kept_tpot}) {
    EXPECT_GE(static_cast<double>(kept) / n, 0.80);
  }
}

}  // namespace
}  // namespace halmark::test
