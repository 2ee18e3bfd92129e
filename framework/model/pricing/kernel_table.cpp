// A latency whose row says that it must not be used counts as none: one bad kernel would otherwise
// hide in the sum of a step.
#include "model/pricing/kernel_table.hpp"

#include "core/measured/measurement.hpp"

namespace halmark {

std::int32_t KernelTable::index_of(const KernelCase& kernel_case) {
  const auto next = static_cast<std::int32_t>(cases_.size());
  const auto [it, is_new] = indices_.try_emplace(kernel_case, next);
  if (is_new) cases_.push_back(kernel_case);
  return it->second;
}

KernelTime kernel_time(const std::optional<Latency>& latency) {
  if (!latency || !has_latency(latency->status)) return {};
  return {latency->ns, latency->low_ns, latency->high_ns, latency->lower_bound_ns, true};
}

}  // namespace halmark
