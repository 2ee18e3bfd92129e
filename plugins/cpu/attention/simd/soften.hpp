// The softmax of a row of f32 scores, online.
#pragma once

#include "vectors.hpp"

namespace hm_cpu {
namespace {

// Turns scores[begin, end) into weights relative to the new maximum and zeroes the rest of
// [zero_begin, zero_end). Returns the factor for what the row accumulated before. The row has
// padded_lanes floats of slack behind it.
float soften_row(float* scores, std::int64_t begin, std::int64_t end, std::int64_t zero_begin,
                 std::int64_t zero_end, float& row_max, float& row_sum) {
  if (begin >= end) {
    for (std::int64_t j = zero_begin; j < zero_end; ++j) scores[j] = 0.0F;
    return 1.0F;
  }
  const std::int64_t full = begin + (end - begin + lanes - 1) / lanes * lanes;
  for (std::int64_t j = end; j < full; ++j) scores[j] = minus_infinity;
  Vector most = load(scores + begin);
  for (std::int64_t j = begin + lanes; j < full; j += lanes) {
    most = larger(load(scores + j), most);
  }
  const Vector old_max = broadcast(row_max);
  const Vector new_max = larger(largest_lane(most), old_max);
  Vector total = Vector{};
  for (std::int64_t j = begin; j < full; j += lanes) {
    const Vector weight = power_of_two(load(scores + j) - new_max);
    store(scores + j, weight);
    total += weight;
  }
  const float factor = power_of_two(old_max - new_max)[0];
  row_sum = row_sum * factor + sum_of_lanes(total)[0];
  row_max = new_max[0];
  for (std::int64_t j = zero_begin; j < begin; ++j) scores[j] = 0.0F;
  for (std::int64_t j = end; j < zero_end; ++j) scores[j] = 0.0F;
  return factor;
}

}  // namespace
}  // namespace hm_cpu
