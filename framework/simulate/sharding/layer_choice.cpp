// Layers of few types make few different sums, so the kept pairs stay few: 126 equal layers under
// six strategies have at most some thousands.
#include "simulate/sharding/layer_choice.hpp"

#include <algorithm>
#include <cstdint>
#include <tuple>

#include "core/lists.hpp"

namespace halmark::simulate {
namespace {

// The end of a chosen run of layers, and where it came from in the layer before.
struct Label {
  double ns = 0;
  std::int64_t bytes = 0;
  std::uint32_t from_strategy = 0, from_label = 0;
  std::uint32_t changes = 0;  // of the strategy so far: of equal choices the plainest
};
using Front = std::vector<Label>;  // ascending in time, descending in bytes

bool comes_first(const Label& a, const Label& b) {
  return std::tie(a.ns, a.bytes, a.changes) < std::tie(b.ns, b.bytes, b.changes);
}

void keep_best(Front& labels) {
  std::ranges::sort(labels, comes_first);
  std::size_t kept = 0;
  for (const Label& label : labels) {
    if (kept > 0 && labels[kept - 1].bytes <= label.bytes) continue;
    labels[kept++] = label;
  }
  labels.resize(kept);
}

using Fronts = std::vector<Front>;  // by strategy of the last layer

Fronts first_layer(const LayerChain& chain) {
  const auto& costs = chain.layers.front();
  Fronts out(costs.size());
  for (const auto s : indices(costs)) {
    if (costs[s]) out[s].push_back({.ns = costs[s]->ns, .bytes = costs[s]->bytes});
  }
  return out;
}

Fronts next_layer(const LayerChain& chain, std::size_t layer, const Fronts& before) {
  const auto& costs = chain.layers[layer];
  Fronts out(costs.size());
  for (const auto to : indices(costs)) {
    if (!costs[to]) continue;
    for (const auto from : indices(before)) {
      const double added = costs[to]->ns + chain.reshard_ns[from][to];
      for (std::size_t i = 0; i < before[from].size(); ++i) {
        const Label& label = before[from][i];
        const std::int64_t bytes = label.bytes + costs[to]->bytes;
        if (chain.bytes_max && bytes > *chain.bytes_max) continue;
        out[to].push_back({label.ns + added, bytes, as_uint32(from), as_uint32(i),
                           label.changes + (from == to ? 0 : 1)});
      }
    }
    keep_best(out[to]);
  }
  return out;
}

}  // namespace

std::optional<ChosenLayers> choose_layers(const LayerChain& chain) {
  if (chain.layers.empty()) return ChosenLayers{};
  std::vector<Fronts> fronts = {first_layer(chain)};
  for (Front& front : fronts.front()) {
    std::erase_if(front,
                  [&](const Label& l) { return chain.bytes_max && l.bytes > *chain.bytes_max; });
  }
  for (std::size_t layer = 1; layer < chain.layers.size(); ++layer) {
    fronts.push_back(next_layer(chain, layer, fronts.back()));
  }
  std::optional<Label> best;
  std::size_t strategy = 0, at = 0;
  for (const auto s : indices(fronts.back())) {
    for (const auto i : indices(fronts.back()[s])) {
      const Label& label = fronts.back()[s][i];
      if (best && !comes_first(label, *best)) continue;
      best = label;
      strategy = s;
      at = i;
    }
  }
  if (!best) return std::nullopt;
  ChosenLayers out{.strategies = std::vector<std::size_t>(chain.layers.size()),
                   .ns = best->ns,
                   .bytes = best->bytes};
  for (std::size_t layer = chain.layers.size(); layer-- > 0;) {
    out.strategies[layer] = strategy;
    const Label& label = fronts[layer][strategy][at];
    strategy = label.from_strategy;
    at = label.from_label;
  }
  return out;
}

}  // namespace halmark::simulate
