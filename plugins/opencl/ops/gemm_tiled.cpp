// Matrix product through square tiles in local memory; weights stay plain.
#include <array>

#include "elements_source.hpp"
#include "gemm_problem.hpp"
#include "gemm_tiled_source.hpp"

namespace hm_opencl {
namespace {

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
  return {config.value_or("tile", fallback.tile), config.value_or("rows_per_item", fallback.rows)};
}

class GemmTiled : public Kernel {
 public:
  std::string_view name() const override { return "gemm_tiled"; }
  std::string_view op() const override { return "gemm"; }

  std::vector<plug::Domain> domains(const Limits& limits, plug::Params) const override {
    const Tiling fallback = default_tiling(limits);
    return {plug::domain::ordered("tile", {tiles.begin(), tiles.end()}, fallback.tile),
            plug::domain::ordered("rows_per_item", {row_counts.begin(), row_counts.end()},
                                  fallback.rows)};
  }

  void require_support(const Limits& limits, plug::Params problem,
                       plug::Params config) const override {
    static_cast<void>(GemmProblem(problem));
    const Tiling tiling = tiling_of(limits, config);
    if (!tiling.fits(limits)) {
      unsupported("a tile of " + std::to_string(tiling.tile) + " needs work-groups of " +
                  std::to_string(tiling.items()) + " items and " +
                  std::to_string(tiling.local_bytes()) + " bytes of local memory");
    }
  }

  std::unique_ptr<Prepared> prepare(OpenedDevice& device, plug::Params problem,
                                    plug::Params config) const override {
    const GemmProblem p(problem);
    const Tiling tiling = tiling_of(device.limits, config);
    const auto tile = static_cast<std::size_t>(tiling.tile);
    const auto rows = static_cast<std::size_t>(tiling.rows);
    Plan plan{.source = std::string(elements_source) + gemm_tiled_source,
              .options = kinds(p.src, p.dst) + define("TILE", tiling.tile) +
                         define("ROWS", tiling.rows) + (p.is_turned ? "-DWEI_TRANS " : "") +
                         "-cl-std=CL1.2",
              .entry = "gemm",
              .sizes = {p.m, p.n, p.k},
              .global = cl::NDRange(round_up(static_cast<std::size_t>(p.n), tile),
                                    round_up(static_cast<std::size_t>(p.m), tile) / rows),
              .local = cl::NDRange(tile, tile / rows)};
    auto made = std::make_unique<Launched>(device, plan, p.operands());
    made->implementation = "gemm_tiled " + plan.options;
    return made;
  }
};

}  // namespace

const Kernel& gemm_tiled_kernel() {
  static const GemmTiled kernel;
  return kernel;
}

}  // namespace hm_opencl
