// A fabric as values: what stands in it and what joins it. Nothing here prices a transfer.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "simulate/fabric/transport.hpp"

namespace halmark::fabric {

enum class EntityKind { device, host, nic, network_switch };
std::string_view kind_name(EntityKind kind);  // "device", "host", "nic", "switch"

struct Entity {
  std::string name;  // "node3.device5"
  EntityKind kind = EntityKind::device;
  int node = -1, numa = -1;  // the machine and its NUMA domain; -1: none
  bool forwards = true;      // passes on what is for others; a device does in a torus alone
};

// full: the bandwidth in each direction at once; half: the directions share it; one_way: from
// `from` to `to` alone.
enum class Duplex { full, half, one_way };
std::string_view duplex_name(Duplex duplex);

// What is known of one kind of link. Links refer to it, so that one probe corrects them all.
struct LinkFigure {
  std::string name;  // the section of the file: "network.uplink"
  Transport transport = Transport::pcie;
  double latency_ns = 0;   // one way
  double bytes_per_s = 0;  // of one cable, one direction
  Duplex duplex = Duplex::full;
  double length_km = 0;
  std::string source;
};

struct Link {
  int from = 0, to = 0;  // entities
  int figure = 0;        // of Topology::figures
  int cables = 1;        // in parallel; one flow uses one of them
};

// How flows choose among ways of equal cost: by a hash of each, the way with the fewest flows, or
// packet by packet over all of them.
enum class Ecmp { hash, least_loaded, spray };
std::string_view ecmp_name(Ecmp policy);
std::optional<Ecmp> parse_ecmp(std::string_view text);
std::vector<std::string> ecmp_names();

// Memory that a device, a NUMA domain or a node has.
struct MemoryTier {
  std::string name;   // "device", "host", "nvme"
  std::string scope;  // "device", "numa", "node": each has one of it
  std::int64_t bytes = 0;
  double read_bytes_per_s = 0, write_bytes_per_s = 0;
  double latency_ns = 0;
  std::string source;
};

// Ranks that reach each other at one level: inside a node, under one leaf, over the spine.
struct Level {
  std::string name;
  std::vector<std::vector<int>> groups;  // devices, as indices of Topology::entities
};

struct Topology {
  std::string id, name;
  std::string profile;  // "lite": at most 2 devices, one leaf, no RDMA; "full"
  std::string device;   // id of a known device; "" = any
  std::vector<std::string> notes;
  std::vector<Entity> entities;
  std::vector<LinkFigure> figures;
  std::vector<Link> links;
  std::vector<MemoryTier> tiers;
  std::vector<Level> levels;  // from the innermost
  Ecmp ecmp = Ecmp::spray;    // of its network; spray: as if all uplinks were one

  std::vector<int> devices() const;  // ranks, in their order
  const LinkFigure& figure_of(int link) const;
  double capacity_bytes_per_s(int link) const;  // of all cables, one direction
};

// A direction of a link.
struct Arc {
  int from = 0, to = 0, link = 0;
};

// The arcs of a topology by the entity at either end.
class Arcs {
 public:
  explicit Arcs(const Topology& topology);
  std::span<const Arc> from(int entity) const { return part(out_, out_begin_, entity); }
  std::span<const Arc> to(int entity) const { return part(in_, in_begin_, entity); }
  const std::vector<Arc>& all() const { return out_; }

 private:
  static std::span<const Arc> part(const std::vector<Arc>& arcs, const std::vector<std::size_t>& at,
                                   int entity) {
    const auto i = static_cast<std::size_t>(entity);
    return std::span(arcs).subspan(at[i], at[i + 1] - at[i]);
  }
  std::vector<Arc> out_, in_;  // by their origin; by their destination
  std::vector<std::size_t> out_begin_, in_begin_;
};

}  // namespace halmark::fabric
