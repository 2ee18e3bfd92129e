// The routing of a mixture of experts, as part of the problem: how many rows each expert gets and
// which experts each token picks follow from four numbers, so that FLOPs and bytes are exact and
// every machine computes the same thing.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/problem.hpp"

namespace halmark {

// Rows per expert, [experts]: a power law with exponent skew_percent / 100 over a fixed
// pseudo-random order of the experts, apportioned by largest remainder. Every count is at most
// `tokens`, because a token picks an expert at most once; they sum to tokens * top_k. Skew 0 is as
// even as possible. Needs 1 <= top_k <= experts, tokens >= 0.
std::vector<std::int64_t> routing_counts(std::int64_t tokens, std::int64_t top_k,
                                         std::int64_t experts, std::int64_t skew_percent);

// Expert of (token, slot), [tokens, top_k]: distinct and ascending within a token, with exactly the
// rows of routing_counts.
std::vector<std::int64_t> routing_table(std::int64_t tokens, std::int64_t top_k,
                                        std::int64_t experts, std::int64_t skew_percent);

// Experts [begin, end) of one expert-parallel rank.
struct ExpertRange {
  std::int64_t begin = 0, end = 0;
  std::int64_t size() const { return end - begin; }
  bool contains(std::int64_t expert) const { return begin <= expert && expert < end; }
  bool operator==(const ExpertRange&) const = default;
};

// Contiguous, experts / ep_size each; ep_size divides experts.
ExpertRange local_experts(std::int64_t experts, std::int64_t ep_size, std::int64_t ep_rank);

// Rows of the range's experts, and how many of them have at least one.
std::int64_t rows_of(std::span<const std::int64_t> counts, ExpertRange range);
std::int64_t active_experts(std::span<const std::int64_t> counts, ExpertRange range);
// The rank with the most rows; the lowest of several.
std::int64_t heaviest_rank(std::span<const std::int64_t> counts, std::int64_t ep_size);

// The routing parameters that grouped_gemm, moe_dispatch and moe_combine share: tokens, top_k,
// experts, skew, ep_size, ep_rank.
struct Routing {
  std::int64_t tokens = 0, top_k = 0, experts = 0, skew_percent = 0, ep_size = 1, ep_rank = 0;

  explicit Routing(const Params& params);
  // What does not fit together, or leaves the rank without a row; nothing when all is well.
  std::optional<std::string> fault() const;
  ExpertRange local() const { return local_experts(experts, ep_size, ep_rank); }
  std::vector<std::int64_t> counts() const;        // of all experts
  std::vector<std::int64_t> local_counts() const;  // of this rank's experts, in their order
  std::vector<std::int64_t> table() const;
  std::int64_t rows() const;  // of this rank
};

// Position (token * top_k + slot) of each row of a rank, [rows]: grouped by expert, in the order of
// (token, slot) within one.
std::vector<std::int64_t> local_positions(std::span<const std::int64_t> table, ExpertRange range);

}  // namespace halmark
