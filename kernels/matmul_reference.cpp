#include "kernels/matmul_reference.hpp"
#include "core/lists.hpp"

#include <algorithm>

#include "kernels/rows.hpp"
#include "kernels/tolerance.hpp"

namespace halmark {
namespace {

constexpr std::size_t column_block = 64;

// Columns of wei, each as k contiguous values. A plain [k,n] wei is read by rows where the columns
// lie close together, and value by value where they are scattered.
std::vector<double> read_columns(const InputReader& inputs, int rank, const MatmulBlock& block,
                                 std::span<const std::int64_t> columns) {
  const auto depth = as_size(block.k);
  std::vector<double> values(columns.size() * depth);
  if (block.transposed) {
    for (const auto c : indices(columns)) {
      inputs.read(rank, block.wei, block.wei_offset + columns[c] * block.k,
                  std::span(values).subspan(c * depth, depth));
    }
    return values;
  }
  const auto width = columns.back() - columns.front() + 1;
  const bool dense = width <= 8 * std::ssize(columns);
  std::vector<double> row(dense ? as_size(width) : 1);
  for (const auto i : indices(depth)) {
    const auto row_begin = block.wei_offset + as_int64(i) * block.n;
    if (dense) inputs.read(rank, block.wei, row_begin + columns.front(), row);
    for (const auto c : indices(columns)) {
      if (!dense) inputs.read(rank, block.wei, row_begin + columns[c], row);
      values[c * depth + i] = row[dense ? as_size(columns[c] - columns.front()) : 0];
    }
  }
  return values;
}

double sum_error(const MatmulBlock& block, double magnitude) {
  const bool is_8_bit_float = dtype_bits(block.src_dtype) == 8 && !is_integer(block.src_dtype);
  const auto n = as_double(block.k);
  return is_8_bit_float ? accumulation_error_of_8_bit_floats(n, magnitude)
                        : accumulation_error(n, magnitude);
}

}  // namespace

void matmul_reference(const InputReader& inputs, int rank, const MatmulBlock& block,
                      std::span<const std::int64_t> elements, std::span<Expected> out) {
  const auto n = block.n;
  const auto depth = as_size(block.k);

  std::vector<std::int64_t> columns(elements.size());
  std::ranges::transform(elements, columns.begin(), [n](std::int64_t e) { return e % n; });
  std::ranges::sort(columns);
  columns.erase(std::ranges::unique(columns).begin(), columns.end());

  // Ordered by (block of columns, row): each column is read once, a row once per block.
  std::vector<std::size_t> order(elements.size()), column_rank(elements.size());
  for (const auto i : indices(elements)) {
    order[i] = i;
    column_rank[i] = as_size(std::ranges::lower_bound(columns, elements[i] % n) - columns.begin());
  }
  std::ranges::sort(order, {}, [&](std::size_t i) {
    return std::pair(column_rank[i] / column_block, elements[i]);
  });

  std::vector<double> weights, row(depth);
  std::size_t block_index = as_size(-1);
  std::int64_t row_index = -1;
  for (const auto i : order) {
    const auto wanted = column_rank[i] / column_block;
    if (wanted != block_index) {
      block_index = wanted;
      const auto first = wanted * column_block;
      const auto count = std::min(column_block, columns.size() - first);
      weights = read_columns(inputs, rank, block,
                             std::span<const std::int64_t>(columns).subspan(first, count));
    }
    if (elements[i] / n != row_index) {
      row_index = elements[i] / n;
      inputs.read(rank, block.src, block.src_offset + row_index * block.k, row);
    }
    const auto product =
        dot(row.data(), weights.data() + (column_rank[i] % column_block) * depth, depth);
    const double error = sum_error(block, product.magnitude);
    out[i] = {.value = product.value,
              .tolerance = is_integer(block.dst_dtype)
                               ? 0.0
                               : rounded_tolerance(block.dst_dtype, product.value, error)};
  }
}

std::vector<Dtype> matmul_results(Dtype source, std::span<const Dtype> dtypes) {
  if (source == Dtype::s8) return {Dtype::s32};
  std::vector<Dtype> results{Dtype::f32};
  if (source == Dtype::bf16 || source == Dtype::f16) results.push_back(source);
  std::erase_if(results, [&](Dtype d) { return !contains(dtypes, d); });
  return results;
}

std::optional<std::string> matmul_types_fault(const Params& p) {
  const bool integer = p.dtype("src_dtype") == Dtype::s8;
  if ((p.dtype("wei_dtype") == Dtype::s8) != integer ||
      (p.dtype("dst_dtype") == Dtype::s32) != integer) {
    return "integer matmul is s8 x s8 -> s32; got " + p.text();
  }
  return std::nullopt;
}

}  // namespace halmark
