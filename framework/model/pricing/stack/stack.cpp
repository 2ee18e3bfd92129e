#include "model/pricing/stack/stack.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "core/text/error.hpp"
#include "kernels/kv_cache.hpp"
#include "model/graph/expert_layout.hpp"
#include "model/pricing/layout/places.hpp"
#include "model/pricing/stack/stage_stack.hpp"

namespace halmark {

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

namespace {

double constant_bytes(const Problem& given) {
  const Problem problem = complete_problem(given);
  return find_contract(problem.op)->work(problem.params).constant_bytes;
}

// Who meets in a collective, by its split: the stages of a pipeline, the replicas that exchange
// rows of experts, else the ranks of a tensor-parallel group.
std::vector<int> members_of(const Parallel& parallel, Split split, int replica, int stage,
                            int tensor) {
  const auto rank = [&](int r, int s, int t) { return (r * parallel.pp + s) * parallel.tp + t; };
  std::vector<int> out;
  if (split == Split::pipeline) {
    for (int s = 0; s < parallel.pp; ++s) out.push_back(rank(replica, s, tensor));
  } else if (split == Split::expert) {
    const int across = expert_layout(parallel).across_replicas;
    for (int i = 0; i < across; ++i) {
      out.push_back(rank(replica / across * across + i, stage, tensor));
    }
  } else {
    for (int t = 0; t < parallel.tp; ++t) out.push_back(rank(replica, stage, t));
  }
  return out;
}

// `layers_of`: the layers of a stage that its ranks execute.
template <class LayersOf>
std::vector<Stack> stacks_of(const OperatorGraph& graph, const StackPlacement& placement,
                             const LayersOf& layers_of) {
  const Parallel& parallel = graph.configuration.parallel;
  const ExpertLayout layout = expert_layout(parallel);
  std::map<std::pair<int, int>, StageStack> stacks;  // by stage and expert-parallel rank
  for (int stage = 0; stage < parallel.pp; ++stage) {
    const std::vector<std::int32_t> layers = layers_of(static_cast<std::size_t>(stage));
    for (int rank = 0; rank < layout.ep; ++rank) {
      stacks[{stage, rank}] =
          stage_stack(graph, placement, static_cast<std::size_t>(stage), rank, layers);
    }
  }
  std::vector<Stack> out;
  for (int replica = 0; replica < parallel.dp; ++replica) {
    for (int stage = 0; stage < parallel.pp; ++stage) {
      for (int tensor = 0; tensor < parallel.tp; ++tensor) {
        const StageStack& made = stacks.at({stage, layout.rank(replica, tensor)});
        out.push_back(made.stack);
        for (const auto& [kernel, split] : made.splits) {
          auto members = members_of(parallel, split, replica, stage, tensor);
          if (std::ssize(members) == parallel.devices()) continue;
          out.back().members[kernel] = std::move(members);
        }
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

// Of a stage: what is repeated to measure its kernels, and the shift in which stages meet. Where
// nothing is repeated, the rank does beside the others what it does in a step.
std::vector<std::int32_t> repeated_layers(const OperatorGraph& graph, std::size_t stage) {
  std::vector<std::int32_t> out = short_sequence(graph, stage);
  if (out.empty()) return graph.stage_sequence(stage);
  if (graph.pipeline_type && out != graph.stage_sequence(stage))
    out.push_back(*graph.pipeline_type);
  return out;
}

bool has_arguments_of_earlier(const Stack& stack, std::size_t kernel) {
  return std::any_of(
      stack.kernels.begin(), stack.kernels.begin() + static_cast<std::ptrdiff_t>(kernel),
      [&](const KernelCase& k) { return k.shares_arguments(stack.kernels[kernel]); });
}

// Without the kernels that no step executes; `whole` loses the same.
void drop_idle_kernels(Stack& stack, Stack& whole) {
  std::vector<std::int32_t> place(stack.kernels.size(), -1);
  Stack kept, of_whole;
  for (StackStep& step : stack.steps) {
    const auto k = static_cast<std::size_t>(step.kernel);
    if (place[k] < 0) {
      place[k] = static_cast<std::int32_t>(kept.kernels.size());
      kept.kernels.push_back(stack.kernels[k]);
      if (const auto meet = stack.members.find(step.kernel); meet != stack.members.end()) {
        kept.members[place[k]] = meet->second;
      }
      of_whole.instances.push_back(whole.instances[k]);
    }
    step.kernel = place[k];
  }
  stack.kernels = std::move(kept.kernels);
  stack.members = std::move(kept.members);
  whole.instances = std::move(of_whole.instances);
}

}  // namespace

std::vector<Stack> build_short_stacks(const OperatorGraph& graph, const StackPlacement& placement) {
  std::vector<Stack> out =
      stacks_of(graph, placement, [&](std::size_t stage) { return repeated_layers(graph, stage); });
  std::vector<Stack> whole = build_stacks(graph, placement);
  for (std::size_t rank = 0; rank < out.size(); ++rank) {
    drop_idle_kernels(out[rank], whole[rank]);
    // Repetitions go through the argument sets. As much memory passes between two uses of one as a
    // loop of its own would move, but here the other kernels move most of it.
    double bytes = 0;
    for (std::size_t k = 0; k < out[rank].kernels.size(); ++k) {
      if (has_arguments_of_earlier(out[rank], k)) continue;
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
