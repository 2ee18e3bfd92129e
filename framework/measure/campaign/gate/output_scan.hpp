// One pass over a whole output: elements that were never written, NaN and infinity.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/dtype.hpp"

namespace halmark {

enum class OutputDefect { none, unwritten, not_a_number, infinite };

struct OutputFinding {
  OutputDefect defect = OutputDefect::none;
  std::int64_t element = 0;  // the first one
};

// Outputs are poisoned with 0xff bytes before a call: a NaN in every floating type. A floating
// element that still holds the pattern was never written. An integer may be 0xff by right, so
// integers need `integer_poison_bytes` of it in a row, which chance does not produce.
OutputFinding scan_output(Dtype dtype, std::span<const std::byte> output);

inline constexpr std::size_t integer_poison_bytes = 16;

}  // namespace halmark
