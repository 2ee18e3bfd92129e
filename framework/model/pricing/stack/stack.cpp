#include "model/pricing/stack/stack.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "core/numeric/cast.hpp"
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

// `layers_of`: the layers of a stage that its ranks execute.
template <class LayersOf>
std::vector<Stack> stacks_of(const OperatorGraph& graph, const StackPlacement& placement,
                             const LayersOf& layers_of) {
  const Parallel& parallel = graph.configuration.parallel;
  const ExpertLayout layout = expert_layout(parallel);
  // By stage, expert-parallel rank and the rank whose place it has.
  std::map<std::tuple<int, int, int>, StageStack> stacks;
  const auto stack_of = [&](int stage, int expert_rank, int place) -> const StageStack& {
    const auto [it, is_new] = stacks.try_emplace({stage, expert_rank, place});
    if (is_new) {
      it->second = stage_stack(graph, placement.of_rank(place), as_size(stage), expert_rank,
                               layers_of(as_size(stage)));
    }
    return it->second;
  };
  std::vector<Stack> out;
  for (int replica = 0; replica < parallel.dp; ++replica) {
    for (int stage = 0; stage < parallel.pp; ++stage) {
      for (int tensor = 0; tensor < parallel.tp; ++tensor) {
        const int rank = (replica * parallel.pp + stage) * parallel.tp + tensor;
        const StageStack& made =
            stack_of(stage, layout.rank(replica, tensor), placement.ranks.empty() ? 0 : rank);
        out.push_back(made.stack);
        if (!graph.configuration.places.empty()) {
          out.back().place = graph.configuration.places[as_size(rank)];
        }
        for (const auto& [kernel, split] : made.splits) {
          auto members = meeting_ranks(parallel, split, replica, stage, tensor);
          if (std::ssize(members) == parallel.devices()) continue;
          out.back().members[kernel] = std::move(members);
        }
      }
    }
  }
  return out;
}

}  // namespace

StackPlacement StackPlacement::of_rank(int index) const {
  if (ranks.empty()) return *this;
  StackPlacement out = *this;
  const RankPlacement& own = ranks[as_size(index)];
  out.backend = own.backend;
  out.device = own.device;
  out.parts = own.parts;
  out.ring_bytes = own.ring_bytes;
  out.rank = index;
  return out;
}

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
    const auto k = as_size(step.kernel);
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
      bytes += as_double(whole[rank].instances[k]) * constant_bytes(out[rank].kernels[k].problem);
    }
    const double own = as_double(placement.of_rank(static_cast<int>(rank)).ring_bytes);
    const double ring = std::min(own, bytes);
    out[rank].instances.resize(out[rank].kernels.size());
    for (std::size_t k = 0; k < out[rank].kernels.size(); ++k) {
      const auto once = as_double(whole[rank].instances[k]);
      const double sets = bytes > 0 ? std::ceil(once * ring / bytes) : 1;
      out[rank].instances[k] =
          std::clamp<std::int64_t>(static_cast<std::int64_t>(sets), 1, out[rank].kernels[k].sets);
    }
  }
  return out;
}

}  // namespace halmark
