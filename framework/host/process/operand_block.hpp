// How much memory an operand takes where workers keep it: the worker that allocates and the parent
// that explains what was allocated read the same rule.
#pragma once

#include <algorithm>
#include <cstdint>

namespace halmark {

inline constexpr std::uint64_t operand_canary_bytes = 64;  // in front of an operand and behind it
inline constexpr std::uint64_t operand_alignment_min = 64;
inline constexpr std::uint64_t operand_page_bytes = 4096;

constexpr std::uint64_t whole_pages(std::uint64_t bytes) {
  return (bytes + operand_page_bytes - 1) / operand_page_bytes * operand_page_bytes;
}

// Asked for: the operand at its alignment, and its canaries. Taken: whole pages of it.
constexpr std::uint64_t operand_block_bytes(std::uint64_t bytes, std::uint64_t alignment) {
  return bytes + 2 * operand_canary_bytes + std::max(alignment, operand_alignment_min);
}

}  // namespace halmark
