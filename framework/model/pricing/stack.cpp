#include "model/pricing/stack.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "core/text/error.hpp"
#include "kernels/kv_cache.hpp"
#include "model/graph/context_split.hpp"
#include "model/graph/expert_layout.hpp"
#include "model/pricing/places.hpp"

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

double constant_bytes(const Problem& given) {
  const Problem problem = complete_problem(given);
  return find_contract(problem.op)->work(problem.params).constant_bytes;
}

KernelCase place(const Problem& problem, const StackPlacement& placement, int devices,
                 const std::string& neighbours) {
  KernelCase out;
  out.problem = problem;
  out.backend = placement.backend;
  out.device = placement.device;
  out.parts = placement.parts > 0 ? placement.parts : devices;
  out.shards_at_once = devices;
  out.mode = placement.mode;
  out.mode = out.staging();  // as winners were found
  if (placement.winners != nullptr) out = placement.winners->with_winner(std::move(out));
  if (neighbours.empty()) return out;
  out.mode = CacheMode::in_stack;
  out.neighbours = neighbours;
  return out;
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
  std::vector<std::string> neighbours(graph.operators.size());
  if (placement.mode == CacheMode::in_stack) neighbours = usual_neighbours(graph, stage);
  std::vector<StageKernel> out;
  std::vector<double> constant_bytes;
  for (std::size_t i = 0; i < graph.operators.size(); ++i) {
    const Operator& op = graph.operators[i];
    if (op.stage_counts[stage] == 0) continue;
    for (const Problem* problem : launches_of(op, expert_rank)) {
      auto it = std::ranges::find_if(out, [&](const StageKernel& k) {
        return k.kernel_case.problem == *problem && k.kernel_case.neighbours == neighbours[i];
      });
      if (it == out.end()) {
        it = out.insert(out.end(), {place(*problem, placement, devices, neighbours[i]), 0, {}});
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

// `layers`: of the stage, or a part of them.
Stack stage_stack(const OperatorGraph& graph, const StackPlacement& placement, std::size_t stage,
                  int expert_rank, const std::vector<std::int32_t>& layers) {
  const std::vector<StageKernel> kernels = kernels_of(graph, placement, stage, expert_rank);
  const std::vector<std::int32_t> kernel_of = kernel_of_operator(graph, kernels);
  Stack stack;
  for (const StageKernel& kernel : kernels) {
    stack.kernels.push_back(kernel.kernel_case);
    stack.instances.push_back(kernel.count);
  }
  std::vector<std::int32_t> next_instance(kernels.size(), 0);
  for (const std::int32_t type : layers) {
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

namespace {

// `layers_of`: the layers of a stage that its ranks execute.
template <class LayersOf>
std::vector<Stack> stacks_of(const OperatorGraph& graph, const StackPlacement& placement,
                             const LayersOf& layers_of) {
  const Parallel& parallel = graph.configuration.parallel;
  const ExpertLayout layout = expert_layout(parallel);
  std::map<std::pair<std::size_t, int>, Stack> stacks;  // by stage and expert-parallel rank
  for (std::size_t stage = 0; stage < graph.stages.size(); ++stage) {
    const std::vector<std::int32_t> layers = layers_of(stage);
    for (int rank = 0; rank < layout.ep; ++rank) {
      stacks[{stage, rank}] = stage_stack(graph, placement, stage, rank, layers);
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

}  // namespace

std::vector<Stack> build_stacks(const OperatorGraph& graph, const StackPlacement& placement) {
  return stacks_of(graph, placement,
                   [&](std::size_t stage) { return graph.stage_sequence(stage); });
}

namespace {

// Without the kernels that no step executes; `whole` loses the same.
void drop_idle_kernels(Stack& stack, Stack& whole) {
  std::vector<std::int32_t> place(stack.kernels.size(), -1);
  Stack kept, of_whole;
  for (StackStep& step : stack.steps) {
    const auto k = static_cast<std::size_t>(step.kernel);
    if (place[k] < 0) {
      place[k] = static_cast<std::int32_t>(kept.kernels.size());
      kept.kernels.push_back(stack.kernels[k]);
      of_whole.instances.push_back(whole.instances[k]);
    }
    step.kernel = place[k];
  }
  stack.kernels = std::move(kept.kernels);
  whole.instances = std::move(of_whole.instances);
}

}  // namespace

std::vector<Stack> build_short_stacks(const OperatorGraph& graph, const StackPlacement& placement) {
  std::vector<Stack> out =
      stacks_of(graph, placement, [&](std::size_t stage) { return short_sequence(graph, stage); });
  std::vector<Stack> whole = build_stacks(graph, placement);
  for (std::size_t rank = 0; rank < out.size(); ++rank) {
    // Where nothing is repeated, the rank does beside the others what it does in a step.
    if (out[rank].steps.empty()) out[rank] = whole[rank];
    drop_idle_kernels(out[rank], whole[rank]);
    // Repetitions go through the argument sets. As much memory passes between two uses of one as a
    // loop of its own would move, but here the other kernels move most of it.
    double bytes = 0;
    for (std::size_t k = 0; k < out[rank].kernels.size(); ++k) {
      bytes += static_cast<double>(whole[rank].instances[k]) *
               constant_bytes(out[rank].kernels[k].problem);
    }
    const double ring = std::min(static_cast<double>(placement.ring_bytes), bytes);
    out[rank].instances.resize(out[rank].kernels.size());
    for (std::size_t k = 0; k < out[rank].kernels.size(); ++k) {
      const auto once = static_cast<double>(whole[rank].instances[k]);
      const double sets = bytes > 0 ? std::ceil(once * ring / bytes) : 1;
      out[rank].instances[k] =
          std::clamp<std::int64_t>(static_cast<std::int64_t>(sets), 1, out[rank].kernels[k].sets);
    }
  }
  return out;
}

}  // namespace halmark
