#include "kernels/inputs.hpp"
#include "core/numeric/cast.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/text/error.hpp"
#include "tests/unit/kernels/table_reader.hpp"

namespace halmark::testing {
namespace {

OperandSpec input(Dtype dtype, std::int64_t count, Distribution distribution = Distribution::normal,
                  double scale = 1) {
  return {.name = "x",
          .role = Role::input,
          .dtype = dtype,
          .dims = {count},
          .distribution = distribution,
          .scale = scale};
}

std::vector<double> drawn(const OperandSpec& operand, std::uint64_t seed = 7, int set = 0,
                          int rank = 0, std::size_t index = 0) {
  std::vector<double> all(as_size(operand.elements()));
  InputPool(seed, operand).read(rank, set, index, 0, all);
  return all;
}

class EveryType : public ::testing::TestWithParam<Dtype> {};

// What the worker writes and what the parent recomputes are the same numbers, chunk borders
// included.
TEST_P(EveryType, is_read_as_it_was_filled) {
  const auto operand =
      input(GetParam(), 3 * InputPool::chunk_elements + 17, Distribution::normal, 3);
  const InputPool pool(42, operand);
  std::vector<unsigned char> bytes(as_size(operand.bytes()));
  pool.fill(1, 2, 3, bytes.data());
  for (const std::int64_t offset :
       {std::int64_t{0}, std::int64_t{4090}, std::int64_t{8191}, operand.elements() - 20}) {
    std::vector<double> window(20);
    pool.read(1, 2, 3, offset, window);
    for (std::size_t i = 0; i < window.size(); ++i) {
      const auto at = offset + static_cast<std::int64_t>(i);
      ASSERT_EQ(window[i], load_element(GetParam(), bytes.data(), at)) << at;
    }
  }
}

TEST_P(EveryType, holds_no_denormal_and_no_foreign_value) {
  const double smallest = GetParam() == Dtype::f16 || GetParam() == Dtype::f8_e5m2 ? 0x1p-14
                          : GetParam() == Dtype::f8_e4m3fn                         ? 0x1p-6
                                                                                   : 0x1p-126;
  for (const double value : drawn(input(GetParam(), 200'000))) {
    ASSERT_TRUE(std::isfinite(value));
    ASSERT_TRUE(value == 0 || std::fabs(value) >= smallest) << value;
    ASSERT_EQ(value, round_to(GetParam(), value));
  }
}

INSTANTIATE_TEST_SUITE_P(Inputs, EveryType,
                         ::testing::Values(Dtype::f32, Dtype::bf16, Dtype::f16, Dtype::f8_e4m3fn,
                                           Dtype::f8_e5m2, Dtype::s8, Dtype::u8, Dtype::s32),
                         [](const auto& info) { return std::string(dtype_name(info.param)); });

TEST(Inputs, differ_between_seeds_sets_ranks_operands_and_chunks) {
  const auto operand = input(Dtype::f32, 2 * InputPool::chunk_elements);
  const auto base = drawn(operand, 1);
  EXPECT_EQ(base, drawn(operand, 1));
  for (const auto& other : {drawn(operand, 2), drawn(operand, 1, 1), drawn(operand, 1, 0, 1),
                            drawn(operand, 1, 0, 0, 1)}) {
    EXPECT_NE(base, other);
  }
  const auto half = static_cast<std::ptrdiff_t>(base.size() / 2);
  EXPECT_FALSE(std::equal(base.begin(), base.begin() + half, base.begin() + half));
}

TEST(Inputs, pools_that_were_forgotten_are_made_again_with_the_same_values) {
  const auto operand = input(Dtype::bf16, InputPool::chunk_elements);
  forget_input_pools();
  const auto first = drawn(operand, 3);
  EXPECT_EQ(forget_input_pools(), 2 * (InputPool::pool_elements + InputPool::chunk_elements));
  EXPECT_EQ(forget_input_pools(), 0);
  EXPECT_EQ(drawn(operand, 3), first);
}

// Five standard errors of each moment at n = 10^6 (overlapping chunks allowed for by a factor 2).
TEST(Inputs, normal_has_the_moments_of_a_normal) {
  const auto x = drawn(input(Dtype::f32, 1'000'000, Distribution::normal, 2));
  const auto n = as_double(x.size());
  double m1 = 0, m2 = 0, m3 = 0, m4 = 0;
  for (const double value : x) {
    const double z = value / 2;
    m1 += z / n;
    m2 += z * z / n;
    m3 += z * z * z / n;
    m4 += z * z * z * z / n;
  }
  EXPECT_NEAR(m1, 0, 0.01);
  EXPECT_NEAR(m2, 1, 0.015);
  EXPECT_NEAR(m3, 0, 0.04);
  EXPECT_NEAR(m4, 3, 0.1);
  const auto inside = std::ranges::count_if(x, [](double v) { return std::fabs(v) < 2; });
  EXPECT_NEAR(as_double(inside) / n, std::erf(1 / std::sqrt(2.0)), 0.005);
}

TEST(Inputs, neighbours_are_uncorrelated) {
  const auto x = drawn(input(Dtype::f32, 1'000'000));
  for (const std::size_t lag : {1, 2, 3, 64, 1024}) {
    double sum = 0;
    for (std::size_t i = lag; i < x.size(); ++i) sum += x[i] * x[i - lag];
    EXPECT_NEAR(sum / as_double(x.size()), 0, 0.01) << lag;
  }
}

TEST(Inputs, each_distribution_keeps_its_range) {
  const auto range = [](Distribution distribution, double scale) {
    return std::ranges::minmax(drawn(input(Dtype::f32, 100'000, distribution, scale)));
  };
  const auto uniform = range(Distribution::uniform, 1);
  EXPECT_GE(uniform.min, -1);
  EXPECT_LT(uniform.min, -0.99);
  EXPECT_LE(uniform.max, 1);
  EXPECT_GT(uniform.max, 0.99);
  const auto integers = range(Distribution::integers, 1);
  EXPECT_EQ(integers.min, -8);
  EXPECT_EQ(integers.max, 8);
  EXPECT_GE(range(Distribution::positive, 2).min, 0.2 - 1e-6);
  EXPECT_EQ(range(Distribution::zeros, 1).max, 0);
  EXPECT_EQ(range(Distribution::constant_one, 1).min, 1);
  auto ids = input(Dtype::s32, 100'000, Distribution::indices);
  ids.index_bound = 13;
  const auto drawn_ids = drawn(ids);
  for (int id = 0; id < 13; ++id) {
    EXPECT_NEAR(as_double(std::ranges::count(drawn_ids, id)), 100'000.0 / 13, 900) << id;
  }
}

TEST(Inputs, a_reader_serves_the_set_it_is_pointed_at) {
  const std::vector<OperandSpec> operands{input(Dtype::f32, 100), input(Dtype::bf16, 100)};
  GeneratedInputs inputs(5, operands, 0);
  const auto first = values(inputs, operands[1], 1);
  inputs.set_index(1);
  EXPECT_NE(values(inputs, operands[1], 1), first);
  EXPECT_EQ(values(inputs, operands[1], 1), drawn(operands[1], 5, 1, 0, 1));
}

// Routing tables and the like: valid in every set, on every rank, from any offset.
TEST(Inputs, given_values_are_the_same_everywhere) {
  const std::vector<std::int64_t> given{4, 0, 7, 1'000'003, -2};
  const OperandSpec operand{.name = "table",
                            .role = Role::input,
                            .dtype = Dtype::s32,
                            .dims = {5},
                            .distribution = Distribution::given,
                            .given = std::make_shared<GivenValues>([&] { return given; })};
  const InputPool pool(8, operand);
  for (const int set : {0, 3}) {
    std::vector<std::int32_t> bytes(5);
    pool.fill(set, set, 1, bytes.data());
    std::vector<double> tail(2);
    pool.read(set, set, 1, 3, tail);
    for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(bytes[i], given[i]);
    EXPECT_EQ(tail, (std::vector<double>{1'000'003, -2}));
  }
}

TEST(Inputs, given_values_must_fill_the_operand) {
  OperandSpec operand{.name = "table",
                      .role = Role::input,
                      .dtype = Dtype::s32,
                      .dims = {5},
                      .distribution = Distribution::given};
  EXPECT_THROW(InputPool(8, operand), Error);
  operand.given = std::make_shared<GivenValues>([] { return std::vector<std::int64_t>(4, 1); });
  EXPECT_THROW(InputPool(8, operand), Error);
}

}  // namespace
}  // namespace halmark::testing
