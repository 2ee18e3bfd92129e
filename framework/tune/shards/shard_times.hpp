// Times of operators on one shard, on paper: what a device's figures say of compute and memory, and
// what its fabric says of exchanges.
#pragma once

#include <memory>
#include <optional>

#include "core/device.hpp"
#include "roofline/peaks.hpp"
#include "simulate/fabric/topology.hpp"
#include "simulate/sharding/step_cost.hpp"
#include "tune/sources/priced_latencies.hpp"

namespace halmark::tune {

// A CPU that was measured is this machine, which `shards` shards share; any other device is a
// shard.
struct ShardOf {
  ShardShare share;
  std::optional<std::int64_t> memory_bytes;
};
ShardOf shard_of(const Device& device, std::int64_t shards);

// Of a share of a device, by its own figures. `topology`: null = exchanges go over the device's own
// link. Throws as FabricSource does.
simulate::OperatorTime shard_times(const Device& device, const ShardOf& shard,
                                   const fabric::Topology* topology);

// What the chain knows, as every step on paper has it.
simulate::OperatorTime chain_times(std::shared_ptr<const PricedLatencies> known);

// The same, but what a stage hands over goes from shard `from` to shard `to` over the shortest way
// between them: latency and bytes over its narrowest cable.
simulate::OperatorTime over_route(simulate::OperatorTime time, const fabric::Topology& topology,
                                  std::int64_t from, std::int64_t to);

}  // namespace halmark::tune
