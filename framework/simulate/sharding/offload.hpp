// What moves to a slower memory where a device's does not suffice: weights, caches and experts that
// a step reads least of, streamed in when they are used.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/graph/graph.hpp"
#include "simulate/fabric/topology.hpp"

namespace halmark::simulate {

struct OffloadItem {
  std::string name;  // "layer 12 cache", "layer 3 expert_gate_up"
  std::int64_t bytes = 0;
  double read_bytes = 0;  // of it in one step of the rank
};

// A memory as one rank meets it.
struct OffloadTier {
  std::string name;
  std::int64_t bytes = 0;  // a rank's share of its size
  double bytes_per_s = 0;  // and of its bandwidth, read
  double latency_ns = 0;   // of each item that is read
};

struct Offload {
  std::vector<std::size_t> items;  // that move, ascending
  std::int64_t bytes = 0;
  double ns = 0;  // that a step takes longer: transfers are not hidden behind anything
  std::string tier;
};

double transfer_ns(const OffloadItem& item, const OffloadTier& tier);

// Items that free at least `needed` bytes: by bytes read per byte held, the fewest first, and then
// without those that the others make unnecessary. At most one item's transfer slower than the
// fastest choice. Nothing where all of them, or the tier, do not suffice.
std::optional<Offload> offload(std::span<const OffloadItem> items, std::int64_t needed,
                               const OffloadTier& tier);

// Weights of every layer by operator, and every layer's cache, on a rank of the fullest stage.
// Experts are read as far as the batch reaches them, an embedding row by row.
std::vector<OffloadItem> offload_items(const OperatorGraph& graph, std::size_t stage);

// Tiers slower than the device's own, fastest first; `ranks` that share one are those of its scope
// among the first `shards` devices.
std::vector<OffloadTier> offload_tiers(const fabric::Topology& topology, std::int64_t shards);

}  // namespace halmark::simulate
