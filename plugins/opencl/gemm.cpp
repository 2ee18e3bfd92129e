// Matrix product: one tiled kernel, compiled per dtype and tile.
#include <array>

#include "gemm_source.hpp"
#include "kernel.hpp"

namespace hm_opencl {
namespace {

struct Types {
  std::int64_t src, dst;
  const char* options;
};

// 16-bit floats are storage only: products and sums are f32, as the contract's tolerance expects.
constexpr std::array<Types, 6> types{{
    {HM_DTYPE_F32, HM_DTYPE_F32, "-DSRC=float -DDST=float -DACC=float"},
    {HM_DTYPE_BF16, HM_DTYPE_F32, "-DSRC=ushort -DDST=float -DACC=float -DLOAD_BF16"},
    {HM_DTYPE_BF16, HM_DTYPE_BF16,
     "-DSRC=ushort -DDST=ushort -DACC=float -DLOAD_BF16 -DSTORE_BF16"},
    {HM_DTYPE_F16, HM_DTYPE_F32, "-DSRC=half -DDST=float -DACC=float -DLOAD_F16"},
    {HM_DTYPE_F16, HM_DTYPE_F16, "-DSRC=half -DDST=half -DACC=float -DLOAD_F16 -DSTORE_F16"},
    {HM_DTYPE_S8, HM_DTYPE_S32, "-DSRC=char -DDST=int -DACC=int"},
}};

struct Tiling {
  std::int64_t tile = 32, rows = 8;
  std::size_t items() const { return static_cast<std::size_t>(tile * tile / rows); }
  std::size_t local_bytes() const { return 2 * static_cast<std::size_t>(tile * tile) * 4; }
  bool fits(const Limits& limits) const {
    return items() <= limits.work_group_items && local_bytes() <= limits.local_bytes;
  }
};

constexpr std::array<std::int64_t, 3> tiles{8, 16, 32};
constexpr std::array<std::int64_t, 4> row_counts{1, 2, 4, 8};

// The largest that fits.
Tiling default_tiling(const Limits& limits) {
  for (std::size_t i = tiles.size(); i-- > 0;) {
    const Tiling tiling{tiles[i], row_counts.back()};
    if (tiling.fits(limits)) return tiling;
  }
  return {tiles.front(), row_counts.back()};
}

Tiling tiling_of(const Limits& limits, plug::Params config) {
  const Tiling fallback = default_tiling(limits);
  return {plug::param_or(config, "tile", fallback.tile),
          plug::param_or(config, "rows_per_item", fallback.rows)};
}

const Types* types_of(plug::Params problem) {
  const std::int64_t src = plug::require_param(problem, "src_dtype");
  const std::int64_t dst = plug::require_param(problem, "dst_dtype");
  for (const Types& known : types) {
    if (known.src == src && known.dst == dst) return &known;
  }
  return nullptr;
}

struct Sizes {
  std::int64_t m, n, k;
  explicit Sizes(plug::Params problem)
      : m(plug::require_param(problem, "m")),
        n(plug::require_param(problem, "n")),
        k(plug::require_param(problem, "k")) {}
};

class PreparedGemm : public Prepared {
 public:
  PreparedGemm(OpenedDevice& device, const Sizes& sizes, const Types& chosen, const Tiling& tiling,
               bool is_transposed)
      : Prepared() {
    operands = {{"src", HM_ROLE_INPUT, chosen.src, {sizes.m, sizes.k}},
                {"wei", HM_ROLE_CONSTANT, chosen.src,
                 is_transposed ? std::vector{sizes.n, sizes.k} : std::vector{sizes.k, sizes.n}},
                {"dst", HM_ROLE_OUTPUT, chosen.dst, {sizes.m, sizes.n}}};
    const std::string options = std::string(chosen.options) +
                                " -DTILE=" + std::to_string(tiling.tile) +
                                " -DROWS=" + std::to_string(tiling.rows) +
                                (is_transposed ? " -DWEI_TRANS" : "") + " -cl-std=CL1.2";
    implementation = "gemm_tiled " + options;
    const auto tile = static_cast<std::size_t>(tiling.tile);
    const auto rows = static_cast<std::size_t>(tiling.rows);
    translated([&] {
      launch_.kernel = cl::Kernel(device.program(gemm_source, options), "gemm");
      launch_.local = cl::NDRange(tile, tile / rows);
      launch_.global = cl::NDRange(round_up(static_cast<std::size_t>(sizes.n), tile),
                                   round_up(static_cast<std::size_t>(sizes.m), tile) / rows);
      // Sizes of nothing: the specialising launch touches no memory.
      set_sizes(0, 0, 0);
      for (cl_uint i = 0; i < 3; ++i) launch_.kernel.setArg(3 + i, cl::Buffer());
    });
    specialise(device, launch_);
    translated([&] {
      set_sizes(static_cast<cl_int>(sizes.m), static_cast<cl_int>(sizes.n),
                static_cast<cl_int>(sizes.k));
    });
  }

  void enqueue(cl::CommandQueue& queue, Buffers buffers, cl::Event* event) override {
    for (cl_uint i = 0; i < 3; ++i) launch_.kernel.setArg(3 + i, memory_of(buffers[i]));
    launch_.enqueue(queue, event);
  }

 private:
  void set_sizes(cl_int m, cl_int n, cl_int k) {
    launch_.kernel.setArg(0, m);
    launch_.kernel.setArg(1, n);
    launch_.kernel.setArg(2, k);
  }

  Launch launch_;
};

class Gemm : public Kernel {
 public:
  std::string_view name() const override { return "gemm_tiled"; }
  std::string_view op() const override { return "gemm"; }

  std::vector<plug::Domain> domains(const Limits& limits) const override {
    const Tiling fallback = default_tiling(limits);
    return {plug::domain::ordered("tile", {tiles.begin(), tiles.end()}, fallback.tile),
            plug::domain::ordered("rows_per_item", {row_counts.begin(), row_counts.end()},
                                  fallback.rows)};
  }

  void require_support(const Limits& limits, plug::Params problem,
                       plug::Params config) const override {
    plug::reject_unknown(problem,
                         {"m", "n", "k", "src_dtype", "wei_dtype", "dst_dtype", "wei_trans"});
    const Types* chosen = types_of(problem);
    if (chosen == nullptr || plug::require_param(problem, "wei_dtype") != chosen->src) {
      unsupported("gemm of these dtypes; f32, bf16 -> bf16|f32, f16 -> f16|f32, s8 -> s32");
    }
    if (chosen->src == HM_DTYPE_F16 && !limits.has_fp16) {
      unsupported("f16: this device lacks cl_khr_fp16");
    }
    const Sizes sizes(problem);
    // The kernel counts in int; a padded size must not overflow either.
    constexpr std::int64_t size_max = (std::int64_t{1} << 31) - 64;
    for (const std::int64_t size : {sizes.m, sizes.n, sizes.k}) {
      if (size < 1 || size > size_max) unsupported("gemm with a size of " + std::to_string(size));
    }
    const Tiling tiling = tiling_of(limits, config);
    if (!tiling.fits(limits)) {
      unsupported("a tile of " + std::to_string(tiling.tile) + " needs work-groups of " +
                  std::to_string(tiling.items()) + " items and " +
                  std::to_string(tiling.local_bytes()) + " bytes of local memory");
    }
  }

  std::unique_ptr<Prepared> prepare(OpenedDevice& device, plug::Params problem,
                                    plug::Params config) const override {
    return std::make_unique<PreparedGemm>(device, Sizes(problem), *types_of(problem),
                                          tiling_of(device.limits, config),
                                          plug::param_or(problem, "wei_trans", 0) != 0);
  }
};

}  // namespace

const Kernel& gemm_kernel() {
  static const Gemm kernel;
  return kernel;
}

}  // namespace hm_opencl
