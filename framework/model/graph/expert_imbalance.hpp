// Uniform routing by chance: how many distinct experts a batch meets, and how much more than the
// mean the slowest expert-parallel rank has to do.
#pragma once

#include <cstdint>

namespace halmark {

// Expected number of experts with at least one of `tokens` tokens, each picking `top_k` distinct
// ones of `experts` uniformly: E (1 - (1 - K/E)^T). This, not E, sets the weights that a small
// batch reads. Needs 1 <= top_k <= experts, tokens >= 1.
double expected_distinct_experts(std::int64_t experts, std::int64_t top_k, std::int64_t tokens);

// Expected rows of the rank with the most, over the mean; `ranks` divides `experts`. One token puts
// a hypergeometric number of rows on a rank, and loads are exchangeable with a fixed sum, so from
// 64 tokens on (within 1 %)
//     1 + e_R sqrt(R / (T K) (E - K) / (E - 1)),   e_R = expected_normal_maximum(R).
// One token: the exact law. In between: a simulation with a fixed seed, within about 1 %.
double expected_imbalance(std::int64_t experts, std::int64_t top_k, std::int64_t ranks,
                          std::int64_t tokens);

// E[max of `count` independent standard normals], by numeric integration; 0 for one.
double expected_normal_maximum(std::int64_t count);

}  // namespace halmark
