// gemm with few rows, where reading the weights is all the work: weights packed into panels of 32
// columns that are streamed once per tile of rows. Also the bf16 product of any size on processors
// without bf16 instructions, where it runs at the rate of f32.
#include <algorithm>
#include <cstring>

#include "gemm.hpp"
#include "isa.hpp"
#include "simd.hpp"

namespace hm_cpu {
namespace {

constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

// Consecutive k that share a 32-bit word of the panel.
std::int64_t group_of(std::int32_t dtype) { return 4 / width_bytes(dtype); }

// Word (g, c) of a panel holds the values k = g * group ... of column c, the first in its low bits;
// missing k and columns are 0. T is the unsigned integer as wide as a weight.
template <typename T>
void pack_panel(const GemmProblem& gemm, const T* weights, std::int64_t first,
                std::uint32_t* panel) {
  constexpr std::int64_t group = 4 / sizeof(T), bits = 8 * sizeof(T);
  const std::int64_t columns = std::min(panel_columns, gemm.n - first);
  const std::int64_t groups = ceil_div(gemm.k, group), whole = gemm.k / group;
  if (columns < panel_columns || whole < groups) {
    std::memset(panel, 0, static_cast<std::size_t>(groups * panel_columns * 4));
  }
  const std::int64_t k_step = gemm.wei_trans ? 1 : gemm.n, c_step = gemm.wei_trans ? gemm.k : 1;
  const T* source = weights + first * c_step;
  const auto pack_word = [&](std::int64_t g, std::int64_t c, std::int64_t count) {
    std::uint32_t word = 0;
    for (std::int64_t i = 0; i < count; ++i) {
      word |= static_cast<std::uint32_t>(source[(g * group + i) * k_step + c * c_step])
              << (i * bits);
    }
    panel[g * panel_columns + c] = word;
  };
  // The inner loop follows the source: its lines are read once either way.
  if (gemm.wei_trans) {
    for (std::int64_t c = 0; c < columns; ++c) {
      for (std::int64_t g = 0; g < whole; ++g) pack_word(g, c, group);
    }
  } else {
    for (std::int64_t g = 0; g < whole; ++g) {
      for (std::int64_t c = 0; c < columns; ++c) pack_word(g, c, group);
    }
  }
  if (whole == groups) return;
  for (std::int64_t c = 0; c < columns; ++c) pack_word(whole, c, gemm.k % group);
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

// Rows [first, first + rows) of src, groups [begin, end), as the micro-kernels read them: the rows
// of a tile side by side for each k (see PanelTask).
struct RowTile {
  const void* src;
  void* packed;  // of the tile
  std::int64_t first, rows, k;
};

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

class PanelGemm : public Prepared {
 public:
  PanelGemm(const GemmProblem& problem, const Device& device)
      : gemm_(problem), loops_(*simd_loops(device.isa).panels) {
    const std::int32_t dtype = gemm_.src_dtype;
    groups_ = ceil_div(gemm_.k, group_of(dtype));
    panels_ = ceil_div(gemm_.n, panel_columns);
    panel_bytes_ = groups_ * panel_columns * 4 + (dtype == HM_DTYPE_S8 ? panel_columns * 4 : 0);
    const bool one_word = dtype == HM_DTYPE_F32 || (dtype == HM_DTYPE_S8 && loops_.s8_biased);
    row_bytes_ = groups_ * (one_word ? 4 : 8);
    loop_ = dtype == HM_DTYPE_F32 ? loops_.f32 : dtype == HM_DTYPE_BF16 ? loops_.bf16 : loops_.s8;
    // Tiles of equal height: 16 rows as 8 + 8 read the weights as often as 12 + 4, but evenly.
    tile_rows_ = ceil_div(gemm_.m, ceil_div(gemm_.m, loops_.rows_max));
    tiles_ = ceil_div(gemm_.m, tile_rows_);
    // So many tiles of A stay in L2 while a panel passes over them.
    block_tiles_ = std::max<std::int64_t>(1, device.l2_bytes / 2 / (row_bytes_ * tile_rows_));

    operands = gemm_operands(gemm_);
    operands[1].bytes = static_cast<std::uint64_t>(panels_ * panel_bytes_);
    operands[1].opaque_layout = "halmark_panels_32";
    const Isa isa = simd_loops(device.isa).isa;
    const bool has_dot = dtype == HM_DTYPE_S8 && loops_.s8_biased;
    const std::string key(has_dot ? isa_label(Isa::avx512_vnni) : isa_key(isa));
    info.implementation =
        "halmark:panel_" + std::string(dtype_name(dtype)) + ':' + (key.empty() ? "generic" : key);
    info.isa = key;
    if (!is_direct()) info.workspace_bytes = static_cast<std::uint64_t>(gemm_.m * row_bytes_);
  }

  void run(void* const* buffers, void* workspace) override {
    const void* src = buffers[0];
    void* rows = is_direct() ? buffers[0] : workspace;
#pragma omp parallel num_threads(threads) if (threads > 1)
    {
      if (!is_direct()) {
        const std::int64_t chunks = ceil_div(groups_, chunk_groups);
#pragma omp for collapse(2) schedule(static)
        for (std::int64_t tile = 0; tile < tiles_; ++tile) {
          for (std::int64_t chunk = 0; chunk < chunks; ++chunk) {
            pack_rows(src, rows, tile, chunk * chunk_groups);
          }
        }
      }
      for (std::int64_t tile = 0; tile < tiles_; tile += block_tiles_) {
        const std::int64_t last = std::min(tile + block_tiles_, tiles_);
#pragma omp for schedule(static) nowait
        for (std::int64_t panel = 0; panel < panels_; ++panel) {
          for (std::int64_t t = tile; t < last; ++t) {
            loop_(task(rows, buffers[1], buffers[2], t, panel));
          }
        }
      }
    }
  }

  void load_constants(void* const* packed, const void* const* plain) override {
    char* target = static_cast<char*>(packed[1]);
#pragma omp parallel for num_threads(threads) if (threads > 1) schedule(static)
    for (std::int64_t panel = 0; panel < panels_; ++panel) {
      pack_weights(plain[1], panel * panel_columns, target + panel * panel_bytes_);
    }
  }

 private:
  static constexpr std::int64_t chunk_groups = 512;

  // One row of f32 already is what the micro-kernel reads.
  bool is_direct() const { return gemm_.m == 1 && gemm_.src_dtype == HM_DTYPE_F32; }

  std::int64_t rows_of(std::int64_t tile) const {
    return std::min(tile_rows_, gemm_.m - tile * tile_rows_);
  }

  void pack_rows(const void* src, void* packed, std::int64_t tile, std::int64_t begin) const {
    const RowTile rows{src, static_cast<char*>(packed) + tile * tile_rows_ * row_bytes_,
                       tile * tile_rows_, rows_of(tile), gemm_.k};
    const std::int64_t end = std::min(begin + chunk_groups, groups_);
    if (gemm_.src_dtype == HM_DTYPE_F32) {
      pack_rows_f32(rows, begin, end);
    } else if (gemm_.src_dtype == HM_DTYPE_BF16) {
      pack_rows_bf16(rows, begin, end);
    } else {
      pack_rows_s8(rows, begin, end, loops_.s8_biased);
    }
  }

  PanelTask task(const void* rows, const void* weights, void* dst, std::int64_t tile,
                 std::int64_t panel) const {
    const std::int64_t first = panel * panel_columns;
    const std::int64_t element = tile * tile_rows_ * gemm_.n + first;
    PanelTask task;
    task.a = static_cast<const char*>(rows) + tile * tile_rows_ * row_bytes_;
    task.panel = static_cast<const char*>(weights) + panel * panel_bytes_;
    task.dst = static_cast<char*>(dst) + element * (gemm_.dst_dtype == HM_DTYPE_BF16 ? 2 : 4);
    task.groups = groups_;
    task.dst_stride = gemm_.n;
    task.rows = static_cast<int>(rows_of(tile));
    task.columns = static_cast<int>(std::min(panel_columns, gemm_.n - first));
    task.dst_bf16 = gemm_.dst_dtype == HM_DTYPE_BF16;
    return task;
  }

  void pack_weights(const void* plain, std::int64_t first, void* panel) const {
    auto* words = static_cast<std::uint32_t*>(panel);
    if (gemm_.wei_dtype == HM_DTYPE_F32) {
      pack_panel(gemm_, static_cast<const std::uint32_t*>(plain), first, words);
    } else if (gemm_.wei_dtype == HM_DTYPE_BF16) {
      pack_panel(gemm_, static_cast<const std::uint16_t*>(plain), first, words);
    } else {
      pack_panel(gemm_, static_cast<const std::uint8_t*>(plain), first, words);
      sum_columns(groups_, words);
    }
  }

  GemmProblem gemm_;
  const PanelLoops& loops_;
  void (*loop_)(const PanelTask&);
  std::int64_t groups_, panels_, panel_bytes_, row_bytes_;
  std::int64_t tile_rows_, tiles_, block_tiles_;
};

// More rows than this belong to the library: where it has blocked kernels for the dtype, fewer rows
// make a product bound by arithmetic than where it falls back to converting or plain loops.
std::int64_t rows_offered(const Device& device, std::int32_t dtype) {
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

class PanelGemmKernel : public Kernel {
 public:
  std::string_view name() const override { return "gemm_panel"; }
  std::string_view op() const override { return "gemm"; }

  void require_support(const Device& device, const Params& params, const Params&) const override {
    const GemmProblem problem = gemm_problem(params);
    if (problem.src_dtype == HM_DTYPE_F16) unsupported("the panel gemm has no f16");
    const std::int64_t limit = rows_offered(device, problem.src_dtype);
    if (problem.m > limit) {
      unsupported("the panel gemm takes at most " + std::to_string(limit) + " rows of " +
                  std::string(dtype_name(problem.src_dtype)) + " on this processor");
    }
  }

  std::unique_ptr<Prepared> prepare(const Device& device, const Params& params, const Params&,
                                    Comm*) const override {
    return std::make_unique<PanelGemm>(gemm_problem(params), device);
  }
};

}  // namespace

const Kernel& gemm_panel_kernel() {
  static const PanelGemmKernel kernel;
  return kernel;
}

}  // namespace hm_cpu
