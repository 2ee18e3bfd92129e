#include "panel_pack.hpp"

#include <algorithm>
#include <cstring>

namespace hm_cpu {
namespace {

// Consecutive k that share a 32-bit word of the panel.
std::int64_t group_of(std::int32_t dtype) { return 4 / element_bytes(dtype); }

// Word (g, c) of a panel holds the values k = g * group ... of column c, the first in its low bits;
// missing k and columns are 0. T is the unsigned integer as wide as a weight.
template <typename T>
void pack_columns(const WeightMatrix& matrix, std::int64_t first, std::uint32_t* panel) {
  constexpr std::int64_t group = 4 / sizeof(T), bits = 8 * sizeof(T);
  const std::int64_t columns = std::min(panel_columns, matrix.n - first);
  const std::int64_t groups = ceil_div(matrix.k, group), whole = matrix.k / group;
  if (columns < panel_columns || whole < groups) {
    std::memset(panel, 0, static_cast<std::size_t>(groups * panel_columns * 4));
  }
  const std::int64_t k_step = matrix.transposed ? 1 : matrix.n,
                     c_step = matrix.transposed ? matrix.k : 1;
  const T* source = static_cast<const T*>(matrix.data) + first * c_step;
  const auto pack_word = [&](std::int64_t g, std::int64_t c, std::int64_t count) {
    std::uint32_t word = 0;
    for (std::int64_t i = 0; i < count; ++i) {
      word |= static_cast<std::uint32_t>(source[(g * group + i) * k_step + c * c_step])
              << (i * bits);
    }
    panel[g * panel_columns + c] = word;
  };
  // The inner loop follows the source: its lines are read once either way.
  if (matrix.transposed) {
    for (std::int64_t c = 0; c < columns; ++c) {
      for (std::int64_t g = 0; g < whole; ++g) pack_word(g, c, group);
    }
  } else {
    for (std::int64_t g = 0; g < whole; ++g) {
      for (std::int64_t c = 0; c < columns; ++c) pack_word(g, c, group);
    }
  }
  if (whole == groups) return;
  for (std::int64_t c = 0; c < columns; ++c) pack_word(whole, c, matrix.k % group);
}

// Behind an s8 panel: the sum of each column, for kernels that shift A by 128.
void sum_columns(std::int64_t groups, std::uint32_t* panel) {
  std::int32_t sums[panel_columns] = {};
  for (std::int64_t g = 0; g < groups; ++g) {
    for (std::int64_t c = 0; c < panel_columns; ++c) {
      const auto word = static_cast<std::int32_t>(panel[g * panel_columns + c]);
      sums[c] += (word << 24 >> 24) + (word << 16 >> 24) + (word << 8 >> 24) + (word >> 24);
    }
  }
  std::memcpy(panel + groups * panel_columns, sums, sizeof sums);
}

void pack_rows_f32(const RowTile& tile, std::int64_t begin, std::int64_t end) {
  float* out = static_cast<float*>(tile.packed);
  for (std::int64_t r = 0; r < tile.rows; ++r) {
    const float* a = static_cast<const float*>(tile.src) + (tile.first + r) * tile.k;
    for (std::int64_t k = begin; k < end; ++k) out[k * tile.rows + r] = a[k];
  }
}

void pack_rows_bf16(const RowTile& tile, std::int64_t begin, std::int64_t end) {
  std::uint32_t* out = static_cast<std::uint32_t*>(tile.packed);
  for (std::int64_t r = 0; r < tile.rows; ++r) {
    const std::uint16_t* a =
        static_cast<const std::uint16_t*>(tile.src) + (tile.first + r) * tile.k;
    const std::int64_t last = std::min(2 * end, tile.k);
    for (std::int64_t k = 2 * begin; k < last; ++k) {
      out[k * tile.rows + r] = static_cast<std::uint32_t>(a[k]) << 16;
    }
    if (last < 2 * end) out[last * tile.rows + r] = 0;
  }
}

void pack_row_pairs(const RowTile& tile, std::int64_t begin, std::int64_t end) {
  std::uint32_t* out = static_cast<std::uint32_t*>(tile.packed);
  for (std::int64_t r = 0; r < tile.rows; ++r) {
    const std::uint16_t* a =
        static_cast<const std::uint16_t*>(tile.src) + (tile.first + r) * tile.k;
    for (std::int64_t g = begin; g < end; ++g) {
      const std::uint32_t second = 2 * g + 1 < tile.k ? a[2 * g + 1] : 0U;
      out[g * tile.rows + r] = a[2 * g] | second << 16;
    }
  }
}

std::uint32_t half_word(std::int8_t value) { return static_cast<std::uint16_t>(value); }

void pack_rows_s8(const RowTile& tile, std::int64_t begin, std::int64_t end, bool biased) {
  std::uint32_t* out = static_cast<std::uint32_t*>(tile.packed);
  for (std::int64_t r = 0; r < tile.rows; ++r) {
    const std::int8_t* a = static_cast<const std::int8_t*>(tile.src) + (tile.first + r) * tile.k;
    for (std::int64_t g = begin; g < end; ++g) {
      std::int8_t quad[4] = {};
      std::memcpy(quad, a + 4 * g,
                  static_cast<std::size_t>(std::min<std::int64_t>(4, tile.k - 4 * g)));
      if (biased) {
        std::uint32_t word;
        std::memcpy(&word, quad, sizeof word);
        out[g * tile.rows + r] = word ^ 0x80808080U;  // + 128 in each byte
      } else {
        out[2 * g * tile.rows + r] = half_word(quad[0]) | half_word(quad[2]) << 16;
        out[(2 * g + 1) * tile.rows + r] = half_word(quad[1]) | half_word(quad[3]) << 16;
      }
    }
  }
}

}  // namespace

PanelLayout::PanelLayout(std::int64_t n, std::int64_t k, std::int32_t type, const PanelLoops& loops)
    : dtype(type),
      is_biased(type == HM_DTYPE_S8 && loops.s8_biased),
      is_paired(type == HM_DTYPE_BF16 && loops.bf16_paired) {
  groups = ceil_div(k, group_of(dtype));
  panels = ceil_div(n, panel_columns);
  panel_bytes = groups * panel_columns * 4 + (dtype == HM_DTYPE_S8 ? panel_columns * 4 : 0);
  row_bytes = groups * (dtype == HM_DTYPE_F32 || is_biased || is_paired ? 4 : 8);
  loop = dtype == HM_DTYPE_F32 ? loops.f32 : dtype == HM_DTYPE_BF16 ? loops.bf16 : loops.s8;
}

std::string PanelLayout::isa(Isa best) const {
  if (is_paired) return std::string(isa_label(Isa::avx512_bf16));
  if (!is_biased) return std::string(isa_key(best));
  return std::string(best == Isa::generic ? "asimd_dotprod" : isa_label(Isa::avx512_vnni));
}

void PanelLayout::pack_weights(const WeightMatrix& matrix, std::int64_t panel, void* target) const {
  auto* words = static_cast<std::uint32_t*>(target);
  const std::int64_t first = panel * panel_columns;
  if (dtype == HM_DTYPE_F32) {
    pack_columns<std::uint32_t>(matrix, first, words);
  } else if (dtype == HM_DTYPE_BF16) {
    pack_columns<std::uint16_t>(matrix, first, words);
  } else {
    pack_columns<std::uint8_t>(matrix, first, words);
    sum_columns(groups, words);
  }
}

void PanelLayout::pack_rows(const RowTile& tile, std::int64_t chunk) const {
  const std::int64_t begin = chunk * chunk_groups, end = std::min(begin + chunk_groups, groups);
  if (dtype == HM_DTYPE_F32) {
    pack_rows_f32(tile, begin, end);
  } else if (is_paired) {
    pack_row_pairs(tile, begin, end);
  } else if (dtype == HM_DTYPE_BF16) {
    pack_rows_bf16(tile, begin, end);
  } else {
    pack_rows_s8(tile, begin, end, is_biased);
  }
}

std::int64_t panel_rows_max(const Device& device, std::int32_t dtype) {
  constexpr std::int64_t beside_blocked = 4, beside_plain = 16;
  switch (dtype) {
    case HM_DTYPE_BF16:
      return device.isa >= Isa::avx512_bf16 ? beside_blocked : INT64_MAX;
    case HM_DTYPE_S8:
      return device.isa >= Isa::avx512_vnni ? beside_blocked : beside_plain;
    default:
      return device.isa >= Isa::avx512 ? beside_blocked : beside_plain;
  }
}

}  // namespace hm_cpu
