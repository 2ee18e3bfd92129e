// Which keys a query sees, and how many (query, key) pairs a mask has. `cached` = context minus
// new_tokens; query i sits at position cached + i.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/numeric/cast.hpp"

namespace halmark {

struct KeyRange {
  std::int64_t begin = 0, end = 0;
  std::int64_t count() const { return end - begin; }
};

constexpr KeyRange visible_keys(std::int64_t query, std::int64_t new_tokens, std::int64_t context,
                                bool causal, std::int64_t window) {
  const auto position = context - new_tokens + query;
  const auto end = causal ? position + 1 : context;
  return {window > 0 ? std::max<std::int64_t>(end - window, 0) : 0, end};
}

// Pairs per sequence: S (P + S) without mask, S P + S (S + 1) / 2 causal; under a window w the
// a = clamp(w - 1 - P, 0, S) queries still inside it see all keys, the others w.
constexpr double attention_pairs(std::int64_t new_tokens, std::int64_t context, bool causal,
                                 std::int64_t window) {
  const auto s = as_double(new_tokens), p = as_double(context - new_tokens);
  if (!causal) return s * (p + s);
  if (window == 0) return s * p + s * (s + 1) / 2;
  const auto w = as_double(window);
  const double a = std::clamp(w - 1 - p, 0.0, s);
  return a * p + a * (a + 1) / 2 + (s - a) * w;
}

// Distinct keys that any query of the step sees.
constexpr std::int64_t attention_keys(std::int64_t new_tokens, std::int64_t context, bool causal,
                                      std::int64_t window) {
  return context - visible_keys(0, new_tokens, context, causal, window).begin;
}

// Pairs of chunked local attention: a query at position p sees (p mod chunk) + 1 keys.
constexpr double chunked_pairs(std::int64_t new_tokens, std::int64_t context, std::int64_t chunk) {
  const auto below = [chunk](std::int64_t position) {  // sum over all queries before `position`
    const auto c = as_double(chunk), rest = as_double(position % chunk);
    return as_double(position / chunk) * (c * (c + 1) / 2) + rest * (rest + 1) / 2;
  };
  return below(context) - below(context - new_tokens);
}

// Distinct keys: from the start of the first query's chunk on.
constexpr std::int64_t chunked_keys(std::int64_t new_tokens, std::int64_t context,
                                    std::int64_t chunk) {
  return context - (context - new_tokens) / chunk * chunk;
}

}  // namespace halmark
