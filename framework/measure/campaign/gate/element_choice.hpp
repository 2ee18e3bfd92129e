// Which elements of an output are compared with the reference.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/contract.hpp"

namespace halmark {

// An output seen as a matrix: the last dimension is a row.
struct OutputShape {
  std::int64_t rows = 1;
  std::int64_t columns = 1;
  std::int64_t elements() const { return rows * columns; }
};
OutputShape output_shape(const OperandSpec& output);

// FLOPs of the reference for one row group that elements of a row share (softmax, norms,
// attention), or for one element of a matmul, whose elements share nothing.
struct ReferenceCost {
  double per_group = 1;
  bool groups_are_rows = true;
};
ReferenceCost reference_cost(const OpContract& contract, const Params& params,
                             const OutputShape& shape);

// Sorted and unique. `count` random elements from at most `rows_max` rows: a few rows in depth cost
// the reference less than one element from each of many rows.
std::vector<std::int64_t> random_elements(const OutputShape& shape, std::int64_t count,
                                          std::int64_t rows_max, std::uint64_t seed);
// First, last and tile-edge elements (tiles of 16, 32 and 64, first, second and last of each axis),
// where kernels with a wrong remainder loop fail. At most `rows_max` rows.
std::vector<std::int64_t> tile_corners(const OutputShape& shape, std::int64_t rows_max);

}  // namespace halmark
