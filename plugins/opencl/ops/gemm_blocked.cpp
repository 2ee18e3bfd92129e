// Matrix product with a block of the result in each work-item's registers, weights packed in panels
// of the block's width, and everything about the blocks a tunable parameter.
#include <algorithm>
#include <array>

#include "elements_source.hpp"
#include "gemm_blocked_source.hpp"
#include "gemm_problem.hpp"

namespace hm_opencl {
namespace {

constexpr std::array<std::int64_t, 5> row_counts{1, 2, 4, 8, 12};
constexpr std::array<std::int64_t, 3> vector_counts{1, 2, 4}, widths{4, 8, 16};
constexpr std::array<std::int64_t, 2> group_widths{1, 16}, group_heights{1, 4}, unrolls{1, 4},
    depths{16, 64};
// More sums than any register file holds beside their operands: they would live in memory.
constexpr std::int64_t sums_max = 384;

enum Local : std::int64_t { local_none, local_src, local_wei, local_both };

struct Blocking {
  std::int64_t rows, vectors, width, group_columns, group_rows, unroll, local, depth;

  std::int64_t panel() const { return vectors * width; }
  std::int64_t tile_rows() const { return group_rows * rows; }
  bool shares_src() const { return local == local_src || local == local_both; }
  bool shares_wei() const { return local == local_wei || local == local_both; }
  // Sums are of four bytes, and so is what waits in local memory for them.
  std::int64_t local_bytes() const {
    return 4 * depth *
           ((shares_src() ? tile_rows() : 0) + (shares_wei() ? group_columns * panel() : 0));
  }
};

// The smallest choice that holds `size`, or the largest below it.
std::int64_t holding(std::span<const std::int64_t> choices, std::int64_t size) {
  const auto found = std::ranges::find_if(choices, [&](std::int64_t c) { return c >= size; });
  return found == choices.end() ? choices.back() : *found;
}

// One large block per group where a core runs it alone; groups of 64 that share both operands, with
// loads of four elements, where lanes run side by side.
Blocking default_blocking(const Limits& limits, const GemmProblem& p) {
  if (limits.is_cpu || limits.work_group_items < 64 || limits.local_bytes < 16384) {
    const std::int64_t rows = std::min<std::int64_t>(8, holding(row_counts, p.m));
    return {rows,
            p.n <= 16   ? 1
            : rows == 1 ? 4
                        : 2,
            p.n <= 4   ? 4
            : p.n <= 8 ? 8
                       : 16,
            1,
            1,
            4,
            local_none,
            depths.front()};
  }
  return {std::min<std::int64_t>(8, holding(row_counts, p.m)),
          1,
          4,
          16,
          4,
          4,
          local_both,
          depths.front()};
}

Blocking blocking_of(const Limits& limits, const GemmProblem& p, plug::Params config) {
  const Blocking d = default_blocking(limits, p);
  return {config.value_or("rows_per_item", d.rows),
          config.value_or("vectors_per_item", d.vectors),
          config.value_or("vector_width", d.width),
          config.value_or("group_columns", d.group_columns),
          config.value_or("group_rows", d.group_rows),
          config.value_or("unroll", d.unroll),
          config.value_or("local_memory", d.local),
          config.value_or("depth", d.depth)};
}

void require_sense(const Blocking& b, const GemmProblem& p) {
  if (b.rows * b.panel() > sums_max) {
    unsupported("a block of " + std::to_string(b.rows) + " x " + std::to_string(b.panel()) +
                " sums; at most " + std::to_string(sums_max) + " per work-item");
  }
  if (b.rows > holding(row_counts, p.m)) {
    unsupported("blocks of " + std::to_string(b.rows) + " rows; m is " + std::to_string(p.m));
  }
  if (b.shares_src() && b.group_columns == 1) {
    unsupported("src in local memory needs group_columns > 1: nothing else shares it");
  }
  if (b.shares_wei() && b.group_rows == 1) {
    unsupported("wei in local memory needs group_rows > 1: nothing else shares it");
  }
  if (b.local == local_none && b.depth != depths.front()) {
    unsupported("depth is of local memory alone; without it " + std::to_string(depths.front()));
  }
}

void require_room(const Blocking& b, const Limits& limits) {
  const std::int64_t items = b.group_columns * b.group_rows;
  if (items > static_cast<std::int64_t>(limits.work_group_items)) {
    unsupported("work-groups of " + std::to_string(items) + " items; this device has " +
                std::to_string(limits.work_group_items));
  }
  if (b.local_bytes() > static_cast<std::int64_t>(limits.local_bytes)) {
    unsupported(std::to_string(b.local_bytes()) + " bytes of local memory; this device has " +
                std::to_string(limits.local_bytes));
  }
}

std::string options_of(const Blocking& b, const GemmProblem& p) {
  return kinds(p.src, p.dst) + define("ROWS", b.rows) + define("VECTORS", b.vectors) +
         define("WIDTH", b.width) + define("GROUP_COLUMNS", b.group_columns) +
         define("GROUP_ROWS", b.group_rows) + define("UNROLL", b.unroll) +
         define("LOCAL_SRC", std::int64_t{b.shares_src()}) +
         define("LOCAL_WEI", std::int64_t{b.shares_wei()}) + define("DEPTH", b.depth) +
         "-cl-std=CL1.2";
}

std::size_t parts(std::int64_t size, std::int64_t part) {
  return static_cast<std::size_t>((size + part - 1) / part);
}

Plan gemm_plan(const Blocking& b, const GemmProblem& p) {
  const auto columns = static_cast<std::size_t>(b.group_columns);
  const auto rows = static_cast<std::size_t>(b.group_rows);
  return {.source = std::string(elements_source) + gemm_blocked_source,
          .options = options_of(b, p),
          .entry = "gemm",
          .sizes = {p.m, p.n, p.k},
          .global = cl::NDRange(columns * parts(p.m, b.tile_rows()),
                                rows * parts(p.n, b.panel() * b.group_columns)),
          .local = cl::NDRange(columns, rows)};
}

class PreparedBlocked : public Launched {
 public:
  PreparedBlocked(OpenedDevice& device, const GemmProblem& p, const Blocking& b)
      : Launched(device, gemm_plan(b, p), p.operands()) {
    implementation = "gemm_blocked " + implementation;
    const std::size_t panels = parts(p.n, b.panel());
    operands[1].bytes = panels * static_cast<std::size_t>(p.k * b.panel()) *
                        static_cast<std::size_t>(plug::element_bytes(p.src));
    operands[1].opaque_layout = "panels_k" + std::to_string(b.panel());
    Plan plan = gemm_plan(b, p);
    plan.entry = "pack";
    plan.sizes = {p.n, p.k, p.is_turned ? 1 : 0};
    const std::size_t items = std::min<std::size_t>(64, device.limits.work_group_items);
    plan.local = cl::NDRange(items, 1);
    plan.global = cl::NDRange(round_up(static_cast<std::size_t>(p.k), items), panels);
    pack_ = launch_of(device, plan, 2);
  }

  void pack(cl::CommandQueue& queue, std::size_t, const cl::Buffer& plain, const cl::Buffer& packed,
            cl::Event* event) override {
    pack_.kernel.setArg(3, plain);
    pack_.kernel.setArg(4, packed);
    pack_.enqueue(queue, event);
  }

 private:
  Launch pack_;
};

template <std::size_t N>
plug::Domain choices(const char* name, const std::array<std::int64_t, N>& values,
                     std::int64_t fallback) {
  return plug::domain::ordered(name, {values.begin(), values.end()}, fallback);
}

class GemmBlocked : public Kernel {
 public:
  std::string_view name() const override { return "gemm_blocked"; }
  std::string_view op() const override { return "gemm"; }

  std::vector<plug::Domain> domains(const Limits& limits, plug::Params problem) const override {
    const Blocking d = default_blocking(limits, GemmProblem(problem));
    return {choices("rows_per_item", row_counts, d.rows),
            choices("vectors_per_item", vector_counts, d.vectors),
            choices("vector_width", widths, d.width),
            choices("group_columns", group_widths, d.group_columns),
            choices("group_rows", group_heights, d.group_rows),
            choices("unroll", unrolls, d.unroll),
            plug::domain::categorical("local_memory", {"none", "src", "wei", "both"}, d.local),
            choices("depth", depths, d.depth)};
  }

  void require_support(const Limits& limits, plug::Params problem,
                       plug::Params config) const override {
    const GemmProblem p(problem);
    const Blocking b = blocking_of(limits, p, config);
    require_sense(b, p);
    require_room(b, limits);
  }

  std::unique_ptr<Prepared> prepare(OpenedDevice& device, plug::Params problem,
                                    plug::Params config) const override {
    const GemmProblem p(problem);
    return std::make_unique<PreparedBlocked>(device, p, blocking_of(device.limits, p, config));
  }
};

}  // namespace

const Kernel& gemm_blocked_kernel() {
  static const GemmBlocked kernel;
  return kernel;
}

}  // namespace hm_opencl
