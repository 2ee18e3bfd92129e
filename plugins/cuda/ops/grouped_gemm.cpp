// grouped_gemm: the rows of each expert times its weights, as expert_rows on the device says.
#include "device/grouped_gemm.hpp"

#include <iterator>

#include "kernel.hpp"
#include "row_geometry.hpp"

namespace hm_cuda {
namespace {

struct GroupedProblem {
  std::int64_t rows, experts, n, k, src, dst;
  bool wei_is_nk;

  explicit GroupedProblem(plug::Params p)
      : rows(p.extent("rows")),
        experts(p.extent("experts")),
        n(p.extent("n")),
        k(p.extent("k")),
        src(p.at("src_dtype")),
        dst(p.at("dst_dtype")),
        wei_is_nk(p.value_or("wei_trans", 0) != 0) {
    plug::reject_unknown(p, {"tokens", "top_k", "experts", "skew", "ep_size", "ep_rank", "rows",
                             "n", "k", "src_dtype", "wei_dtype", "dst_dtype", "wei_trans"});
    const std::int64_t ranks = std::max<std::int64_t>(1, p.value_or("ep_size", 1));
    if (experts % ranks != 0) unsupported("ep_size must divide experts");
    experts /= ranks;
    if (p.at("wei_dtype") != src || grouped_plain_shape(src, dst).function == nullptr) {
      unsupported(
          "grouped_gemm takes f32, bf16 -> bf16|f32, f16 -> f16|f32, f8_e4m3fn -> bf16|f32 and "
          "s8 -> s32");
    }
    if (rows > INT32_MAX) unsupported("more than 2^31 - 1 rows");
  }

  std::int64_t chunk_values() const { return 16 / plug::element_bytes(src); }
  bool is_aligned() const { return k % chunk_values() == 0; }
  // Of the experts that have rows: as even as possible would be the most of them.
  std::int64_t rows_per_expert() const { return blocks_of(rows, std::min(rows, experts)); }
};

class PreparedGrouped : public Prepared {
 public:
  // `turns_wei`: the kernel wants [n, k], and weights come as [k, n].
  PreparedGrouped(const GroupedProblem& p, const GroupedShape& shape, bool turns_wei)
      : problem_(p), turns_wei_(turns_wei) {
    const bool is_nk = p.wei_is_nk || turns_wei;
    const auto weights =
        p.wei_is_nk ? std::vector{p.experts, p.n, p.k} : std::vector{p.experts, p.k, p.n};
    operands = {{"src", HM_ROLE_INPUT, p.src, {p.rows, p.k}},
                {"wei", HM_ROLE_CONSTANT, p.src, weights, turns_wei},
                {"expert_rows", HM_ROLE_INPUT, HM_DTYPE_S32, {p.experts}},
                {"dst", HM_ROLE_OUTPUT, p.dst, {p.rows, p.n}}};
    task_.rows = p.rows;
    task_.n = p.n;
    task_.k = p.k;
    task_.experts = static_cast<std::int32_t>(p.experts);
    task_.expert_stride = p.n * p.k;
    task_.n_stride = is_nk ? p.k : 1;
    task_.k_stride = is_nk ? 1 : p.n;
    const std::int64_t tiles_n = blocks_of(p.n, shape.tile_n);
    // Every expert with rows may have one tile that is not full.
    const std::int64_t tiles_m = p.rows / shape.tile_m + std::min(p.rows, p.experts);
    if (tiles_n > INT32_MAX || tiles_m > grid_x_max / tiles_n) {
      unsupported("more tiles than a grid has blocks");
    }
    task_.tiles_n = static_cast<std::int32_t>(tiles_n);
    launch_.function = shape.function;
    launch_.grid = dim3(as_dim(tiles_m * tiles_n));
    launch_.block = dim3(as_dim(shape.threads));
    launch_.shared_bytes = static_cast<std::size_t>(shape.shared_bytes);
    make_ready(launch_);
    if (turns_wei) prepare_turning();
  }

  void enqueue(cudaStream_t stream, Buffers buffers, void*) override {
    GroupedTask task = task_;
    task.src = address_of(buffers[0]);
    task.wei = address_of(buffers[1]);
    task.expert_rows = static_cast<const std::int32_t*>(address_of(buffers[2]));
    task.dst = address_of(buffers[3]);
    start(stream, launch_, task);
  }

  void load_constant(cudaStream_t stream, std::uint32_t operand, const void* plain,
                     void* packed) override {
    if (!turns_wei_) return Prepared::load_constant(stream, operand, plain, packed);
    // A grid holds 65535 experts over z.
    const std::int64_t expert_bytes = problem_.n * problem_.k * plug::element_bytes(problem_.src);
    for (std::int64_t first = 0; first < problem_.experts; first += grid_y_max) {
      Launch launch = turn_;
      launch.grid.z = as_dim(std::min(problem_.experts - first, grid_y_max));
      start(stream, launch,
            TurnTask{static_cast<const char*>(plain) + first * expert_bytes,
                     static_cast<char*>(packed) + first * expert_bytes, problem_.k, problem_.n});
    }
  }

 private:
  void prepare_turning() {
    turn_.function = turn_function(plug::element_bytes(problem_.src));
    turn_.block = dim3(turn_tile, turn_rows);
    turn_.grid = dim3(as_dim(blocks_of(problem_.n, turn_tile)),
                      as_dim(std::min(blocks_of(problem_.k, turn_tile), grid_y_max)));
    make_ready(turn_);
  }

  GroupedProblem problem_;
  bool turns_wei_;
  Launch launch_, turn_;
  GroupedTask task_{};
};

class GroupedGemm : public Kernel {
 public:
  std::string_view name() const override { return "grouped_gemm_mma"; }
  std::string_view op() const override { return "grouped_gemm"; }

  void require_support(OpenedDevice& device, plug::Params problem) const override {
    const GroupedProblem p(problem);
    const int needed = p.src == HM_DTYPE_F8_E4M3FN ? 89 : 80;
    if (device.capability < needed) {
      unsupported("grouped_gemm_mma needs sm_" + std::to_string(needed) + " or later; this is " +
                  device.architecture);
    }
    if (grouped_mma_shape(p.src, p.dst, 0, true).function == nullptr) {
      unsupported(
          "grouped_gemm_mma takes bf16, f16, f8_e4m3fn and s8; grouped_gemm_plain takes f32");
    }
  }

  std::vector<plug::Domain> domains(OpenedDevice& device, plug::Params problem) const override {
    const GroupedProblem p(problem);
    if (!p.is_aligned()) return {};
    std::vector<std::string> labels(std::begin(grouped_tiles), std::end(grouped_tiles));
    if (has_wgmma(device, p)) {
      labels.insert(labels.end(), std::begin(grouped_wgmma_tiles), std::end(grouped_wgmma_tiles));
    }
    return {plug::domain::categorical("tile", labels, default_tile(device, p))};
  }

  std::unique_ptr<Prepared> prepare(OpenedDevice& device, plug::Params problem,
                                    plug::Params config) const override {
    const GroupedProblem p(problem);
    const std::int64_t tile = plug::param_or(config, "tile", default_tile(device, p));
    const bool by_wgmma = tile >= wgmma_128;
    const GroupedShape shape = by_wgmma ? grouped_wgmma_shape(p.src, p.dst, tile - wgmma_128)
                                        : grouped_mma_shape(p.src, p.dst, tile, p.is_aligned());
    auto prepared = std::make_unique<PreparedGrouped>(p, shape, !p.wei_is_nk);
    prepared->implementation = std::string(by_wgmma ? "grouped_wgmma_" : "grouped_mma_") +
                               std::to_string(shape.tile_m) + "x" + std::to_string(shape.tile_n) +
                               (p.is_aligned() ? "" : "_unaligned");
    return prepared;
  }

 private:
  // Positions in grouped_tiles, then in grouped_wgmma_tiles.
  enum Tile : std::int64_t {
    few_rows_narrow,
    few_rows,
    some_rows,
    many_rows,
    wgmma_128,
    wgmma_256
  };

  static bool has_wgmma(const OpenedDevice& device, const GroupedProblem& p) {
    return device.capability == 90 && p.is_aligned() &&
           grouped_wgmma_shape(p.src, p.dst, 0).function != nullptr;
  }

  // Few rows are a matter of reading weights, with enough blocks to keep memory busy.
  static std::int64_t default_tile(const OpenedDevice& device, const GroupedProblem& p) {
    const std::int64_t rows = p.rows_per_expert();
    if (rows > 64 && has_wgmma(device, p)) return p.n > 128 ? wgmma_256 : wgmma_128;
    if (rows > 64) return many_rows;
    if (rows > 16) return some_rows;
    const std::int64_t blocks = blocks_of(p.n, 128) * std::min(p.rows, p.experts);
    return blocks < 2 * device.processors ? few_rows_narrow : few_rows;
  }
};

class GroupedPlain : public Kernel {
 public:
  std::string_view name() const override { return "grouped_gemm_plain"; }
  std::string_view op() const override { return "grouped_gemm"; }

  void require_support(OpenedDevice&, plug::Params problem) const override {
    static_cast<void>(GroupedProblem(problem));
  }
  std::vector<plug::Domain> domains(OpenedDevice&, plug::Params) const override { return {}; }

  std::unique_ptr<Prepared> prepare(OpenedDevice&, plug::Params problem,
                                    plug::Params) const override {
    const GroupedProblem p(problem);
    auto prepared = std::make_unique<PreparedGrouped>(p, grouped_plain_shape(p.src, p.dst), false);
    prepared->implementation = "grouped_plain_64x64";
    return prepared;
  }
};

}  // namespace

const Kernel& grouped_gemm_kernel() {
  static const GroupedGemm kernel;
  return kernel;
}

const Kernel& grouped_gemm_plain_kernel() {
  static const GroupedPlain kernel;
  return kernel;
}

}  // namespace hm_cuda
