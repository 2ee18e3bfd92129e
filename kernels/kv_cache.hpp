// How keys and values are kept between steps, for the ops that read them and the model that holds
// them. A row is what one token adds to the cache of one KV head: its key, its value, or a latent
// row that stands for both.
//
// f8: one scale for all keys and one for all values of a layer, as vLLM and TensorRT-LLM keep
// their fp8 caches; nothing per row. s8: every row has a scale and a zero point of 16 bits, as
// LMDeploy's per-head per-token int8 cache has them (docs/en/quantization/kv_quant.md there).
#pragma once

#include <array>

#include "kernels/rows.hpp"

namespace halmark {

inline constexpr std::array<std::int64_t, 6> kv_dtypes{
    dtype_value(Dtype::f32),       dtype_value(Dtype::bf16),    dtype_value(Dtype::f16),
    dtype_value(Dtype::f8_e4m3fn), dtype_value(Dtype::f8_e5m2), dtype_value(Dtype::s8)};

// Queries in the type of such a cache: 8-bit products of attention (FlashAttention-3, 2407.08608,
// section 3.3, for f8; SageAttention, 2410.02367, for s8).
inline constexpr std::array<std::int64_t, 5> query_dtypes{
    dtype_value(Dtype::f32), dtype_value(Dtype::bf16), dtype_value(Dtype::f16),
    dtype_value(Dtype::f8_e4m3fn), dtype_value(Dtype::s8)};

// Whether rows are converted on their way into the cache, and scaled on their way out of it.
constexpr bool is_quantized_kv(Dtype dtype) {
  return dtype == Dtype::f8_e4m3fn || dtype == Dtype::f8_e5m2 || dtype == Dtype::s8;
}

// Bytes beside the values of one row.
constexpr std::int64_t kv_row_scale_bytes(Dtype dtype) { return dtype == Dtype::s8 ? 4 : 0; }

// Bytes of one row of `values` values, its scale included.
inline std::int64_t kv_row_bytes(Dtype dtype, std::int64_t values) {
  return dtype_bytes(dtype, values) + kv_row_scale_bytes(dtype);
}

}  // namespace halmark
