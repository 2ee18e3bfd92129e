// Which problems are of one kind for who chooses hardware: by the size that tells whether a kernel
// is bound by memory or by arithmetic.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/problem.hpp"

namespace halmark::history {

// Classes by free size: gemms by m, row-wise ops by rows, mixtures by tokens: 1, 2-16, 17-256,
// >256. Attention by phase (one new token is decode) and keys: to 1,024, to 8,192, more; scans and
// convolutions by phase and tokens. Collectives and copies by bytes: to 64 KiB, to 1 MiB, to 64
// MiB, more. Ops without a free size are of one class.
struct ShapeClass {
  std::string name;  // "m 2-16", "decode, context <= 1024"
  int rank = 0;      // small sizes first
};
ShapeClass shape_class_of(const Problem& problem);

// A line of problems that differ in their free size alone.
struct ShapeSeries {
  std::string name;       // "gemm k=4096 n=4096 src_dtype=bf16"
  std::string free_size;  // "m"; "" = the op has none
  std::int64_t size = 0;
};
ShapeSeries shape_series_of(const Problem& problem);

}  // namespace halmark::history
