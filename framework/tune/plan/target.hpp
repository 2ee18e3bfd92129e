// Target: the device on which configurations run, or are supposed to run, as values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/chosen/winner.hpp"
#include "core/device.hpp"
#include "core/measured/machine_identity.hpp"
#include "latency/case_bounds.hpp"
#include "model/pricing/composer.hpp"
#include "plan/measure_limits.hpp"
#include "simulate/fabric/topology.hpp"

namespace halmark::tune {

struct Target {
  std::string backend = "cpu", device = "0";
  std::string fingerprint;                    // of the machine; "" = nothing is measured
  EarlierIdentity earlier;                    // of its runs by versions before that fingerprint
  std::optional<Device> measured, datasheet;  // what utilisation and bounds are judged by
  // Cores that the shards of a configuration share; 0 = each shard is a device of its own.
  int cores = 0;
  std::int64_t memory_bytes = 0;  // that all shards share, or that each may use
  WinnerTable winners;            // kernels that beat the plugin's own choice
  MeasureLimits limits;           // of the machine, where a sweep states none
  // What joins the devices: collectives that nobody measured are priced over it. Absent: by the
  // device's own link.
  std::optional<fabric::Topology> fabric = {};
  bool in_stack = false;     // kernels are measured between their neighbours
  bool asks_energy = false;  // an estimate has energy, whatever it is from
  bool is_apart = false;     // computes apart from the host, in memory of its own
  // The devices that places of ranks name, each a target of its own; empty where none is named.
  std::vector<Target> named = {};

  // Equal nodes, this machine one of them, that ranks fill in their order; 0 = this machine alone.
  int nodes = 0, ranks_per_node = 0;

  MachineIdentity identity() const { return {fingerprint, earlier}; }
  bool is_shared() const { return cores > 0; }
  bool is_spread(int ranks) const { return nodes > 0 && ranks > ranks_per_node; }
  // Those that share a machine.
  int ranks_here(int ranks) const { return is_spread(ranks) ? ranks_per_node : ranks; }
  // More ranks than cores take turns on them: what they compute can be checked, and not timed.
  bool is_oversubscribed(int ranks) const { return is_shared() && ranks_here(ranks) > cores; }
  std::int64_t memory_of_rank(int ranks) const {
    return is_shared() ? memory_bytes / ranks_here(ranks) : memory_bytes;
  }
  // Of one of `ranks` shards. Refers to the winners.
  StackPlacement placement(int ranks) const;
  DeviceFacts facts(int ranks) const;
  // The same of a configuration's ranks, on their places where they have any. Throws Error (exit 2)
  // for a place on a device that is not named.
  StackPlacement placement(const Configuration& configuration) const;
  DeviceFacts facts(const Configuration& configuration) const;
  std::int64_t memory_of_rank(const Configuration& configuration, int rank) const;
  const Target& of(const ShardPlace& place) const;
  std::string device_text() const { return backend + ':' + device; }
  BoundingDevice bounding() const;
  // Argument sets rotate through so many bytes: min(measured plateau, 512 MiB, a quarter of the
  // shard's memory).
  std::int64_t ring_bytes(int ranks) const;
};

}  // namespace halmark::tune
