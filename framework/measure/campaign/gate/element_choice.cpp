#include "measure/campaign/gate/element_choice.hpp"

#include <algorithm>

#include "core/lists.hpp"
#include "core/numeric/random.hpp"

namespace halmark {
namespace {

void sort_unique(std::vector<std::int64_t>& values) {
  std::ranges::sort(values);
  values.erase(std::ranges::unique(values).begin(), values.end());
}

// Edge positions of an axis, most telling first: both ends, then remainder tiles, then tile seams.
std::vector<std::int64_t> edges(std::int64_t length) {
  std::vector<std::int64_t> wanted{0, length - 1};
  for (const std::int64_t tile : {64, 32, 16}) {
    const std::int64_t last = (length - 1) / tile * tile;
    wanted.insert(wanted.end(), {last, last - 1});
  }
  for (const std::int64_t tile : {16, 32, 64}) wanted.insert(wanted.end(), {tile - 1, tile});
  std::vector<std::int64_t> inside;
  for (const std::int64_t position : wanted) {
    const bool is_new = std::ranges::find(inside, position) == inside.end();
    if (position >= 0 && position < length && is_new) inside.push_back(position);
  }
  return inside;
}

}  // namespace

OutputShape output_shape(const OperandSpec& output) {
  if (output.dims.empty()) return {};
  return {.rows = output.elements() / std::max<std::int64_t>(1, output.dims.back()),
          .columns = output.dims.back()};
}

ReferenceCost reference_cost(const OpContract& contract, const Params& params,
                             const OutputShape& shape) {
  if (const auto matmul = contract.as_matmul(params)) {
    return {.per_group = 2.0 * as_double(matmul->k), .groups_are_rows = false};
  }
  if (const auto flops = contract.element_flops(params)) {
    return {.per_group = *flops, .groups_are_rows = false};
  }
  const double row =
      contract.work(params).flops() / as_double(std::max<std::int64_t>(1, shape.rows));
  return {.per_group = std::max(row, as_double(shape.columns)), .groups_are_rows = true};
}

std::vector<std::int64_t> random_elements(const OutputShape& shape, std::int64_t count,
                                          std::int64_t rows_max, std::uint64_t seed) {
  std::uint64_t counter = 0;
  const auto below = [&](std::int64_t bound) {
    return as_int64(uniform_below(hash_u64(seed, counter++), as_uint64(bound)));
  };
  std::vector<std::int64_t> rows(as_size(std::clamp<std::int64_t>(rows_max, 1, count)));
  for (std::int64_t& row : rows) row = below(shape.rows);
  std::vector<std::int64_t> elements;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t row = rows[as_size(i) % rows.size()];
    elements.push_back(row * shape.columns + below(shape.columns));
  }
  sort_unique(elements);
  return elements;
}

std::vector<std::int64_t> tile_corners(const OutputShape& shape, std::int64_t rows_max) {
  std::vector<std::int64_t> rows = edges(shape.rows);
  if (std::ssize(rows) > rows_max) {
    rows.resize(as_size(std::max<std::int64_t>(1, rows_max)));
  }
  std::vector<std::int64_t> elements;
  for (const std::int64_t row : rows) {
    for (const std::int64_t column : edges(shape.columns)) {
      elements.push_back(row * shape.columns + column);
    }
  }
  sort_unique(elements);
  return elements;
}

}  // namespace halmark
