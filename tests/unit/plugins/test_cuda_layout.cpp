// What the CUDA backend asks of a library that counts columns first, carried out by hand and
// compared with the row-major product that was meant.
#include <gtest/gtest.h>

#include <tuple>
#include <vector>

#include "plugins/cuda/gemm_layout.hpp"
#include "tests/unit/case_name.hpp"

namespace {

using hm_cuda::column_major;
using hm_cuda::Layout;

std::size_t at(const Layout& layout, std::int64_t row, std::int64_t column) {
  EXPECT_LT(row, layout.rows);
  EXPECT_LT(column, layout.columns);
  EXPECT_LE(layout.rows, layout.leading);
  return static_cast<std::size_t>(row + column * layout.leading);
}

// d = op(a) b by the definition of a column-major product.
std::vector<int> by_definition(const hm_cuda::ColumnMajorProduct& product,
                               const std::vector<int>& a, const std::vector<int>& b) {
  std::vector<int> d(static_cast<std::size_t>(product.d.leading * product.d.columns));
  for (std::int64_t i = 0; i < product.d.rows; ++i) {
    for (std::int64_t j = 0; j < product.d.columns; ++j) {
      int sum = 0;
      for (std::int64_t l = 0; l < product.b.rows; ++l) {
        const std::size_t from = product.transposes_a ? at(product.a, l, i) : at(product.a, i, l);
        sum += a[from] * b[at(product.b, l, j)];
      }
      d[at(product.d, i, j)] = sum;
    }
  }
  return d;
}

class GemmLayout : public testing::TestWithParam<std::tuple<int, int, int>> {};

TEST_P(GemmLayout, gives_the_row_major_product_for_both_storages_of_the_weights) {
  const auto [m, n, k] = GetParam();
  const auto size = [](int rows, int columns) { return static_cast<std::size_t>(rows * columns); };
  std::vector<int> src(size(m, k)), wei(size(k, n)), turned(size(n, k)), expected(size(m, n));
  for (std::size_t i = 0; i < src.size(); ++i) src[i] = static_cast<int>(i * 7 % 11) - 5;
  for (int r = 0; r < k; ++r) {
    for (int c = 0; c < n; ++c) {
      const int value = (r * 3 + c * 5) % 13 - 6;
      wei[static_cast<std::size_t>(r * n + c)] = value;
      turned[static_cast<std::size_t>(c * k + r)] = value;
    }
  }
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < n; ++j) {
      for (int l = 0; l < k; ++l) {
        expected[static_cast<std::size_t>(i * n + j)] +=
            src[static_cast<std::size_t>(i * k + l)] * wei[static_cast<std::size_t>(l * n + j)];
      }
    }
  }
  EXPECT_EQ(by_definition(column_major(m, n, k, false), wei, src), expected);
  EXPECT_EQ(by_definition(column_major(m, n, k, true), turned, src), expected);
}

INSTANTIATE_TEST_SUITE_P(Shapes, GemmLayout,
                         testing::Values(std::tuple(1, 1, 1), std::tuple(2, 3, 5),
                                         std::tuple(7, 1, 4), std::tuple(1, 6, 3),
                                         std::tuple(5, 4, 1)),
                         [](const auto& info) {
                           return halmark::test::case_name({std::get<0>(info.param),
                                                            std::get<1>(info.param),
                                                            std::get<2>(info.param)});
                         });

}  // namespace
