// Packing for the panel micro-kernels: weights into panels of 32 columns, rows of A into tiles.
#pragma once

#include "simd/simd.hpp"

namespace hm_cpu {

// One plain matrix of weights, [k,n] or [n,k] when transposed.
struct WeightMatrix {
  const void* data = nullptr;
  std::int64_t n = 0, k = 0;
  bool transposed = false;
};

// Rows [first, first + rows) of src, packed as the micro-kernels read them: the rows of a tile side
// by side for each k (see PanelTask).
struct RowTile {
  const void* src;
  void* packed;  // of the tile
  std::int64_t first, rows, k;
};

// How a product of k and n is laid out in panels, for weights and sources of one dtype.
struct PanelLayout {
  PanelLayout(std::int64_t n, std::int64_t k, std::int32_t dtype, const PanelLoops& loops);

  static constexpr std::int64_t chunk_groups = 512;

  std::int32_t dtype;
  bool is_biased;  // A of s8 is u8 = a + 128
  bool is_paired;  // A of bf16 is two to a word
  std::int64_t groups, panels, panel_bytes, row_bytes;
  void (*loop)(const PanelTask&);

  std::int64_t chunks() const { return ceil_div(groups, chunk_groups); }
  // One row of f32 already is what the micro-kernel reads.
  bool is_direct(std::int64_t rows) const { return rows == 1 && dtype == HM_DTYPE_F32; }
  std::string isa(Isa best) const;  // key of the path that `loop` takes; "" = generic

  void pack_weights(const WeightMatrix& matrix, std::int64_t panel, void* target) const;
  // Groups of chunk `chunk` of the tile: a unit of work for one thread.
  void pack_rows(const RowTile& tile, std::int64_t chunk) const;
};

// More rows than this are faster elsewhere: where the library has blocked kernels for the dtype,
// fewer rows make a product bound by arithmetic than where it falls back to converting or plain
// loops.
std::int64_t panel_rows_max(const Device& device, std::int32_t dtype);

}  // namespace hm_cpu
