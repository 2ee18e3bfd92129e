// Device code of the ops on rows. `is_vector`: `cols` is a multiple of row_vector_width, so that
// every row begins at a multiple of 16 bytes.
#pragma once

#include "function.hpp"

namespace hm_cuda {

struct RowTask {
  const void* src = nullptr;
  const void* second = nullptr;  // residual_add: b; layernorm: shift; dequantize: row_scale
  const void* gain = nullptr;    // dequantize: col_scale
  void* dst = nullptr;
  void* scale = nullptr;  // quantize
  std::int64_t rows = 0, cols = 0;
  float epsilon = 0;
  std::int32_t kind = 0;
};

// Elements that one thread moves at once.
constexpr int row_vector_width(std::int64_t src_bytes, std::int64_t dst_bytes) {
  return src_bytes == 2 || dst_bytes == 2 ? 8 : 4;
}

// A row per blockDim.x threads, blockDim.y rows per block; see reduce.cuh.
DeviceFunction rmsnorm_function(std::int64_t src, std::int64_t dst, bool is_vector);
DeviceFunction layernorm_function(std::int64_t src, std::int64_t dst, bool is_vector);
DeviceFunction softmax_function(std::int64_t src, std::int64_t dst, bool is_vector);
DeviceFunction quantize_function(std::int64_t src, bool is_vector);

// Element by element over rows * cols values, whatever their rows.
DeviceFunction activation_function(std::int64_t src, std::int64_t dst);
DeviceFunction residual_add_function(std::int64_t src, std::int64_t dst);

// A row per gridDim.x, columns over gridDim.y * blockDim.x.
DeviceFunction gated_activation_function(std::int64_t src, std::int64_t dst, bool is_vector);
DeviceFunction dequantize_function(std::int64_t dst, bool is_vector);
// src = table, second = ids; an id outside the table reads its first or last row. `vocab` rows.
struct EmbeddingTask {
  const void* table;
  const std::int32_t* ids;
  void* dst;
  std::int64_t rows, cols, vocab;
};
DeviceFunction embedding_function(std::int64_t src, std::int64_t dst, bool is_vector);

struct RopeTask {
  const void* src;
  const float *cosine, *sine;  // [rows, half]
  void* dst;
  std::int64_t rows;
  std::int32_t heads, head_dim, half;
};
// A row per gridDim.x, its pairs over gridDim.y * blockDim.x. `is_vector`: half and head_dim are
// multiples of the vector width.
DeviceFunction rope_function(std::int64_t src, std::int64_t dst, bool is_vector);

}  // namespace hm_cuda
