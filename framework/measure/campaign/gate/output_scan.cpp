#include "measure/campaign/gate/output_scan.hpp"

#include <cmath>
#include <cstring>

#include "core/lists.hpp"

namespace halmark {
namespace {

// A block is tested without branches so that the compiler vectorises it; only a block with a hit is
// looked at element by element.
constexpr std::size_t block_elements = 1024;

template <class Bits>
OutputFinding scan_ieee(std::span<const std::byte> output, Bits exponent_mask, Bits fraction_mask) {
  const std::size_t count = output.size() / sizeof(Bits);
  Bits block[block_elements];
  for (std::size_t start = 0; start < count; start += block_elements) {
    const std::size_t length = std::min(block_elements, count - start);
    std::memcpy(block, output.data() + start * sizeof(Bits), length * sizeof(Bits));
    unsigned hit = 0;
    for (const auto i : indices(length)) {
      hit |= static_cast<unsigned>((block[i] & exponent_mask) == exponent_mask);
    }
    if (hit == 0) continue;
    for (const auto i : indices(length)) {
      if ((block[i] & exponent_mask) != exponent_mask) continue;
      const auto element = as_int64(start + i);
      if (block[i] == static_cast<Bits>(~Bits{0})) return {OutputDefect::unwritten, element};
      if ((block[i] & fraction_mask) != 0) return {OutputDefect::not_a_number, element};
      return {OutputDefect::infinite, element};
    }
  }
  return {};
}

OutputFinding scan_by_value(Dtype dtype, std::span<const std::byte> output, std::int64_t count) {
  for (const std::int64_t i : below(count)) {
    const double value = load_element(dtype, output.data(), i);
    if (std::isnan(value)) return {OutputDefect::not_a_number, i};
    if (std::isinf(value)) return {OutputDefect::infinite, i};
  }
  return {};
}

OutputFinding scan_integers(std::span<const std::byte> output, std::size_t width) {
  std::size_t run = 0;
  for (const auto i : indices(output)) {
    run = output[i] == std::byte{0xff} ? run + 1 : 0;
    if (run >= integer_poison_bytes) {
      return {OutputDefect::unwritten, as_int64((i + 1 - run) / width)};
    }
  }
  return {};
}

}  // namespace

OutputFinding scan_output(Dtype dtype, std::span<const std::byte> output) {
  switch (dtype) {
    case Dtype::f64:
      return scan_ieee<std::uint64_t>(output, 0x7ff0000000000000U, 0x000fffffffffffffU);
    case Dtype::f32:
    case Dtype::tf32:
      return scan_ieee<std::uint32_t>(output, 0x7f800000U, 0x007fffffU);
    case Dtype::f16:
      return scan_ieee<std::uint16_t>(output, 0x7c00U, 0x03ffU);
    case Dtype::bf16:
      return scan_ieee<std::uint16_t>(output, 0x7f80U, 0x007fU);
    default:
      break;
  }
  const auto width = as_size(dtype_bits(dtype) / 8);
  if (width == 0) return {};  // sub-byte types have no pattern that cannot occur
  if (is_integer(dtype)) return scan_integers(output, width);
  return scan_by_value(dtype, output, as_int64(output.size() / width));
}

}  // namespace halmark
