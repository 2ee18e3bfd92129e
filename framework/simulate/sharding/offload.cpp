#include "simulate/sharding/offload.hpp"

#include <algorithm>
#include <map>

#include "core/lists.hpp"
#include "core/text/units.hpp"
#include "model/pricing/memory.hpp"

namespace halmark::simulate {

double transfer_ns(const OffloadItem& item, const OffloadTier& tier) {
  if (item.read_bytes <= 0) return 0;
  return tier.latency_ns + item.read_bytes / tier.bytes_per_s * ns_per_s;
}

std::optional<Offload> offload(std::span<const OffloadItem> items, std::int64_t needed,
                               const OffloadTier& tier) {
  Offload out{.items = {}, .bytes = 0, .ns = 0, .tier = tier.name};
  if (needed <= 0) return out;
  auto order = mapped(indices(items), std::identity());
  std::ranges::stable_sort(order, {}, [&](std::size_t i) {
    return transfer_ns(items[i], tier) / as_double(items[i].bytes);
  });
  for (const std::size_t i : order) {
    if (out.bytes >= needed) break;
    if (out.bytes + items[i].bytes > tier.bytes) continue;
    out.items.push_back(i);
    out.bytes += items[i].bytes;
  }
  if (out.bytes < needed) return std::nullopt;
  // The last one is often larger than what was still missing.
  std::vector<std::size_t> slowest_first = out.items;
  std::ranges::stable_sort(slowest_first, std::ranges::greater{},
                           [&](std::size_t i) { return transfer_ns(items[i], tier); });
  for (const std::size_t i : slowest_first) {
    if (out.bytes - items[i].bytes < needed) continue;
    out.bytes -= items[i].bytes;
    std::erase(out.items, i);
  }
  std::ranges::sort(out.items);
  for (const std::size_t i : out.items) out.ns += transfer_ns(items[i], tier);
  return out;
}

std::vector<OffloadItem> offload_items(const OperatorGraph& graph, std::size_t stage) {
  std::vector<OffloadItem> out;
  const Stage& of = graph.stages[stage];
  const Configuration& c = graph.configuration;
  const auto turns = as_double(graph.micro_batches());
  const auto add = [&](const std::string& where, std::int32_t type) {
    for (const std::int32_t i : graph.layer_types[as_size(type)].operators) {
      const Operator& op = graph.operators[as_size(i)];
      if (op.weight_bytes_local == 0 || op.kind == OperatorKind::norm) continue;
      out.push_back({.name = where + ' ' + op.name,
                     .bytes = op.weight_bytes_local,
                     .read_bytes = turns * op.rank_work.constant_bytes});
    }
    const std::int64_t cache = c.workload.batch / c.parallel.dp * layer_cache_bytes(graph, type);
    if (cache == 0) return;
    // Every sequence reads its own once.
    out.push_back({.name = where + " cache", .bytes = cache, .read_bytes = as_double(cache)});
  };
  if (of.has_embedding && graph.embedding_type) add("embedding", *graph.embedding_type);
  for (std::int64_t l = of.first_layer; l < of.first_layer + of.layers; ++l) {
    add("layer " + std::to_string(l), graph.layers[as_size(l)]);
  }
  return out;
}

std::vector<OffloadTier> offload_tiers(const fabric::Topology& topology, std::int64_t shards) {
  std::vector<OffloadTier> out;
  const std::vector<int> devices = topology.devices();
  const auto used = std::min<std::int64_t>(shards, std::ssize(devices));
  for (const fabric::MemoryTier& tier : topology.tiers) {
    if (tier.scope == "device") continue;               // the device's own
    std::map<std::pair<int, int>, std::int64_t> ranks;  // by node, and by NUMA domain
    std::int64_t most = 1;
    for (const std::int64_t r : below(used)) {
      const fabric::Entity& entity = topology.entities[as_size(devices[as_size(r)])];
      most = std::max(most, ++ranks[{entity.node, tier.scope == "numa" ? entity.numa : -1}]);
    }
    out.push_back({.name = tier.name,
                   .bytes = tier.bytes / most,
                   .bytes_per_s = tier.read_bytes_per_s / as_double(most),
                   .latency_ns = tier.latency_ns});
  }
  std::ranges::stable_sort(out, std::ranges::greater{}, &OffloadTier::bytes_per_s);
  return out;
}

}  // namespace halmark::simulate
