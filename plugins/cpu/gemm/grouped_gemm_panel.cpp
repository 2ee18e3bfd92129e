// grouped_gemm by the micro-kernels of the panel gemm: the panels of all active experts form one
// line that is cut into parts of equal cost, one per thread. Many small groups are thus spread over
// the threads as groups, few large ones as columns of a group, and weights are streamed once.
#include <omp.h>

#include <algorithm>

#include "grouped_gemm.hpp"
#include "panel_pack.hpp"

namespace hm_cpu {
namespace {

// One expert's share of an execution.
struct Group {
  std::int64_t expert = 0;
  std::int64_t first_tile = 0, tiles = 0;
  std::int64_t panel_cost = 0;
  std::int64_t cost_begin = 0;  // of its first panel on the line
};

// Rows of dst that a micro-kernel takes at once.
struct Tile {
  std::int64_t first_row = 0, rows = 0;
};

class PanelGroupedGemm : public Prepared {
 public:
  PanelGroupedGemm(const GroupedGemmProblem& problem, const Device& device)
      : problem_(problem),
        layout_(problem.gemm.n, problem.gemm.k, problem.gemm.src_dtype,
                *simd_loops(device.isa).panels),
        rows_max_(simd_loops(device.isa).panels->rows_max),
        l2_bytes_(device.l2_bytes) {
    expert_bytes_ = layout_.panels * layout_.panel_bytes;
    operands = grouped_gemm_operands(problem_);
    operands[1].bytes = static_cast<std::uint64_t>(problem_.experts * expert_bytes_);
    operands[1].opaque_layout = "halmark_panels_32";
    info.isa = layout_.isa(simd_loops(device.isa).isa);
    info.implementation = "halmark:grouped_panel_" +
                          std::string(dtype_name(problem_.gemm.src_dtype)) + ':' +
                          (info.isa.empty() ? "generic" : info.isa);
    info.workspace_bytes = static_cast<std::uint64_t>(problem_.rows * layout_.row_bytes);
    // Room for every way the rows may fall, so that an execution allocates nothing.
    groups_.reserve(static_cast<std::size_t>(std::min(problem_.experts, problem_.rows)));
    tiles_.reserve(static_cast<std::size_t>(problem_.rows));
  }

  void run(void* const* buffers, void* workspace) override {
    const std::int64_t cost = place_groups(buffers[2]);
    const auto tiles = static_cast<std::int64_t>(tiles_.size());
    const std::int64_t chunks = layout_.chunks();
#pragma omp parallel num_threads(threads) if (threads > 1)
    {
#pragma omp for collapse(2) schedule(static)
      for (std::int64_t t = 0; t < tiles; ++t) {
        for (std::int64_t chunk = 0; chunk < chunks; ++chunk) {
          const Tile& tile = tiles_[static_cast<std::size_t>(t)];
          if (layout_.is_direct(tile.rows)) continue;
          char* packed = static_cast<char*>(workspace) + tile.first_row * layout_.row_bytes;
          layout_.pack_rows({buffers[0], packed, tile.first_row, tile.rows, problem_.gemm.k},
                            chunk);
        }
      }
      const std::int64_t team = omp_get_num_threads(), thread = omp_get_thread_num();
      const std::int64_t begin = cost * thread / team, end = cost * (thread + 1) / team;
      for (const Group& group : groups_) run_part(group, begin, end, buffers, workspace);
    }
  }

  void load_constants(void* const* packed, const void* const* plain) override {
    const GemmProblem& gemm = problem_.gemm;
    const std::int64_t plain_bytes = gemm.n * gemm.k * element_bytes(gemm.wei_dtype);
    const std::int64_t panels = problem_.experts * layout_.panels;
#pragma omp parallel for num_threads(threads) if (threads > 1) schedule(static)
    for (std::int64_t panel = 0; panel < panels; ++panel) {
      const std::int64_t expert = panel / layout_.panels;
      const WeightMatrix weights{static_cast<const char*>(plain[1]) + expert * plain_bytes, gemm.n,
                                 gemm.k, gemm.wei_trans};
      layout_.pack_weights(weights, panel % layout_.panels,
                           static_cast<char*>(packed[1]) + panel * layout_.panel_bytes);
    }
  }

 private:
  // Fills groups_ and tiles_; gives the length of the line.
  std::int64_t place_groups(const void* expert_rows) {
    // Reading a panel's weights takes about as long as the products of so many rows.
    constexpr std::int64_t cost_of_reading = 4;
    groups_.clear();
    tiles_.clear();
    std::int64_t first = 0, cost = 0;
    for (std::int64_t expert = 0; expert < problem_.experts; ++expert) {
      const std::int64_t rows = group_rows(problem_, expert_rows, expert, first);
      if (rows == 0) continue;
      Group group;
      group.expert = expert;
      group.first_tile = static_cast<std::int64_t>(tiles_.size());
      group.tiles = ceil_div(rows, rows_max_);
      group.panel_cost = rows + cost_of_reading;
      group.cost_begin = cost;
      // Tiles of equal height, the higher ones first: 16 rows are 8 + 8, not 12 + 4.
      std::int64_t row = first;
      for (std::int64_t t = 0; t < group.tiles; ++t) {
        const std::int64_t height = ceil_div(first + rows - row, group.tiles - t);
        tiles_.push_back({row, height});
        row += height;
      }
      groups_.push_back(group);
      cost += group.panel_cost * layout_.panels;
      first += rows;
    }
    return cost;
  }

  // Panels of `group` whose place on the line is in [begin, end), against all of its tiles; as many
  // tiles as stay in L2 at a time.
  void run_part(const Group& group, std::int64_t begin, std::int64_t end, void* const* buffers,
                const void* workspace) const {
    const auto panel_at = [&](std::int64_t cost) {
      const std::int64_t inside = std::max<std::int64_t>(cost - group.cost_begin, 0);
      return std::min(ceil_div(inside, group.panel_cost), layout_.panels);
    };
    const std::int64_t first_panel = panel_at(begin), last_panel = panel_at(end);
    if (first_panel == last_panel) return;
    const std::int64_t height = tiles_[static_cast<std::size_t>(group.first_tile)].rows;
    const std::int64_t block =
        std::max<std::int64_t>(1, l2_bytes_ / 2 / (layout_.row_bytes * height));
    const std::int64_t tiles_end = group.first_tile + group.tiles;
    for (std::int64_t tile = group.first_tile; tile < tiles_end; tile += block) {
      const std::int64_t last = std::min(tile + block, tiles_end);
      for (std::int64_t panel = first_panel; panel < last_panel; ++panel) {
        for (std::int64_t t = tile; t < last; ++t) {
          layout_.loop(task(group, tiles_[static_cast<std::size_t>(t)], panel, buffers, workspace));
        }
      }
    }
  }

  PanelTask task(const Group& group, const Tile& tile, std::int64_t panel, void* const* buffers,
                 const void* workspace) const {
    const GemmProblem& gemm = problem_.gemm;
    const std::int64_t first = panel * panel_columns;
    const void* rows = layout_.is_direct(tile.rows) ? buffers[0] : workspace;
    const std::int64_t row_bytes =
        layout_.is_direct(tile.rows) ? gemm.k * element_bytes(HM_DTYPE_F32) : layout_.row_bytes;
    PanelTask task;
    task.a = static_cast<const char*>(rows) + tile.first_row * row_bytes;
    task.panel = static_cast<const char*>(buffers[1]) + group.expert * expert_bytes_ +
                 panel * layout_.panel_bytes;
    task.dst = static_cast<char*>(buffers[3]) +
               (tile.first_row * gemm.n + first) * element_bytes(gemm.dst_dtype);
    task.groups = layout_.groups;
    task.dst_stride = gemm.n;
    task.rows = static_cast<int>(tile.rows);
    task.columns = static_cast<int>(std::min(panel_columns, gemm.n - first));
    task.dst_bf16 = gemm.dst_dtype == HM_DTYPE_BF16;
    return task;
  }

  GroupedGemmProblem problem_;
  PanelLayout layout_;
  std::int64_t rows_max_, l2_bytes_, expert_bytes_ = 0;
  std::vector<Group> groups_;  // of one execution
  std::vector<Tile> tiles_;
};

class PanelGroupedGemmKernel : public Kernel {
 public:
  std::string_view name() const override { return "grouped_gemm_panel"; }
  std::string_view op() const override { return "grouped_gemm"; }

  void require_support(const Device& device, const Params& params, const Params&) const override {
    const GemmProblem expert = grouped_gemm_problem(params).gemm;
    if (expert.src_dtype == HM_DTYPE_F16) unsupported("the panel gemm has no f16");
    const std::int64_t limit = panel_rows_max(device, expert.src_dtype);
    if (expert.m > limit) {
      unsupported("the panel gemm takes at most " + std::to_string(limit) + " rows of " +
                  std::string(dtype_name(expert.src_dtype)) +
                  " per expert, on average, on this processor");
    }
  }

  std::unique_ptr<Prepared> prepare(const Device& device, const Params& params, const Params&,
                                    Comm*) const override {
    return std::make_unique<PanelGroupedGemm>(grouped_gemm_problem(params), device);
  }
};

}  // namespace

const Kernel& grouped_gemm_panel_kernel() {
  static const PanelGroupedGemmKernel kernel;
  return kernel;
}

}  // namespace hm_cpu
