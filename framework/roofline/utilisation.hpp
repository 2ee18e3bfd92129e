// How well a measured time uses a device: FLOP/s, the three MFU figures, the roofline, quarantine.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/device.hpp"
#include "core/kernel_case.hpp"
#include "kernels/contract.hpp"

namespace halmark {

// How the bytes of a case meet the caches: constants rotate through `ring_bytes`, the rest is warm
// and lives in `warm_bytes`.
struct Traffic {
  double constant_bytes = 0;  // per execution, from the ring
  double warm_bytes = 0;      // per execution, everything else
  double ring_bytes = 0;      // all argument sets together
};
Traffic traffic(const Work& work, CacheMode mode, int sets);

// Time that no execution can beat at the measured peaks, in ns; the larger of both bounds.
struct LowerBound {
  double compute_ns = 0;  // matmul FLOPs / best measured peak of the compute dtype
  double memory_ns = 0;   // bytes / bandwidth of the cache levels that can hold them
  std::string reason;     // why a part is 0 ("no measured peak for bf16")
  double ns() const;
  std::string_view bound() const;  // "compute", "memory" or "" when neither is known
};
// `threads` = CPUs of one shard. A bandwidth's level holds twice its measured working set (probes
// use half a cache); of a working set W at least W minus that capacity must come from farther out,
// whatever the replacement policy. So the bound holds for partly cached rings too.
LowerBound lower_bound(const Work& work, const Traffic& traffic, const Device& device, int threads);

struct Utilisation {
  double flops_per_s = 0;  // matmul FLOPs of the contract over time
  double bytes_per_s = 0;
  std::optional<double> mfu;            // of the best measured path for the compute dtype
  std::optional<double> path_fraction;  // of the dispatched isa path
  std::optional<double> mfu_datasheet;
  std::optional<double> roofline_fraction;  // lower bound / time
  std::string mfu_reason;                   // why a figure is absent
  double lower_bound_ns = 0;
  std::string bound;       // "compute" or "memory"
  std::string quarantine;  // "faster_than_roofline: ..." above 102 % of a denominator, else empty
};

inline constexpr double quarantine_ratio = 1.02;

// `measured` and `datasheet` may be null; their figures are then absent with a reason. `isa` is the
// dispatched path ("" = unknown: path_fraction is absent, never guessed). duration_ns > 0.
Utilisation utilisation(const Work& work, const Traffic& traffic, const Device* measured,
                        const Device* datasheet, std::string_view isa, int threads,
                        double duration_ns);

// All three arguments that a kernel case determines, from its contract. Throws Error (exit 2) for a
// problem that its contract refuses.
Utilisation utilisation(const KernelCase& kernel_case, const Device* measured,
                        const Device* datasheet, std::string_view isa, int threads,
                        double duration_ns);

}  // namespace halmark
