#include "tune/evaluate/step/placed_latencies.hpp"

#include <algorithm>
#include <map>

#include "core/lists.hpp"
#include "tune/sources/fabric_source.hpp"

namespace halmark::tune {

void add_fabric(const Target& target, LatencySource& measured, LatencyChain& chain) {
  const Device* device = target.bounding().device;
  chain.add(SourceKind::measured, measured);
  chain.add(
      SourceKind::fabric,
      std::make_unique<FabricSource>(
          *target.fabric,
          device == nullptr ? roofline::Ceilings() : roofline::Ceilings(*device, target.cores),
          device != nullptr && roofline::Links(*device, {}).reduces_in_switch));
}

Composer::Lookup placed(const LatencyChain& chain, const OperatorGraph& graph) {
  std::map<Problem, std::int64_t> strides;
  for (const Operator& op : graph.operators) {
    if (op.kind != OperatorKind::collective) continue;
    std::int64_t& stride = strides[op.local];
    stride = std::max(stride, op.group_stride);
  }
  return [&chain, strides = std::move(strides)](const KernelCase& kernel_case) {
    const auto* at = find_value(strides, kernel_case.problem);
    return !at ? chain.latency(kernel_case) : chain.latency(kernel_case, *at);
  };
}

Composer::Lookup modelled_lookup(const LatencyChain& chain, const OperatorGraph& graph) {
  std::map<Problem, Work> works;
  for (const Operator& op : graph.operators) {
    if (op.kind == OperatorKind::collective || !op.of_context_rank.empty()) continue;
    Work& work = works[op.local];
    if (op.rank_work.flops() + op.rank_work.bytes() >= work.flops() + work.bytes()) {
      work = op.rank_work;
    }
  }
  return [&chain, works = std::move(works),
          others = placed(chain, graph)](const KernelCase& kernel_case) {
    const auto* at = find_value(works, kernel_case.problem);
    if (!at) return others(kernel_case);
    return chain.latency(kernel_case.problem, *at);
  };
}

}  // namespace halmark::tune
