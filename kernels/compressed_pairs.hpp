// How many (query, entry) pairs a causal mask has when keys are entries that stand for `ratio`
// whole tokens each, and a query reads at most `top_k` of them: sparse and compressed attention.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/numeric/cast.hpp"

namespace halmark {

// Entries that the first `tokens` tokens fill.
constexpr std::int64_t compressed_entries(std::int64_t tokens, std::int64_t ratio) {
  return tokens / ratio;
}

// Sum over tokens i = 1..tokens of floor(i / ratio).
constexpr std::int64_t entries_seen(std::int64_t tokens, std::int64_t ratio) {
  const std::int64_t full = tokens / ratio, rest = tokens % ratio;
  return ratio * (full * (full - 1) / 2) + full * (rest + 1);
}

// Pairs of one sequence: sum over its new tokens' positions p of min(top_k, floor((p + 1) /
// ratio)); top_k 0 = all entries. ratio 1 is sparse attention over single tokens.
constexpr double compressed_pairs(std::int64_t new_tokens, std::int64_t context, std::int64_t ratio,
                                  std::int64_t top_k) {
  const auto seen = [&](std::int64_t tokens) {
    const std::int64_t filled = top_k == 0 ? tokens : std::min(tokens, ratio * top_k);
    return as_double(entries_seen(filled, ratio)) + as_double(tokens - filled) * as_double(top_k);
  };
  return seen(context) - seen(context - new_tokens);
}

// Entries that a step has to read of one sequence: no more than there are, and no more than pairs.
constexpr double compressed_keys(std::int64_t new_tokens, std::int64_t context, std::int64_t ratio,
                                 std::int64_t top_k) {
  return std::min(as_double(compressed_entries(context, ratio)),
                  compressed_pairs(new_tokens, context, ratio, top_k));
}

}  // namespace halmark
