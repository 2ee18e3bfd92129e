// One sample graph of a rank class stands for all layouts of the class: what memory follows from
// beside it, stages or load, is replaced in a copy. The copies are kept, because copying a graph
// costs more than pricing the load that it is asked for.
#include "model/pricing/layout/layout_memory.hpp"

#include "core/numeric/cast.hpp"
#include "kernels/routing.hpp"

namespace halmark {

// The sample graph stands for any cut of the same layers: its stages are replaced.
const std::vector<StageMemory>& LayoutMemory::stages(Layouts::Id layout, std::int64_t context) {
  if (last_ != memories_.end() && last_->first == std::pair(layout, context)) return last_->second;
  const auto [it, is_new] = memories_.try_emplace({layout, context});
  last_ = it;
  if (!is_new) return it->second;
  const std::int32_t of = layouts_[layout].rank_class;
  OperatorGraph& cut = cuts_.try_emplace(of, layouts_.rank_class(of).sample).first->second;
  const int pp = layouts_[layout].parallel.pp;
  cut.configuration.parallel.pp = pp;
  cut.configuration.workload.batch = std::int64_t{cut.configuration.parallel.dp} * pp;
  cut.configuration.workload.context = context;
  cut.stages.clear();
  for (Operator& op : cut.operators) op.stage_counts.clear();
  for (const StageShape& shape : layouts_.stages(layout)) {
    cut.stages.push_back(shape.stage);
    for (std::size_t type = 0; type < shape.counts.size(); ++type) {
      for (const std::int32_t index : cut.layer_types[type].operators) {
        cut.operators[as_size(index)].stage_counts.push_back(
            static_cast<std::int64_t>(shape.counts[type]));
      }
    }
  }
  const MemoryUse use = memory_use(cut);
  for (std::size_t s = 0; s < use.stages.size(); ++s) {
    const StageShape& shape = layouts_.stages(layout)[s];
    it->second.push_back({use.stages[s].weight_bytes, use.stages[s].kv_bytes / pp,
                          shape.stage.has_head, shape.stages});
  }
  return it->second;
}

std::int64_t LayoutMemory::activation_bytes(Layouts::Id layout, std::int64_t tokens) {
  const std::int32_t of = layouts_[layout].rank_class;
  const RankClass& rank_class = layouts_.rank_class(of);
  const auto [it, is_new] = activations_.try_emplace({of, tokens}, 0);
  if (!is_new) return it->second;
  OperatorGraph& step = steps_.try_emplace(of, rank_class.sample).first->second;
  const std::int64_t skew = step.configuration.workload.routing_skew;
  step.configuration.workload = {.phase = Phase::prefill,
                                 .batch = rank_class.parallel.dp,
                                 .new_tokens = tokens,
                                 .context = tokens,
                                 .routing_skew = skew};
  if (step.expert_use) {
    const ExpertSpec& experts = *step.spec.moe;
    const std::int64_t all = tokens * rank_class.parallel.dp;
    const auto counts = routing_counts(all, experts.top_k, experts.experts, skew);
    const int ep = rank_class.parallel.ep;
    const auto heaviest =
        rows_of(counts, local_experts(experts.experts, ep, heaviest_rank(counts, ep)));
    step.expert_use->imbalance = as_double(heaviest) * ep / as_double(all * experts.top_k);
  }
  it->second = memory_use(step).largest.activation_bytes;
  return it->second;
}

}  // namespace halmark
