// The values come from the same operand, so they are as likely as any other and cost a copy; where
// there is one row only, it is turned.
#include "worker/checks/overwritten_row.hpp"

#include <algorithm>

#include "core/lists.hpp"
#include "core/numeric/random.hpp"

namespace halmark::worker {
namespace {

std::int64_t columns_of(const OperandSpec& spec) {
  return spec.dims.empty() ? spec.elements() : std::max<std::int64_t>(1, spec.dims.back());
}
std::int64_t rows_of(const OperandSpec& spec) { return spec.elements() / columns_of(spec); }

bool is_replaceable(const StagedOperand& operand) {
  const OperandSpec& spec = operand.spec;
  const bool has_own_values =
      spec.distribution == Distribution::normal || spec.distribution == Distribution::uniform ||
      spec.distribution == Distribution::integers || spec.distribution == Distribution::positive;
  return spec.role == Role::input && has_own_values && dtype_bits(spec.dtype) % 8 == 0 &&
         spec.elements() > 1 && operand.info.bytes == as_uint64(spec.bytes());
}

}  // namespace

std::optional<protocol::OverwrittenRow> draw_row(const ArgumentRing& ring, std::uint64_t random) {
  std::vector<std::size_t> choices;
  for (const auto i : indices(ring.operands())) {
    if (is_replaceable(ring.operands()[i])) choices.push_back(i);
  }
  if (choices.empty()) return std::nullopt;
  const std::size_t operand = choices[uniform_below(hash_u64(random, 0), choices.size())];
  const OperandSpec& spec = ring.operands()[operand].spec;
  const std::int64_t rows = rows_of(spec), columns = columns_of(spec);
  const auto below = [&](std::uint64_t counter, std::int64_t bound) {
    return as_int64(uniform_below(hash_u64(random, counter), as_uint64(bound)));
  };
  protocol::OverwrittenRow row{.operand = as_int64(operand), .row = below(1, rows)};
  row.from_row = rows > 1 ? (row.row + 1 + below(2, rows - 1)) % rows : row.row;
  row.shift = columns > 1 ? 1 + below(3, columns - 1) : 0;
  return row;
}

std::optional<protocol::OverwrittenRow> draw_whole(
    const ArgumentRing& ring, std::uint64_t random,
    std::span<const protocol::OverwrittenRow> drawn) {
  constexpr std::uint64_t draws_max = 32;  // small operands have few amounts
  std::optional<protocol::OverwrittenRow> row;
  for (std::uint64_t i = 0; i < draws_max; ++i) {
    row = draw_row(ring, hash_u64(random, i));
    if (!row) return std::nullopt;
    row->whole = true;
    const auto rows = rows_of(ring.operands()[as_size(row->operand)].spec);
    const auto is_as_row = [&](const protocol::OverwrittenRow& other) {
      const auto turned = (row->from_row - row->row) - (other.from_row - other.row);
      return other.operand == row->operand && other.shift == row->shift && turned % rows == 0;
    };
    if (std::ranges::none_of(drawn, is_as_row)) break;
  }
  return row;
}

OverwriteRow::OverwriteRow(ArgumentRing& ring, int set, const protocol::OverwrittenRow& row,
                           ClockSource& clock)
    : ring_(ring), set_(set), row_(row) {
  const auto operand = as_size(row.operand);
  const OperandSpec& spec = ring.operands()[operand].spec;
  const std::int64_t element_bytes = dtype_bits(spec.dtype) / 8;
  const std::int64_t row_bytes = columns_of(spec) * element_bytes;
  const std::int64_t rows = row.whole ? rows_of(spec) : 1;
  OperandBuffer& buffer = ring.buffer(set, operand);
  const auto begin_of = [&](std::int64_t r) { return as_uint64(r * row_bytes); };
  begin_ = begin_of(row.whole ? 0 : row.row);
  before_.resize(begin_of(rows));
  buffer.read_at(begin_, before_.data(), before_.size());
  std::vector<std::byte> values = before_;
  if (!row.whole) buffer.read_at(begin_of(row.from_row), values.data(), values.size());
  if (row.whole) {
    const std::int64_t from = ((row.from_row - row.row) % rows + rows) % rows;
    std::ranges::rotate(values, values.begin() + from * row_bytes);
  }
  for (std::int64_t r = 0; r < rows; ++r) {
    const auto first = values.begin() + r * row_bytes;
    std::rotate(first, first + row.shift * element_bytes, first + row_bytes);
  }
  const double begin_ns = clock.wall_ns();
  buffer.write_at(begin_, values.data(), values.size());
  write_ns_ = clock.wall_ns() - begin_ns;
}

void OverwriteRow::restore() {
  ring_.buffer(set_, as_size(row_.operand)).write_at(begin_, before_.data(), before_.size());
}

OverwriteRow::Stretch OverwriteRow::of_output(std::size_t operand) const {
  const OperandSpec& input = ring_.operands()[as_size(row_.operand)].spec;
  const OperandSpec& output = ring_.operands()[operand].spec;
  const std::int64_t rows = rows_of(output);
  const std::int64_t first = row_.row * rows / rows_of(input);
  const std::int64_t end = std::max(first + 1, (row_.row + 1) * rows / rows_of(input));
  const auto bytes = as_uint64(output.bytes());
  const std::uint64_t begin = bytes / as_uint64(rows) * as_uint64(std::min(first, rows - 1));
  const std::uint64_t wanted = bytes / as_uint64(rows) * as_uint64(end - first);
  return {begin,
          std::min<std::uint64_t>({wanted, bytes - begin, protocol::KeptOutput::kept_bytes_max})};
}

}  // namespace halmark::worker
