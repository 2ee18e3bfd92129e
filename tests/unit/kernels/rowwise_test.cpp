#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/unit/kernels/table_reader.hpp"

namespace halmark::testing {
namespace {

// Of f32.
Params rowwise(std::int64_t rows, std::int64_t cols, const char* more = "") {
  return written(std::string("rows=? cols=? src_dtype=f32 dst_dtype=f32 ") + more, rows, cols);
}

void expect_near(const std::vector<double>& got, const std::vector<double>& want, double error) {
  EXPECT_THAT(got, ::testing::Pointwise(::testing::DoubleNear(error), want));
}

// mean(3^2, 4^2) = 12.5
TEST(RmsNorm, divides_by_the_root_mean_square) {
  const TableReader inputs({{3, 4}, {1, 2}});
  expect_near(expected_values("rmsnorm", rowwise(1, 2, "epsilon_e12=0"), inputs, 2),
              {3 / std::sqrt(12.5), 8 / std::sqrt(12.5)}, 1e-15);
}

// x^2 = 1e-6, eps = 3e-6: x / 2e-3
TEST(RmsNorm, epsilon_is_in_units_of_1e_minus_12) {
  const TableReader inputs({{0.001}, {1}});
  expect_near(expected_values("rmsnorm", rowwise(1, 1, "epsilon_e12=3000000"), inputs, 2), {0.5},
              1e-12);
}

// mean 2, population variance 2/3
TEST(LayerNorm, centres_scales_and_shifts) {
  const TableReader inputs({{1, 2, 3}, {1, 1, 2}, {0, 5, 1}});
  expect_near(expected_values("layernorm", rowwise(1, 3, "epsilon_e12=0"), inputs, 3),
              {-std::sqrt(1.5), 5, 2 * std::sqrt(1.5) + 1}, 1e-14);
}

TEST(LayerNorm, of_one_value_is_the_shift) {
  const TableReader inputs({{7}, {3}, {-2}});
  const auto out = expected("layernorm", completed("layernorm", rowwise(1, 1)), inputs, 3);
  EXPECT_EQ(out[0].value, -2);
  EXPECT_TRUE(std::isfinite(out[0].tolerance));
}

// Pairs (1, 3) by 90 degrees -> (-3, 1); (2, 4) by 0 degrees stay.
TEST(Rope, turns_by_90_degrees_and_copies_the_rest) {
  const TableReader inputs({{1, 2, 3, 4, 9}, {0, 1}, {1, 0}});
  const Params params =
      written("rows=1 heads=1 head_dim=5 rotary_dim=4 src_dtype=f32 dst_dtype=f32");
  expect_near(expected_values("rope", params, inputs, 3), {-3, 2, 1, 4, 9}, 0);
  EXPECT_EQ(expected("rope", params, inputs, 3)[4].tolerance, 0);
}

TEST(Rope, keeps_the_norm_of_a_pair_and_uses_the_row_of_its_token) {
  const Params params =
      written("rows=3 heads=2 head_dim=2 rotary_dim=2 src_dtype=f32 dst_dtype=f32");
  const std::vector<double> x{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  const double angle[] = {0.3, 1.1, 2.5};
  const TableReader inputs({x,
                            {std::cos(0.3), std::cos(1.1), std::cos(2.5)},
                            {std::sin(0.3), std::sin(1.1), std::sin(2.5)}});
  const auto out = expected_values("rope", params, inputs, 3);
  for (std::size_t pair = 0; pair < 6; ++pair) {
    const double turned =
        std::atan2(out[2 * pair + 1], out[2 * pair]) - std::atan2(x[2 * pair + 1], x[2 * pair]);
    EXPECT_NEAR(std::remainder(turned - angle[pair / 2], 2 * M_PI), 0, 1e-12) << pair;
    EXPECT_NEAR(std::hypot(out[2 * pair], out[2 * pair + 1]),
                std::hypot(x[2 * pair], x[2 * pair + 1]), 1e-12);
  }
}

// gelu_tanh(1) = 0.841192, gelu_tanh(-1) = -0.158808, silu(1) = 0.731059 (published tables).
TEST(Activation, reproduces_tabulated_values) {
  const TableReader inputs({{-2, -1, 0, 1, 2}});
  const auto of = [&](const char* kind) {
    return expected_values("activation", rowwise(1, 5, kind), inputs, 1);
  };
  expect_near(of("kind=0"), {0, 0, 0, 1, 2}, 0);
  expect_near(of("kind=1"), {-0.0454023, -0.158808, 0, 0.841192, 1.954598}, 1e-6);
  expect_near(of("kind=2"), {-0.2384058, -0.2689414, 0, 0.7310586, 1.7615942}, 1e-7);
  expect_near(of("kind=3"), {0, 0, 0, 1, 4}, 0);
}

TEST(GatedActivation, multiplies_the_gate_by_the_up_half_of_its_row) {
  const TableReader inputs({{1, -1, 10, 100, 2, 0, 3, 5}});
  expect_near(expected_values("gated_activation", rowwise(2, 2, "kind=0"), inputs, 1),
              {7.310586, -26.89414, 5.2847826, 0}, 1e-5);
}

TEST(Softmax, sums_to_one_and_is_shift_invariant) {
  const TableReader inputs({{1, 2, 3, 101, 102, 103}});
  const auto out = expected_values("softmax", rowwise(2, 3), inputs, 1);
  EXPECT_NEAR(out[0] + out[1] + out[2], 1, 1e-15);
  EXPECT_NEAR(out[1] / out[0], std::exp(1.0), 1e-14);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(out[i], out[i + 3], 1e-15);
}

TEST(Embedding, gathers_rows_by_id) {
  const TableReader inputs({{2, 0, 2}, {10, 11, 20, 21, 30, 31}});
  const Params params = written("rows=3 vocab=3 hidden=2 src_dtype=bf16 dst_dtype=bf16");
  expect_near(expected_values("embedding", params, inputs, 2), {30, 31, 10, 11, 30, 31}, 0);
  EXPECT_EQ(expected("embedding", params, inputs, 2)[0].tolerance, 0);
}

TEST(Quantize, scales_the_largest_value_to_127) {
  const TableReader inputs({{-2, 1, 0.5, 0.25, 0, 0, 0, 0}});
  const auto params = written("rows=2 cols=4 src_dtype=f32");
  const auto q = expected("quantize", params, inputs, 1);
  // 63.5 is a tie: 64 by ties-to-even, 63 within one step; 31.75 and 15.875 are not ties.
  expect_near(expected_values("quantize", params, inputs, 1), {-127, 64, 32, 16, 0, 0, 0, 0}, 0);
  EXPECT_EQ(q[1].tolerance, 1);
  EXPECT_EQ(q[2].tolerance, 0);
  expect_near(expected_values("quantize", params, inputs, 2), {2.0 / 127, 0}, 1e-18);
}

TEST(Quantize, allows_a_step_only_next_to_a_tie) {
  const auto params = written("rows=20 cols=1000 src_dtype=f32");
  const auto q = expected("quantize", params, Drawn("quantize", params, 6).inputs, 1);
  const auto loose = std::ranges::count_if(q, [](const Expected& e) { return e.tolerance > 0; });
  EXPECT_LT(loose, 20);  // 20000 values, window of 6e-5: one or two by chance
}

// Quantising and scaling back is off by at most half a step.
TEST(Quantize, round_trip_error_is_at_most_half_a_step) {
  const auto params = written("rows=7 cols=129 src_dtype=bf16");
  const Drawn drawn("quantize", params, 5);
  const auto x = drawn.of(0);
  const auto q = expected("quantize", params, drawn.inputs, 1);
  const auto scale = expected("quantize", params, drawn.inputs, 2);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double step = scale[i / 129].value;
    EXPECT_LE(std::fabs(q[i].value * step - x[i]), step / 2 * (1 + 1e-12));
    EXPECT_LE(std::fabs(q[i].value), 127);
  }
}

TEST(Dequantize, multiplies_by_both_scales) {
  const TableReader inputs({{10, -20, 30, 40}, {0.5, 2}, {0.25, 4}});
  expect_near(expected_values("dequantize", written("rows=2 cols=2 dst_dtype=f32"), inputs, 3),
              {1.25, -40, 15, 320}, 0);
}

TEST(ResidualAdd, adds_and_rounds_once) {
  const TableReader inputs({{1, 256}, {2, 1}});
  const auto out =
      expected("residual_add", rowwise(1, 2, "src_dtype=bf16 dst_dtype=bf16"), inputs, 2);
  EXPECT_EQ(out[1].value, 257);
  // 257 is halfway between bf16 256 and 258: either neighbour is right, 260 is not.
  EXPECT_GE(out[1].tolerance, 1);
  EXPECT_LT(out[1].tolerance, 1.01);
}

TEST(Fma, follows_the_recurrence_step_by_step) {
  const TableReader inputs({{1.0, -3.0, 0.5}});
  const auto out = expected("fma", written("lanes=3 iterations=5 dtype=f32"), inputs, 1);
  for (std::size_t lane = 0; lane < 3; ++lane) {
    double x = std::vector<double>{1.0, -3.0, 0.5}[lane];
    for (int i = 0; i < 5; ++i) x = x * 0.5 + 0.25;
    EXPECT_DOUBLE_EQ(out[lane].value, x);
  }
}

TEST(Copy, is_exact_at_scattered_elements) {
  const Params params{{"bytes", 100'000}};
  const Drawn drawn("copy", params, 77);
  const auto all = drawn.of(0);
  const std::vector<std::int64_t> elements{99'999, 3, 50'000, 4095, 4096};
  std::vector<Expected> out(elements.size());
  op("copy").reference(params, drawn.inputs, 0, 1, elements, out);
  for (std::size_t i = 0; i < elements.size(); ++i) {
    EXPECT_EQ(out[i].value, all[static_cast<std::size_t>(elements[i])]);
    EXPECT_EQ(out[i].tolerance, 0);
  }
}

}  // namespace
}  // namespace halmark::testing
