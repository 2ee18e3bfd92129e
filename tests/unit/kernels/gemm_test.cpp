#include <gtest/gtest.h>

#include <cmath>

#include "core/numeric/cast.hpp"
#include "tests/unit/kernels/table_reader.hpp"

namespace halmark::testing {
namespace {

Params gemm(std::int64_t m, std::int64_t n, std::int64_t k, Dtype src = Dtype::f32,
            Dtype dst = Dtype::f32, int trans = 0) {
  return written("m=? n=? k=? src_dtype=? wei_dtype=? dst_dtype=? wei_trans=?", m, n, k, src, src,
                 dst, trans);
}

// [1 2 3; 4 5 6] x [1 0 2 0; 1 2 1 1; 0 3 1 1]
TEST(Gemm, multiplies_a_hand_computed_matrix) {
  const TableReader inputs({{1, 2, 3, 4, 5, 6}, {1, 0, 2, 0, 1, 2, 1, 1, 0, 3, 1, 1}});
  EXPECT_EQ(expected_values("gemm", gemm(2, 4, 3), inputs, 2),
            (std::vector<double>{3, 13, 7, 5, 9, 28, 19, 11}));
}

TEST(Gemm, transposed_weights_give_the_same_product) {
  const TableReader plain({{1, 2, 3, 4}, {5, 6, 7, 8}});
  const TableReader transposed({{1, 2, 3, 4}, {5, 7, 6, 8}});
  EXPECT_EQ(expected_values("gemm", gemm(2, 2, 2), plain, 2),
            expected_values("gemm", gemm(2, 2, 2, Dtype::f32, Dtype::f32, 1), transposed, 2));
}

// Against a triple loop in long double over the raw bytes of the buffers, at sizes that cross the
// column block of the reference.
TEST(Gemm, reference_agrees_with_a_plain_loop_over_the_bytes) {
  const std::int64_t m = 19, n = 131, k = 37;
  for (const int trans : {0, 1}) {
    const auto params = gemm(m, n, k, Dtype::bf16, Dtype::f32, trans);
    const auto operands = op("gemm").operands(params);
    const GeneratedInputs inputs(11, operands, 3);
    std::vector<unsigned char> src(as_size(operands[0].bytes()));
    std::vector<unsigned char> wei(as_size(operands[1].bytes()));
    inputs.pool(0).fill(0, 3, 0, src.data());
    inputs.pool(1).fill(0, 3, 1, wei.data());
    const auto out = expected("gemm", params, inputs, 2);
    for (std::int64_t i = 0; i < m; ++i) {
      for (std::int64_t j = 0; j < n; ++j) {
        long double sum = 0, magnitude = 0;
        for (std::int64_t q = 0; q < k; ++q) {
          const long double term =
              static_cast<long double>(load_element(Dtype::bf16, src.data(), i * k + q)) *
              load_element(Dtype::bf16, wei.data(), trans ? j * k + q : q * n + j);
          sum += term;
          magnitude += std::fabs(term);
        }
        const auto& got = out[as_size(i * n + j)];
        ASSERT_NEAR(got.value, as_double(sum), 1e-13 * as_double(magnitude));
        const double bound =
            0x1p-24 * (std::fabs(as_double(sum)) + 4 * std::sqrt(37.0) * as_double(magnitude));
        ASSERT_NEAR(got.tolerance, bound, 1e-5 * bound);
      }
    }
  }
}

// A register that keeps `bits` of fraction: products of an instruction are cut off so far below the
// largest of them and of the running sum, which joins an f32 sum after four instructions.
double narrow_sum(std::span<const double> products, int bits) {
  constexpr std::size_t of_instruction = 32, of_promotion = 128;
  float promoted = 0;
  double running = 0;
  for (std::size_t i = 0; i < products.size(); i += of_instruction) {
    const auto part = products.subspan(i, std::min(of_instruction, products.size() - i));
    double largest = std::fabs(running);
    for (const double product : part) largest = std::max(largest, std::fabs(product));
    const double step = std::ldexp(1.0, largest > 0 ? std::ilogb(largest) - bits : 0);
    const auto cut = [&](double x) { return std::trunc(x / step) * step; };
    running = cut(running);
    for (const double product : part) running += cut(product);
    if ((i + of_instruction) % of_promotion == 0) {
      promoted += static_cast<float>(running);
      running = 0;
    }
  }
  return promoted + static_cast<float>(running);
}

TEST(Gemm, products_of_8_bit_floats_may_be_summed_in_fourteen_bits_but_not_in_nine) {
  const std::int64_t m = 16, n = 128, k = 1024;
  const auto params = gemm(m, n, k, Dtype::f8_e4m3fn, Dtype::f32, 1);
  const GeneratedInputs inputs(5, op("gemm").operands(params), 1);
  const auto out = expected("gemm", params, inputs, 2);
  std::vector<double> a(1024), b(a), products(a);
  double worst = 0, worst_of_nine = 0;
  for (std::int64_t e = 0; e < m * n; ++e) {
    inputs.read(0, 0, e / n * k, a);
    inputs.read(0, 1, e % n * k, b);
    for (std::size_t q = 0; q < products.size(); ++q) products[q] = a[q] * b[q];
    const auto& want = out[as_size(e)];
    worst = std::max(worst, std::fabs(narrow_sum(products, 13) - want.value) / want.tolerance);
    worst_of_nine =
        std::max(worst_of_nine, std::fabs(narrow_sum(products, 8) - want.value) / want.tolerance);
  }
  EXPECT_LT(worst, 1);
  EXPECT_GT(worst, 0.02) << "no wider than needed by orders of magnitude";
  EXPECT_GT(worst_of_nine, 1);
}

TEST(Gemm, scattered_elements_equal_those_of_the_full_matrix) {
  const auto params = gemm(40, 500, 24);
  const GeneratedInputs inputs(3, op("gemm").operands(params), 0);
  const auto full = expected("gemm", params, inputs, 2);
  const std::vector<std::int64_t> elements{19999, 0, 7, 499, 500, 12345, 7, 10001};
  std::vector<Expected> out(elements.size());
  op("gemm").reference(params, inputs, 0, 2, elements, out);
  for (std::size_t i = 0; i < elements.size(); ++i) {
    EXPECT_EQ(out[i].value, full[as_size(elements[i])].value) << elements[i];
  }
}

// f32 accumulation in the worst common order stays inside; one dropped product does not.
TEST(Gemm, tolerance_admits_f32_sums_and_rejects_a_dropped_product) {
  const std::int64_t k = 1024;
  const auto params = gemm(16, 16, k, Dtype::f32, Dtype::f32, 1);
  const Drawn drawn("gemm", params, 9);
  const auto src = drawn.of(0), wei = drawn.of(1);
  const auto out = expected("gemm", params, drawn.inputs, 2);
  int rejected = 0;
  for (std::size_t i = 0; i < 16; ++i) {
    for (std::size_t j = 0; j < 16; ++j) {
      float sum = 0, last = 0;
      for (std::size_t q = 0; q < 1024; ++q) {
        last = static_cast<float>(src[i * 1024 + q]) * static_cast<float>(wei[j * 1024 + q]);
        sum += last;
      }
      const auto& want = out[i * 16 + j];
      EXPECT_LE(std::fabs(sum - want.value), want.tolerance);
      rejected += std::fabs(sum - last - want.value) > want.tolerance;
    }
  }
  EXPECT_GT(rejected, 230);
}

TEST(Gemm, integers_are_exact_and_weights_keep_to_seven_bits) {
  const auto params = gemm(5, 7, 300, Dtype::s8, Dtype::s32);
  const Drawn drawn("gemm", params, 1);
  for (const auto& element : expected("gemm", params, drawn.inputs, 2)) {
    EXPECT_EQ(element.tolerance, 0);
    EXPECT_EQ(element.value, std::nearbyint(element.value));
  }
  for (const double w : drawn.of(1)) EXPECT_LE(std::fabs(w), 64);
}

TEST(Gemm, twin_keeps_the_reduction_and_the_types) {
  const auto twin = op("gemm").twin(gemm(2048, 6144, 1024, Dtype::bf16, Dtype::bf16, 1));
  EXPECT_LE(twin.at("m"), 130);
  EXPECT_LE(twin.at("n"), 130);
  EXPECT_EQ(twin.at("k"), 1024);
  EXPECT_EQ(twin.dtype("src_dtype"), Dtype::bf16);
  EXPECT_EQ(twin.at("wei_trans"), 1);
  const auto decode = op("gemm").twin(gemm(1, 100, 1024));
  EXPECT_EQ(decode.at("m"), 1);
  EXPECT_EQ(decode.at("n"), 100);
}

}  // namespace
}  // namespace halmark::testing
