// Where a search takes its times from when it does not measure: reads what the user named and makes
// one chain of it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/device.hpp"
#include "latency/chain.hpp"

namespace halmark::cli {

struct LatencyChoice {
  std::vector<std::string> sources;  // "journal:FILE", "imported:FILE", "interpolated", ...
  std::string where;                 // of them, for refusals
  std::string device;                // target: id or file; "" = this machine
  std::string device_where;
  std::string tables_device;  // that the tables were measured on; "" = the target
  std::string layout;         // of the tables; "" = the built-in one that fits
};

// Figures of a target without measuring. Provenance `measured` is of the journal's rows alone.
struct PricedLatencies {
  LatencyChain chain;
  std::vector<std::string> sources;  // one line each
  // Rate at which a device hands data to one outside of its group: the network, else the link.
  std::optional<double> transfer_bytes_per_s;

  // The sources, and what of the times asked so far was quarantined.
  std::vector<std::string> basis() const;
};

// Throws Error (exit 2) for an unknown or unfitting source, a table that cannot be read.
// `network_bytes_per_s`: see roofline::Links.
PricedLatencies priced_latencies(const LatencyChoice& choice, const Device& target,
                                 std::optional<double> network_bytes_per_s);

}  // namespace halmark::cli
