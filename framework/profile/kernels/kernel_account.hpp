// Measured kernels beside the graph: every picosecond has a place, every row its own FLOPs, bytes,
// precision and bound.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/chosen/table_use.hpp"
#include "profile/kernels/kernel_binding.hpp"
#include "roofline/peaks.hpp"

namespace halmark {

// Below this a kernel's time is that of launching it; what decode kernels with hardly any work take
// on data-centre GPUs.
inline constexpr double launch_floor_ns = 3000;

// Where a row's time belongs: assigned to work of the model (also when it is ambiguous which),
// overhead, or unknown.
enum class KernelBucket { assigned, overhead, unknown };
std::string_view kernel_bucket_name(KernelBucket bucket);

struct AccountedKernel {
  ProfiledKernel time;
  std::string layer_type;
  std::string layer_where;
  BindingStatus status = BindingStatus::unknown;
  KernelBucket bucket = KernelBucket::unknown;
  std::vector<std::string> operators;   // names within the layer type
  std::vector<std::string> candidates;  // of ambiguous rows
  std::string how;

  // Matrix products only, on one rank, of its own operators. Absent where they are not known; 0 for
  // element-wise and communication kernels.
  std::optional<double> flops;
  std::optional<double> bytes;
  std::optional<Dtype> dtype;
  std::optional<double> peak_flops_per_s;  // of dtype, and of nothing else
  std::optional<double> ideal_ns;          // flops at their peaks; fused rows sum over precisions
  std::optional<double> mfu;               // ideal over measured; only of rows with products
  std::optional<double> floor_ns;
  std::string bound;   // compute, memory, launch, communication; "" = not known
  std::string reason;  // why mfu is absent
  // What its products at their peaks, its weights and cache from memory, or its transfer need.
  double lower_bound_ns = 0;    // 0 = not known
  bool is_quarantined = false;  // it cannot have taken so little: no figure is made of it
};

struct KernelAccount {
  std::vector<AccountedKernel> rows;  // one per row of the table, in its order
  std::int64_t assigned_ps = 0, overhead_ps = 0, unknown_ps = 0, total_ps = 0;
  std::int64_t between_kernels_ps = 0;  // of overhead: stated totals beyond the rows
  std::optional<double> mfu;            // all known ideal times over the total time
  bool is_lower_bound = false;          // of mfu: unknown rows may compute, too
  std::string reason;                   // why it is absent
  QuarantinedTimes quarantined;
  std::vector<std::string> unmeasured;  // "decoder.q_proj": products that no row can be
};

// Conserves time: assigned + overhead + unknown = total, exactly. `device` absent = no peaks, and
// every row says so. FLOPs come from the graph's contracts or the row itself, never from durations.
KernelAccount account_kernels(const KernelProfile& table, const OperatorGraph& graph,
                              const std::optional<Device>& device, ShardShare share);

}  // namespace halmark
