// gemm with few rows, where reading the weights is all the work: weights packed into panels of 32
// columns that are streamed once per tile of rows. Also the bf16 product of any size on processors
// without bf16 instructions, where it runs at the rate of f32, and the f32 product of up to 192
// rows with large weights on AVX2, in blocks of k.
#include <dnnl_version.h>

#include <algorithm>

#include "gemm.hpp"
#include "panel_pack.hpp"

namespace hm_cpu {
namespace {

class PanelGemm : public Prepared {
 public:
  PanelGemm(const GemmProblem& problem, const Device& device)
      : gemm_(problem),
        layout_(problem.n, problem.k, problem.src_dtype, *simd_loops(device.isa).panels) {
    // Tiles of equal height: 16 rows as 8 + 8 read the weights as often as 12 + 4, but evenly.
    const std::int64_t rows_max = simd_loops(device.isa).panels->rows_max;
    tile_rows_ = ceil_div(gemm_.m, ceil_div(gemm_.m, rows_max));
    tiles_ = ceil_div(gemm_.m, tile_rows_);
    block_groups_ = layout_.groups;
    std::int64_t block_row_bytes = layout_.row_bytes;
    if (problem.src_dtype == HM_DTYPE_F32 && problem.m > few_rows) {
      // Blocks of equal length, as with the rows.
      block_groups_ = ceil_div(layout_.groups, ceil_div(layout_.groups, block_k));
      block_row_bytes = block_groups_ * 4;
    }
    // So many tiles of A stay in L2 while a panel passes over them.
    block_tiles_ = std::max<std::int64_t>(1, device.l2_bytes / 2 / (block_row_bytes * tile_rows_));

    operands = gemm_operands(gemm_);
    operands[1].bytes = static_cast<std::uint64_t>(layout_.panels * layout_.panel_bytes);
    operands[1].opaque_layout = "halmark_panels_32";
    info.isa = layout_.isa(simd_loops(device.isa).isa);
    info.implementation = "halmark:panel_" + std::string(dtype_name(gemm_.src_dtype)) + ':' +
                          (info.isa.empty() ? "generic" : info.isa);
    if (!is_direct()) {
      info.workspace_bytes = static_cast<std::uint64_t>(gemm_.m * layout_.row_bytes);
    }
  }

  void run(void* const* buffers, void* workspace) override {
    const void* src = buffers[0];
    void* rows = is_direct() ? buffers[0] : workspace;
#pragma omp parallel num_threads(threads) if (threads > 1)
    {
      if (!is_direct()) {
        const std::int64_t chunks = layout_.chunks();
#pragma omp for collapse(2) schedule(static)
        for (std::int64_t tile = 0; tile < tiles_; ++tile) {
          for (std::int64_t chunk = 0; chunk < chunks; ++chunk) {
            char* packed = static_cast<char*>(rows) + tile * tile_rows_ * layout_.row_bytes;
            layout_.pack_rows({src, packed, tile * tile_rows_, rows_of(tile), gemm_.k}, chunk);
          }
        }
      }
      for (std::int64_t tile = 0; tile < tiles_; tile += block_tiles_) {
        const std::int64_t last = std::min(tile + block_tiles_, tiles_);
        for (std::int64_t begin = 0; begin < layout_.groups; begin += block_groups_) {
          // A static schedule gives a panel to the same thread in every block of k: its sums in dst
          // need no barrier.
#pragma omp for schedule(static) nowait
          for (std::int64_t panel = 0; panel < layout_.panels; ++panel) {
            for (std::int64_t t = tile; t < last; ++t) {
              layout_.loop(task({rows, buffers[1], buffers[2]}, t, panel, begin));
            }
          }
        }
      }
    }
  }

  void load_constants(void* const* packed, const void* const* plain) override {
    char* target = static_cast<char*>(packed[1]);
    const WeightMatrix weights{plain[1], gemm_.n, gemm_.k, gemm_.wei_trans};
#pragma omp parallel for num_threads(threads) if (threads > 1) schedule(static)
    for (std::int64_t panel = 0; panel < layout_.panels; ++panel) {
      layout_.pack_weights(weights, panel, target + panel * layout_.panel_bytes);
    }
  }

 private:
  bool is_direct() const { return layout_.is_direct(gemm_.m); }

  std::int64_t rows_of(std::int64_t tile) const {
    return std::min(tile_rows_, gemm_.m - tile * tile_rows_);
  }

  // Where a block of k of f32 begins to pay, and its length: 16 columns of it fill half of a usual
  // L1.
  static constexpr std::int64_t few_rows = 16, block_k = 256;

  struct Bases {
    const void *rows, *weights;
    void* dst;
  };

  PanelTask task(const Bases& bases, std::int64_t tile, std::int64_t panel,
                 std::int64_t begin) const {
    const std::int64_t first = panel * panel_columns;
    const std::int64_t element = tile * tile_rows_ * gemm_.n + first;
    PanelTask task;
    task.a = static_cast<const char*>(bases.rows) + tile * tile_rows_ * layout_.row_bytes;
    task.panel = static_cast<const char*>(bases.weights) + panel * layout_.panel_bytes;
    task.dst = static_cast<char*>(bases.dst) + element * (gemm_.dst_dtype == HM_DTYPE_BF16 ? 2 : 4);
    task.groups = std::min(block_groups_, layout_.groups - begin);
    task.begin = begin;
    task.adds = begin > 0;
    task.dst_stride = gemm_.n;
    task.rows = static_cast<int>(rows_of(tile));
    task.columns = static_cast<int>(std::min(panel_columns, gemm_.n - first));
    task.dst_bf16 = gemm_.dst_dtype == HM_DTYPE_BF16;
    return task;
  }

  GemmProblem gemm_;
  PanelLayout layout_;
  std::int64_t tile_rows_, tiles_, block_tiles_, block_groups_;
};

// On AVX2 oneDNN 2 has only gemm:jit for f32. Its loop is the faster one, but with rows of dst a
// multiple of 2 KiB apart it loses half of its rate, over few rows at least (two cores of Zen 3: 17
// such shapes are slower than the panels, none of 4 others with as many weights).
bool beats_library(const Device& device, const GemmProblem& problem) {
  constexpr std::int64_t rows_max = 192, weights_per_row = 8192, conflicting = 512;
  return DNNL_VERSION_MAJOR < 3 && device.isa == Isa::avx2 && problem.src_dtype == HM_DTYPE_F32 &&
         problem.n % conflicting == 0 && problem.m <= rows_max &&
         problem.m * weights_per_row <= problem.n * problem.k;
}

class PanelGemmKernel : public Kernel {
 public:
  std::string_view name() const override { return "gemm_panel"; }
  std::string_view op() const override { return "gemm"; }

  void require_support(const Device& device, const Params& params, const Params&) const override {
    const GemmProblem problem = gemm_problem(params);
    if (problem.src_dtype == HM_DTYPE_F16) unsupported("the panel gemm has no f16");
    const std::int64_t limit = panel_rows_max(device, problem.src_dtype);
    if (problem.m > limit && !beats_library(device, problem)) {
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
