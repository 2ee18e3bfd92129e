// A fabric file of what was measured: one machine and its devices, or two machines and what joins
// them. parse_fabric reads it back to levels with the figures that were measured.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "simulate/fabric/transport.hpp"

namespace halmark::fabric {

struct MeasuredLink {
  Transport transport = Transport::tcp;
  double latency_s = 0;    // from one rank to the other
  double bytes_per_s = 0;  // one way
  std::string source;      // when and how, p50 and p99, the state of the machine
};

struct MeasuredTier {
  std::string name;  // "host", "nvme"
  std::int64_t bytes = 0;
  double read_bytes_per_s = 0, write_bytes_per_s = 0;  // 0: as reads
  double latency_s = 0;
  std::string source;
};

struct MeasuredFabric {
  std::string id, name;
  int devices = 2;                      // of one machine
  MeasuredLink inside;                  // between two devices of a machine, or device and adapter
  std::optional<MeasuredLink> network;  // between two machines of one device each
  std::vector<MeasuredTier> tiers;
  std::vector<std::string> notes;
};

// A path has a link at either end; each takes half of what was measured from rank to rank.
std::string fabric_text(const MeasuredFabric& fabric);

}  // namespace halmark::fabric
