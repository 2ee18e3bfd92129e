// The parent makes the row again from its name alone, as it makes every input from a seed.
#include "measure/campaign/gate/changed_inputs.hpp"

#include <algorithm>
#include <vector>

#include "core/lists.hpp"

namespace halmark {
namespace {

std::int64_t columns_of(const OperandSpec& spec) {
  return spec.dims.empty() ? spec.elements() : std::max<std::int64_t>(1, spec.dims.back());
}

}  // namespace

bool is_row_of(const protocol::OverwrittenRow& row, std::span<const OperandSpec> operands) {
  if (row.operand < 0 || row.operand >= std::ssize(operands)) return false;
  const OperandSpec& spec = operands[as_size(row.operand)];
  const std::int64_t rows = spec.elements() / columns_of(spec);
  const auto is_row = [&](std::int64_t r) { return r >= 0 && r < rows; };
  return spec.role == Role::input && is_row(row.row) && is_row(row.from_row) && row.shift >= 0 &&
         row.shift < columns_of(spec);
}

ChangedInputs::ChangedInputs(const InputReader& plain, std::span<const OperandSpec> operands,
                             const protocol::OverwrittenRow& row)
    : plain_(plain),
      row_(row),
      columns_(columns_of(operands[as_size(row.operand)])),
      rows_(operands[as_size(row.operand)].elements() / columns_) {}

void ChangedInputs::read(int rank, std::size_t operand, std::int64_t offset,
                         std::span<double> out) const {
  plain_.read(rank, operand, offset, out);
  if (as_int64(operand) != row_.operand) return;
  const auto count = std::ssize(out);
  if (!row_.whole) return read_row(rank, row_.row, row_.from_row, offset, out);
  for (std::int64_t row = offset / columns_; row * columns_ < offset + count; ++row) {
    const std::int64_t from = (row + row_.from_row - row_.row + rows_) % rows_;
    read_row(rank, row, from, offset, out);
  }
}

// The part of `row` that lies in `out`.
void ChangedInputs::read_row(int rank, std::int64_t row, std::int64_t from_row, std::int64_t offset,
                             std::span<double> out) const {
  const std::int64_t begin = row * columns_;
  const std::int64_t first = std::max(offset, begin);
  const std::int64_t end = std::min(offset + std::ssize(out), begin + columns_);
  if (first >= end) return;
  std::vector<double> values(as_size(columns_));
  plain_.read(rank, as_size(row_.operand), from_row * columns_, values);
  std::rotate(values.begin(), values.begin() + row_.shift, values.end());
  for (std::int64_t at = first; at < end; ++at) {
    out[as_size(at - offset)] = values[as_size(at - begin)];
  }
}

}  // namespace halmark
