#include "latency/sides/side_kernels.hpp"

#include <algorithm>
#include <utility>

#include "core/latency.hpp"
#include "core/lists.hpp"
#include "kernels/contract.hpp"
#include "latency/imported/series.hpp"
#include "latency/judged.hpp"
#include "roofline/peaks.hpp"

namespace halmark {
namespace {

constexpr const char* too_fast = "faster than the peaks of the device allow";

LeastTimes least_times(const roofline::Bound& bound) {
  return {.compute_ns = bound.ns(Limiter::compute),
          .memory_ns = bound.ns(Limiter::memory),
          .link_ns = bound.ns(Limiter::communication)};
}

// Without its time. `threads` of the device, 0 = all.
DeviceKernel counted(const Problem& problem, const Work& work, const roofline::Bound& bound,
                     const Device* device, int threads) {
  DeviceKernel out{.problem = problem,
                   .dtype = dtypes_of(problem),
                   .matmul_flops = work.matmul_flops,
                   .bytes = work.transfer_bytes > 0 ? work.transfer_bytes : work.bytes(),
                   .least = least_times(bound)};
  if (out.dtype.empty()) out.dtype = dtype_name(work.compute_dtype);
  if (device == nullptr || work.matmul_flops <= 0) return out;
  const auto peak = shard_peak(*device, work.compute_dtype, {.threads = threads});
  if (peak) out.peak_ns = work.matmul_flops / *peak * 1e9;
  return out;
}

// Of several times of one problem the shortest.
class Fastest {
 public:
  void add(DeviceKernel kernel) {
    auto* found = find_value(kernels_, kernel.problem);
    if (!found) {
      kernels_.emplace(kernel.problem, std::move(kernel));
    } else if (kernel.ns < found->ns) {
      *found = std::move(kernel);
    }
  }
  std::vector<DeviceKernel> take() && {
    std::vector<DeviceKernel> out;
    for (auto& [problem, kernel] : kernels_) out.push_back(std::move(kernel));
    return out;
  }

 private:
  std::map<Problem, DeviceKernel> kernels_;
};

// Why a row says nothing of its device; "" where it does.
std::string fault_of(const Measurement& row) {
  const KernelCase& c = row.kernel_case;
  if (!has_latency(row.status)) return "status " + std::string(status_name(row.status));
  if (c.parts != 1 || c.shards_at_once != 1) return "of a part of the device";
  if (c.staging() != CacheMode::rotate_const) {
    return "constants not from memory: mode " + std::string(cache_mode_name(c.mode));
  }
  return {};
}

}  // namespace

SideKernels measured_kernels(std::span<const Measurement> rows, const BoundingDevice& bounding) {
  SideKernels out;
  std::map<KernelCase, std::vector<Measurement>> cases;
  for (const Measurement& row : rows) {
    if (const std::string fault = fault_of(row); !fault.empty()) {
      ++out.left_out[fault];
    } else {
      cases[row.kernel_case].push_back(row);
    }
  }
  const CaseBounds bounds(bounding);
  Fastest fastest;
  for (const auto& [kernel_case, rounds] : cases) {
    const auto folded = fold_usable_rounds(rounds, 0);
    if (!folded) continue;
    const CaseBound bound = bounds.of(kernel_case);
    if (judged(*folded, bound.bound).status == Status::quarantined) {
      out.left_out[too_fast] += rounds.size();
      continue;
    }
    DeviceKernel kernel = counted(complete_problem(kernel_case.problem), bound.work, bound.bound,
                                  bounding.device, bounding.threads);
    kernel.ns = folded->ns;
    kernel.interval_ns = {folded->low_ns, folded->high_ns};
    kernel.has_interval = true;
    fastest.add(std::move(kernel));
  }
  out.kernels = std::move(fastest).take();
  return out;
}

SideKernels imported_kernels(const ImportedTable& table, const Device* device) {
  SideKernels out;
  out.left_out = table.skipped;
  const roofline::Ceilings ceilings =
      device == nullptr ? roofline::Ceilings() : roofline::Ceilings(*device, 0);
  Fastest fastest;
  for (const KernelSeries& series : table.series) {
    for (const LatencyPoint& point : series.points.all()) {
      const Problem& problem = point.problem;  // complete: the table's reader fills defaults
      const Work work = find_contract(problem.op)->work(problem.params);
      const roofline::Bound bound = roofline::step_bound(problem, work, ceilings);
      if (roofline::quarantine(bound, point.ns)) {
        ++out.left_out[too_fast];
        continue;
      }
      DeviceKernel kernel = counted(problem, work, bound, device, 0);
      kernel.ns = point.ns;
      kernel.interval_ns = {point.ns, point.ns};
      const auto* power = find_value(table.power_w, point.line);
      if (power) kernel.power_w = *power;
      fastest.add(std::move(kernel));
    }
  }
  out.kernels = std::move(fastest).take();
  return out;
}

SideKernels bound_kernels(std::span<const Problem> problems, const Device& device) {
  SideKernels out;
  const roofline::Ceilings ceilings(device, 0);
  Fastest fastest;
  for (const Problem& problem : problems) {
    const Work work = find_contract(problem.op)->work(problem.params);
    const roofline::Bound bound = roofline::step_bound(problem, work, ceilings);
    DeviceKernel kernel = counted(problem, work, bound, &device, 0);
    if (work.matmul_flops > 0 && kernel.peak_ns <= 0) {
      ++out.left_out["no peak for " + std::string(dtype_name(work.compute_dtype))];
    } else if (work.transfer_bytes > 0 && kernel.least.link_ns <= 0) {
      ++out.left_out["no link between devices is stated"];
    } else if (kernel.least.bound_ns() <= 0) {
      ++out.left_out["nothing bounds it: its bytes may all lie in caches"];
    } else {
      kernel.ns = kernel.least.bound_ns();
      kernel.interval_ns = {kernel.ns, kernel.ns};
      fastest.add(std::move(kernel));
    }
  }
  out.kernels = std::move(fastest).take();
  return out;
}

std::vector<Problem> plain_gemms(std::span<const Dtype> dtypes) {
  std::vector<Problem> out;
  for (const Dtype dtype : dtypes) {
    const auto type = as_int64(dtype);
    const Dtype result = dtype == Dtype::s8 ? Dtype::s32 : Dtype::bf16;
    for (std::int64_t m = 1; m <= 16384; m *= 2) {
      for (const std::int64_t nk : {4096, 8192}) {
        out.push_back({"gemm",
                       {{"m", m},
                        {"n", nk},
                        {"k", nk},
                        {"src_dtype", type},
                        {"wei_dtype", type},
                        {"dst_dtype", as_int64(result)},
                        {"wei_trans", 1}}});
      }
    }
  }
  return out;
}

}  // namespace halmark
