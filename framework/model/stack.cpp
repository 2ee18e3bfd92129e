#include "model/stack.hpp"

#include <algorithm>

namespace halmark {

namespace {

// Bytes of weights and KV cache that the stage's stack passes over: an upper end of the ring.
double stage_constant_bytes(const OperatorGraph& graph, std::size_t stage) {
  double bytes = 0;
  for (const Operator& op : graph.operators) {
    bytes += static_cast<double>(op.stage_counts[stage]) * op.local_work.constant_bytes;
  }
  return bytes;
}

KernelCase place(const Problem& problem, const StackPlacement& placement, int devices) {
  KernelCase out;
  out.problem = problem;
  out.backend = placement.backend;
  out.device = placement.device;
  out.parts = placement.parts > 0 ? placement.parts : devices;
  out.shards_at_once = devices;
  out.mode = placement.mode;
  return out;
}

// Position of every operator's kernel in `kernels`; -1 for operators the stage does not execute.
std::vector<std::int32_t> kernel_of_operator(const OperatorGraph& graph,
                                             const std::vector<StageKernel>& kernels) {
  std::vector<std::int32_t> out(graph.operators.size(), -1);
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    for (const std::int32_t op : kernels[k].operators) {
      out[static_cast<std::size_t>(op)] = static_cast<std::int32_t>(k);
    }
  }
  return out;
}

Stack stage_stack(const OperatorGraph& graph, const StackPlacement& placement, std::size_t stage) {
  const std::vector<StageKernel> kernels = stage_kernels(graph, placement, stage);
  const std::vector<std::int32_t> kernel_of = kernel_of_operator(graph, kernels);
  Stack stack;
  for (const StageKernel& kernel : kernels) {
    stack.kernels.push_back(kernel.kernel_case);
    stack.instances.push_back(kernel.count);
  }
  std::vector<std::int32_t> next_instance(kernels.size(), 0);
  for (const std::int32_t type : graph.stage_sequence(stage)) {
    for (const std::int32_t index : graph.layer_types[static_cast<std::size_t>(type)].operators) {
      const Operator& op = graph.operators[static_cast<std::size_t>(index)];
      const std::int32_t kernel = kernel_of[static_cast<std::size_t>(index)];
      const std::int32_t instance = next_instance[static_cast<std::size_t>(kernel)]++;
      stack.steps.push_back({kernel, instance, op.name, op.layer_type});
    }
  }
  return stack;
}

}  // namespace

std::vector<StageKernel> stage_kernels(const OperatorGraph& graph, const StackPlacement& placement,
                                       std::size_t stage) {
  const int devices = graph.deployment.parallel.devices();
  std::vector<StageKernel> out;
  std::vector<double> constant_bytes;
  for (std::size_t i = 0; i < graph.operators.size(); ++i) {
    const Operator& op = graph.operators[i];
    if (op.stage_counts[stage] == 0) continue;
    auto it = std::ranges::find_if(
        out, [&](const StageKernel& k) { return k.kernel_case.problem == op.local; });
    if (it == out.end()) {
      it = out.insert(out.end(), {place(op.local, placement, devices), 0, {}});
      constant_bytes.push_back(op.local_work.constant_bytes);
    }
    it->count += op.stage_counts[stage];
    it->operators.push_back(static_cast<std::int32_t>(i));
  }
  const auto ring = static_cast<std::int64_t>(
      std::min(static_cast<double>(placement.ring_bytes), stage_constant_bytes(graph, stage)));
  for (std::size_t k = 0; k < out.size(); ++k) {
    out[k].kernel_case.sets =
        ring_sets(ring, static_cast<std::int64_t>(constant_bytes[k]), out[k].count);
  }
  return out;
}

std::vector<Stack> build_stacks(const OperatorGraph& graph, const StackPlacement& placement) {
  const Parallel& parallel = graph.deployment.parallel;
  std::vector<Stack> stages;
  for (std::size_t stage = 0; stage < graph.stages.size(); ++stage) {
    stages.push_back(stage_stack(graph, placement, stage));
  }
  std::vector<Stack> out;
  for (int replica = 0; replica < parallel.dp; ++replica) {
    for (const Stack& stack : stages) out.insert(out.end(), parallel.tp, stack);
  }
  return out;
}

}  // namespace halmark
