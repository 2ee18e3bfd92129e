// The end of every path: sums of a row divided by its sum of weights and rounded to dst.
#pragma once

#include <halmark_plugin.h>

#include "vectors.hpp"

namespace hm_cpu {
namespace {

HM_CPU_INLINE std::uint16_t narrowed(float value) {
  std::uint32_t bits;
  __builtin_memcpy(&bits, &value, 4);
  const std::uint32_t rounded = (bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16;
  const std::uint32_t quiet = (bits >> 16) | 0x40U;
  return static_cast<std::uint16_t>((bits & 0x7fffffffU) > 0x7f800000U ? quiet : rounded);
}

void store_rows(const AttentionTask& task, const AttentionState& state) {
  const std::int64_t wide = padded_width(task.head_dim);
  for (std::int64_t r = 0; r < row_count(task); ++r) {
    const std::int64_t offset = r / task.group * task.token_stride + r % task.group * task.head_dim;
    const float* source = state.accumulated + r * wide;
    const float inverse = 1.0F / state.row_sum[r];
    if (task.dst_dtype == HM_DTYPE_BF16) {
      auto* target = static_cast<std::uint16_t*>(task.dst) + offset;
      for (std::int64_t d = 0; d < task.head_dim; ++d) target[d] = narrowed(source[d] * inverse);
    } else {
      float* target = static_cast<float*>(task.dst) + offset;
      for (std::int64_t d = 0; d < task.head_dim; ++d) target[d] = source[d] * inverse;
    }
  }
}

}  // namespace
}  // namespace hm_cpu
