// A row-major product as cuBLASLt, which counts columns first, has to be asked for it.
#pragma once

#include <cstdint>

namespace hm_cuda {

// Column-major: element (r, c) lies at r + c * leading.
struct Layout {
  std::int64_t rows = 0, columns = 0, leading = 0;
};

// d = op(a) b, with op the transposition or nothing.
struct ColumnMajorProduct {
  bool transposes_a = false;
  Layout a, b, d;
};

// dst[m,n] = src[m,k] wei[k,n], or wei[n,k] where `wei_is_nk`; all row-major. A row-major matrix
// read column-major is its transpose, so dst^T[n,m] = wei^T[n,k] src^T[k,m]: a is wei, b is src, d
// is dst, and nothing moves in memory.
constexpr ColumnMajorProduct column_major(std::int64_t m, std::int64_t n, std::int64_t k,
                                          bool wei_is_nk) {
  return {.transposes_a = wei_is_nk,
          .a = wei_is_nk ? Layout{k, n, k} : Layout{n, k, n},
          .b = {k, m, k},
          .d = {n, m, n}};
}

}  // namespace hm_cuda
