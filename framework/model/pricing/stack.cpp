#include "model/pricing/stack.hpp"

#include <algorithm>
#include <map>
#include <optional>

#include "core/text/error.hpp"
#include "kernels/kv_cache.hpp"
#include "model/graph/context_split.hpp"
#include "model/graph/expert_layout.hpp"

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
  return placement.winners != nullptr ? placement.winners->with_winner(std::move(out)) : out;
}

// Position of every operator's kernel in `kernels`; -1 for operators that the rank does not
// execute.
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

// What an operator executes on a rank, one launch each: `expert_rank` nothing = the heaviest one.
// None where the rank's experts got no row: it goes on to the next exchange. Under context
// parallelism attention is a launch for every block of the heaviest rank's queries.
std::vector<const Problem*> launches_of(const Operator& op, std::optional<int> expert_rank) {
  std::vector<const Problem*> out;
  if (!op.of_context_rank.empty()) {
    for (const Problem& block : heaviest_blocks(op.of_context_rank)) out.push_back(&block);
  } else if (!expert_rank || op.of_expert_rank.empty()) {
    out.push_back(&op.local);
  } else if (const auto& own = op.of_expert_rank[static_cast<std::size_t>(*expert_rank)]) {
    out.push_back(&*own);
  }
  return out;
}

std::vector<StageKernel> kernels_of(const OperatorGraph& graph, const StackPlacement& placement,
                                    std::size_t stage, std::optional<int> expert_rank) {
  const int devices = graph.configuration.parallel.devices();
  std::vector<StageKernel> out;
  std::vector<double> constant_bytes;
  for (std::size_t i = 0; i < graph.operators.size(); ++i) {
    const Operator& op = graph.operators[i];
    if (op.stage_counts[stage] == 0) continue;
    for (const Problem* problem : launches_of(op, expert_rank)) {
      auto it = std::ranges::find_if(
          out, [&](const StageKernel& k) { return k.kernel_case.problem == *problem; });
      if (it == out.end()) {
        it = out.insert(out.end(), {place(*problem, placement, devices), 0, {}});
        constant_bytes.push_back(op.local_work.constant_bytes);
      }
      it->count += op.stage_counts[stage];
      it->operators.push_back(static_cast<std::int32_t>(i));
    }
  }
  const auto ring = static_cast<std::int64_t>(
      std::min(static_cast<double>(placement.ring_bytes), stage_constant_bytes(graph, stage)));
  for (std::size_t k = 0; k < out.size(); ++k) {
    out[k].kernel_case.sets =
        ring_sets(ring, static_cast<std::int64_t>(constant_bytes[k]), out[k].count);
  }
  return out;
}

Stack stage_stack(const OperatorGraph& graph, const StackPlacement& placement, std::size_t stage,
                  int expert_rank) {
  const std::vector<StageKernel> kernels = kernels_of(graph, placement, stage, expert_rank);
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
      if (kernel < 0) continue;
      const std::int32_t instance = next_instance[static_cast<std::size_t>(kernel)]++;
      stack.steps.push_back({kernel, instance, op.name, op.layer_type});
    }
  }
  return stack;
}

}  // namespace

void require_measurable(const OperatorGraph& graph) {
  if (graph.configuration.parallel.cp > 1) {
    throw refused("context parallelism is priced, not measured: no kernel here passes keys around",
                  {}, "leave the strategy 'context' out, or price with --latency");
  }
  for (const Operator& op : graph.operators) require_measurable(op.local.op);
  const Dtype cache = graph.configuration.precision.kv_cache;
  if (!is_quantized_kv(cache)) return;
  throw refused("a KV cache of " + std::string(dtype_name(cache)) +
                    " is priced, not measured: no attention kernel here reads one with its scales",
                {}, "'halmark model' prices it");
}

std::vector<StageKernel> stage_kernels(const OperatorGraph& graph, const StackPlacement& placement,
                                       std::size_t stage) {
  return kernels_of(graph, placement, stage, std::nullopt);
}

std::vector<Stack> build_stacks(const OperatorGraph& graph, const StackPlacement& placement) {
  const Parallel& parallel = graph.configuration.parallel;
  const ExpertLayout layout = expert_layout(parallel);
  std::map<std::pair<std::size_t, int>, Stack> stacks;  // by stage and expert-parallel rank
  for (std::size_t stage = 0; stage < graph.stages.size(); ++stage) {
    for (int rank = 0; rank < layout.ep; ++rank) {
      stacks[{stage, rank}] = stage_stack(graph, placement, stage, rank);
    }
  }
  std::vector<Stack> out;
  for (int replica = 0; replica < parallel.dp; ++replica) {
    for (std::size_t stage = 0; stage < graph.stages.size(); ++stage) {
      for (int tensor = 0; tensor < parallel.tp; ++tensor) {
        out.push_back(stacks.at({stage, layout.rank(replica, tensor)}));
      }
    }
  }
  return out;
}

}  // namespace halmark
