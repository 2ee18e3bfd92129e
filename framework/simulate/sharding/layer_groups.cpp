#include "simulate/sharding/layer_groups.hpp"

#include <algorithm>

#include "core/lists.hpp"
#include "kernels/contract.hpp"
#include "simulate/sharding/layer_choice.hpp"

namespace halmark::simulate {
namespace {

std::int64_t weights_of(const OperatorGraph& graph, std::int32_t type) {
  std::int64_t out = 0;
  for (const std::int32_t i : graph.layer_types[as_size(type)].operators) {
    out += graph.operators[as_size(i)].weight_bytes_local;
  }
  return out;
}

// One strategy for all layers, with what it costs where.
struct Way {
  Parallel parallel;
  OperatorGraph graph;
  StepCost cost;
  MemoryUse memory;
  std::int64_t token_groups() const { return std::int64_t{parallel.dp} * parallel.cp; }
  // Weights that are of no layer.
  std::int64_t tables() const {
    std::int64_t out = memory.largest.weight_bytes;
    for (const std::int32_t type : graph.layers) out -= weights_of(graph, type);
    return out;
  }
};

double type_ns(const Way& way, std::optional<std::int32_t> type) {
  return type ? way.cost.type(0, *type).ns() : 0;
}

// The gather of activations [tokens, hidden] that more ranks have in parts than are to have them.
std::optional<double> reshard_ns(const Way& from, const Way& to, const OperatorTime& time) {
  const std::int64_t before = from.token_groups(), after = to.token_groups();
  if (after >= before || before % after != 0)
    return after >= before ? std::optional(0.0) : std::nullopt;
  const Workload& w = to.graph.configuration.workload;
  const Dtype dtype = to.graph.configuration.precision.activation;
  const std::int64_t tokens = to.graph.micro_batch() * w.new_tokens / to.parallel.cp;
  Operator gather{.name = "reshard", .kind = OperatorKind::collective, .split = Split::data};
  gather.local = complete_problem(
      {"all_gather",
       {{"bytes", std::max<std::int64_t>(1, dtype_bytes(dtype, tokens * to.graph.spec.hidden))},
        {"ranks", before / after},
        {"dtype", as_int64(dtype)}}});
  gather.local_work = find_contract("all_gather")->work(gather.local.params);
  gather.rank_work = gather.local_work;
  gather.group_stride = from.parallel.tp;
  return time(gather);
}

std::vector<Way> ways_of(const ModelSpec& spec, const PlanQuestion& question,
                         const std::vector<PlannedLayout>& layouts, const OperatorTime& time) {
  std::vector<Way> out;
  std::vector<const PlannedLayout*> by_time;
  for (const PlannedLayout& layout : layouts) {
    if (layout.configuration.parallel.pp == 1) by_time.push_back(&layout);
  }
  std::ranges::stable_sort(by_time, {}, [](const PlannedLayout* l) { return l->cost.ns(); });
  // The fastest ones, and the one that holds least of all.
  if (by_time.size() > group_strategies_max) {
    const auto least = std::ranges::min_element(
        by_time, {}, [](const PlannedLayout* l) { return l->largest.total(); });
    std::swap(by_time[group_strategies_max - 1], *least);
    by_time.resize(group_strategies_max);
  }
  for (const PlannedLayout* layout : by_time) {
    Configuration c = question.base;
    c.parallel = layout->configuration.parallel;
    auto graph = build_graph(spec, c);
    if (!graph || graph->micro_batches() != 1) continue;
    MemoryUse memory = memory_use(*graph);
    StepCost cost = step_cost(*graph, time);
    out.push_back({c.parallel, *std::move(graph), std::move(cost), std::move(memory)});
  }
  return out;
}

LayerChain chain_of(const std::vector<Way>& ways, const PlanQuestion& question,
                    std::int64_t activations, const OperatorTime& time) {
  LayerChain out{.layers = {}, .reshard_ns = {}, .bytes_max = std::nullopt};
  const std::size_t layers = ways.front().graph.layers.size();
  for (std::size_t l = 0; l < layers; ++l) {
    std::vector<std::optional<LayerCost>> costs;
    for (const Way& way : ways) {
      const std::int32_t type = way.graph.layers[l];
      LayerCost cost{.ns = type_ns(way, type), .bytes = layer_bytes(way.graph, type)};
      if (l == 0) cost.ns += type_ns(way, way.graph.embedding_type);
      if (l + 1 == layers) {
        cost.ns += type_ns(way, way.graph.head_type);
        cost.bytes += way.tables();
      }
      costs.push_back(cost);
    }
    out.layers.push_back(std::move(costs));
  }
  for (const Way& from : ways) {
    out.reshard_ns.emplace_back();
    for (const Way& to : ways) {
      constexpr double never = 1e300;
      out.reshard_ns.back().push_back(reshard_ns(from, to, time).value_or(never));
    }
  }
  if (question.bytes_max) out.bytes_max = *question.bytes_max - activations;
  return out;
}

}  // namespace

std::int64_t layer_bytes(const OperatorGraph& graph, std::int32_t type) {
  const Configuration& c = graph.configuration;
  return weights_of(graph, type) +
         c.workload.batch / c.parallel.dp * layer_cache_bytes(graph, type);
}

std::int64_t table_bytes(const OperatorGraph& graph) {
  return graph.embedding_type ? weights_of(graph, *graph.embedding_type) : 0;
}

std::optional<GroupedLayers> group_layers(const ModelSpec& spec, const PlanQuestion& question,
                                          const std::vector<PlannedLayout>& layouts,
                                          const OperatorTime& time) {
  const std::vector<Way> ways = ways_of(spec, question, layouts, time);
  if (ways.size() < 2) return std::nullopt;
  std::int64_t activations = 0;
  for (const Way& way : ways) {
    activations = std::max(activations, way.memory.largest.activation_bytes);
  }
  const auto chosen = choose_layers(chain_of(ways, question, activations, time));
  if (!chosen) return std::nullopt;
  const PlannedLayout& uniform = layouts.front();
  if (uniform.fits && chosen->ns >= uniform.cost.ns()) return std::nullopt;
  GroupedLayers out{
      .configuration = question.base, .ns = chosen->ns, .bytes = chosen->bytes + activations};
  out.configuration.parallel = ways[chosen->strategies.front()].parallel;
  std::vector<LayerGroup>& groups = out.configuration.groups;
  for (const auto l : indices(chosen->strategies)) {
    const Parallel& p = ways[chosen->strategies[l]].parallel;
    const LayerGroup one{.layers = 1, .dp = p.dp, .tp = p.tp, .ep = p.ep, .cp = p.cp};
    const bool goes_on = l > 0 && chosen->strategies[l] == chosen->strategies[l - 1];
    if (goes_on) {
      ++groups.back().layers;
    } else {
      groups.push_back(one);
    }
  }
  if (groups.size() < 2) return std::nullopt;
  return out;
}

}  // namespace halmark::simulate
