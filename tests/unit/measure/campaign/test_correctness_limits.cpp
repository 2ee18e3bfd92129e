// Both sides of each tolerance of the correctness gate: of one element, and of Freivalds' sums.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "kernels/inputs.hpp"
#include "measure/campaign/gate/correctness.hpp"
#include "measure/campaign/gate/matmul_check.hpp"

namespace halmark {
namespace {

constexpr double below = 0.95, above = 1.25;

// Operands of one value each.
class ConstantInputs : public InputReader {
 public:
  explicit ConstantInputs(double a, double b) : values_{a, b} {}
  void read(int, std::size_t operand, std::int64_t, std::span<double> out) const override {
    std::ranges::fill(out, values_[operand]);
  }

 private:
  double values_[2];
};

// C = 0 apart from `error` in one element: the sums differ by it, whatever the signs are.
std::optional<FreivaldsFailure> with_one_error(double error, double tolerance) {
  const OpContract::Matmul matmul{5, 100, 3, 0, 1, 2, false};
  return freivalds(
      matmul, ConstantInputs(0, 1), 0,
      [error](std::int64_t row, std::span<double> out) {
        std::ranges::fill(out, 0.0);
        if (row == 3) out[17] = error;
      },
      tolerance, 7);
}

// 8 e sqrt(n) for n = 100 columns.
TEST(Freivalds, an_error_is_found_from_eight_random_walks_on) {
  EXPECT_FALSE(with_one_error(below * 80, 1));
  const auto miss = with_one_error(above * 80, 1);
  ASSERT_TRUE(miss);
  EXPECT_EQ(miss->row, 3);
  EXPECT_EQ(miss->product, 0);
  EXPECT_EQ(std::abs(miss->output), above * 80);
  EXPECT_DOUBLE_EQ(miss->tolerance, 80);
  EXPECT_TRUE(with_one_error(-above * 80, 1));
}

TEST(Freivalds, without_a_tolerance_sums_are_equal_or_wrong) {
  EXPECT_FALSE(with_one_error(0, 0));
  EXPECT_TRUE(with_one_error(1e-300, 0));
}

// Rows of A and of B, either way round: a product of ones has k in each element.
TEST(Freivalds, both_layouts_of_the_weights_are_multiplied) {
  for (const bool is_transposed : {false, true}) {
    const OpContract::Matmul matmul{4, 9, 6, 0, 1, 2, is_transposed};
    const auto filled = [](double value) {
      return [value](std::int64_t, std::span<double> out) { std::ranges::fill(out, value); };
    };
    EXPECT_FALSE(freivalds(matmul, ConstantInputs(1, 1), 0, filled(6), 1e-9, 3));
    EXPECT_TRUE(freivalds(matmul, ConstantInputs(1, 1), 0, filled(7), 1e-9, 3));
    EXPECT_FALSE(freivalds(matmul, ConstantInputs(2, 3), 0, filled(36), 1e-9, 3));
  }
}

// A true product of f32 in f64, with one element off by a multiple of its own tolerance.
struct Product {
  Problem problem = complete_problem({"gemm",
                                      {{"m", 24},
                                       {"n", 40},
                                       {"k", 4096},
                                       {"src_dtype", static_cast<std::int64_t>(Dtype::f32)},
                                       {"wei_dtype", static_cast<std::int64_t>(Dtype::f32)},
                                       {"dst_dtype", static_cast<std::int64_t>(Dtype::f32)}}});
  const OpContract& contract = *find_contract("gemm");
  std::vector<Expected> expected;
  std::vector<std::byte> bytes;
  protocol::Revealed revealed;

  Product() {
    const auto operands = contract.operands(problem.params);
    bytes.resize(static_cast<std::size_t>(operands[2].bytes()));
    revealed.parts.push_back({.set = 0, .operand = 2, .offset = 0, .bytes = operands[2].bytes()});
    expected.resize(24 * 40);
    std::vector<std::int64_t> all(expected.size());
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::int64_t>(i);
    StagedInputs inputs(42, operands, CacheMode::hot, false);
    inputs.set_index(0);
    contract.reference(problem.params, inputs, 0, 2, all, expected);
    for (std::size_t i = 0; i < all.size(); ++i) set(i, 0);
  }
  // `off` tolerances away from the reference.
  void set(std::size_t i, double off) {
    store_element(Dtype::f32, bytes.data(), static_cast<std::int64_t>(i),
                  expected[i].value + off * expected[i].tolerance);
  }
  CorrectnessResult check(CheckPlan plan = every_element_plan()) {
    return check_outputs(contract, problem, 42, 0, CacheMode::hot, false, {revealed, bytes}, plan);
  }
};

TEST(ElementTolerance, an_error_passes_up_to_it_and_fails_above_it) {
  Product product;
  for (const double sign : {-1.0, 1.0}) {
    product.set(529, sign * below);
    const CorrectnessResult within = product.check();
    EXPECT_TRUE(within.ok) << within.reason;
    EXPECT_NEAR(within.correctness.worst_ratio, below, 0.01);
    product.set(529, sign * 1.05);
    const CorrectnessResult beyond = product.check();
    EXPECT_EQ(beyond.status, Status::wrong_result);
    EXPECT_NEAR(beyond.correctness.worst_ratio, 1.05, 0.01);
    EXPECT_NE(beyond.reason.find("dst[13, 9]"), std::string::npos) << beyond.reason;
  }
}

// Of what the elements did not see, the sums are allowed twice the largest tolerance that was seen.
TEST(ElementTolerance, the_sums_allow_twice_the_largest) {
  Product product;
  double least = 1e300, most = 0;
  for (const Expected& e : product.expected) {
    least = std::min(least, e.tolerance);
    most = std::max(most, e.tolerance);
  }
  CheckPlan plan;
  plan.small_output_elements = 0;
  plan.random_elements = 1;
  plan.tile_corners = false;
  plan.lines_and_freivalds = true;
  const double walk = 8 * 2 * std::sqrt(40.0);
  // Somewhere no element, row or column of this plan looks: found by trying.
  for (std::size_t i = 0; i < product.expected.size(); ++i) {
    product.set(i, 1.5 * walk * most / least);
    const CorrectnessResult result = product.check(plan);
    product.set(i, 0);
    const std::size_t at = result.reason.find("+- ");
    if (result.reason.find("freivalds") == std::string::npos) continue;
    ASSERT_NE(at, std::string::npos) << result.reason;
    const double tolerance = std::strtod(result.reason.c_str() + at + 3, nullptr);
    EXPECT_GE(tolerance, walk * least * 0.999);
    EXPECT_LE(tolerance, walk * most * 1.001);
    EXPECT_LT(most / least, 1.4) << "a range that wide tells nothing";
    return;
  }
  FAIL() << "every element was compared";
}

}  // namespace
}  // namespace halmark
