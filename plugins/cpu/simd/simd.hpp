// The loops that exist once per vector path. One thread runs each call on its part of the work;
// splitting the work is the caller's. Types of f32 and bf16 operands are given by flags.
#pragma once

#include <cstdint>

#include "kernel.hpp"

namespace hm_cpu {

// Columns of one weight panel of the panel gemm, the same for every path so that packing is too.
constexpr std::int64_t panel_columns = 32;

// One tile of rows of dst against one weight panel.
struct PanelTask {
  const void* a = nullptr;      // packed rows, see pack_rows_*
  const void* panel = nullptr;  // packed weights, see gemm_panel.cpp
  void* dst = nullptr;          // first row and column of the tile
  std::int64_t groups = 0;      // of 1 (f32), 2 (bf16) or 4 (s8) consecutive k
  std::int64_t begin = 0;       // f32: first k of this block; a and panel are those of k = 0
  std::int64_t dst_stride = 0;  // elements between rows of dst
  int rows = 0;                 // at most PanelLoops::rows_max
  int columns = 0;              // of the panel that exist in dst
  bool dst_bf16 = false;
  bool adds = false;  // f32: to what dst holds, as every block of k but the first does
};

struct PanelLoops {
  int rows_max;      // accumulators of this many rows fit the register file
  bool s8_biased;    // A of s8 is u8 = a + 128, four to a word; else two words of two s16
  bool bf16_paired;  // A of bf16 is two to a word; else f32
  void (*f32)(const PanelTask&);
  void (*bf16)(const PanelTask&);
  void (*s8)(const PanelTask&);
};

// Rows of `cols` values. Pointers are at the first row; rows are contiguous.
struct RowTask {
  const void* src = nullptr;
  const void* other = nullptr;  // second input (residual_add), s32 row scales
  const float* gain = nullptr;  // norms: gain; dequantize: column scales
  const float* shift = nullptr;
  void* dst = nullptr;
  float* scale = nullptr;  // quantize
  std::int64_t rows = 0, cols = 0;
  float epsilon = 0;
  int kind = 0;  // of an activation
};

// Rotates one token's heads.
struct RopeTask {
  const void* src = nullptr;
  void* dst = nullptr;
  const float* cos = nullptr;
  const float* sin = nullptr;
  std::int64_t heads = 0, head_dim = 0, rotary_dim = 0;
};

// One token's weighted sum of rows of src.
struct CombineTask {
  const void* src = nullptr;
  void* dst = nullptr;
  const std::int32_t* rows = nullptr;  // of each slot; negative = not here
  const float* weights = nullptr;      // of each slot
  std::int64_t slots = 0, cols = 0;
};

// Indexed by [src is bf16][dst is bf16].
template <typename Task>
using ByDtype = void (*[2][2])(const Task&);

struct RowLoops {
  ByDtype<RowTask> rmsnorm, layernorm, softmax, activation, gated_activation, residual_add, convert;
  void (*quantize[2])(const RowTask&);    // [src is bf16]
  void (*dequantize[2])(const RowTask&);  // [dst is bf16]
  ByDtype<RopeTask> rope;
  void (*combine[2])(const CombineTask&);  // [src and dst are bf16]
};

struct StreamLoops {
  // Non-temporal stores: dst must be 64-byte aligned and bytes a multiple of 64. nullptr = none.
  void (*copy)(const void* src, void* dst, std::int64_t bytes);
  void (*fma_f32)(const float* x, float* dst, std::int64_t lanes, std::int64_t iterations);
  void (*fma_f64)(const double* x, double* dst, std::int64_t lanes, std::int64_t iterations);
};

struct SimdLoops {
  Isa isa;
  const RowLoops* rows;
  const PanelLoops* panels;
  const StreamLoops* streams;
};

const SimdLoops& simd_loops(Isa best);  // the widest path not above `best`

extern const SimdLoops simd_generic;
#if defined(__aarch64__)
extern const SimdLoops simd_dotprod;  // generic with another s8 panel
#endif
#if defined(__x86_64__)
extern const SimdLoops simd_avx2;
extern const SimdLoops simd_avx512;
extern const SimdLoops simd_vnni;  // avx512 with another s8 panel
extern const SimdLoops simd_bf16;  // vnni with another bf16 panel
#endif

}  // namespace hm_cpu
