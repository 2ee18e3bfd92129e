// A strategy for every layer of a chain (the problem of Galvatron, 2211.13878): least sum of what
// layers cost and of what resharding between neighbours costs, within a device's memory.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace halmark::simulate {

// Of one layer under one strategy. A layer that the strategy does not fit has none.
struct LayerCost {
  double ns = 0;           // compute and the collectives of the layer
  std::int64_t bytes = 0;  // that a device holds for it
};

struct LayerChain {
  // By layer and strategy; every layer has an entry for every strategy.
  std::vector<std::vector<std::optional<LayerCost>>> layers;
  // By strategy of a layer and that of the next: what their activations cost to be laid out anew.
  std::vector<std::vector<double>> reshard_ns;
  std::optional<std::int64_t> bytes_max;  // of a device; nothing = no limit
};

struct ChosenLayers {
  std::vector<std::size_t> strategies;  // by layer
  double ns = 0;
  std::int64_t bytes = 0;
};

// The least time; of equal times the fewest bytes. Nothing where no choice fits the memory. Exact:
// along the chain every pair of time and bytes that no other is better than in both is kept, per
// strategy of the last layer.
std::optional<ChosenLayers> choose_layers(const LayerChain& chain);

}  // namespace halmark::simulate
