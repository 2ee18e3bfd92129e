// Where a search takes its times from when it does not measure: what a user named, and one chain
// made of it.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/chosen/named_engine.hpp"
#include "core/chosen/table_use.hpp"
#include "core/device.hpp"
#include "latency/chain.hpp"
#include "latency/forecast/forecast_source.hpp"
#include "model/graph/graph.hpp"
#include "plan/sweep.hpp"
#include "tune/sources/fabric_source.hpp"

namespace halmark::tune {

using Folders = std::vector<std::filesystem::path>;

struct LatencyChoice {
  std::vector<std::string> sources;  // "journal:FILE", "imported:FILE", "interpolated", ...
  std::string where;                 // of them, for refusals
  std::string device;                // target: id or file
  std::string device_where;
  std::string fabric;         // of the command line; the sweep has it then, see take_fabric
  std::string tables_device;  // that the tables were measured on; "" = the target
  std::string layout;         // of the tables; "" = the built-in one that fits
  // Of the tables, in order of preference: see SeriesChoice. Others of the same kernels do not
  // count.
  std::vector<std::string> series;
  std::string series_where;
  NamedEngine engine;           // whose forecasts and terms count
  bool bounds_compete = false;  // roofline times may displace measured configurations
};

// Of a known device that is not measured here: what its engines are likely to take, and bounds
// where nobody knows.
std::vector<std::string> default_sources();
// Those that are named, else the default ones; of training bounds: tables are of engines that
// serve.
std::vector<std::string> sources_or_default(std::vector<std::string> named, bool is_training);

// The sweep's own choice where the command line makes none. Throws Error (exit 2) for a sweep with
// requests and no source at all.
LatencyChoice latency_choice(const Sweep& sweep, LatencyChoice given);

// Throws Error (exit 2) where none is named, or an unknown one.
Device target_device(const LatencyChoice& choice, const Folders& devices);

// Figures of a target without measuring. Provenance `measured` is of the journal's rows alone.
struct PricedLatencies {
  LatencyChain chain;
  const FabricSource* fabric = nullptr;  // of the chain
  const ForecastSource* forecast = nullptr;
  std::vector<std::string> sources;  // one line each, but for tables
  std::vector<TableUse> tables;      // without what was asked for
  NamedEngine engine;                // whose terms stand around these times; no name = of none
  std::string device;                // that they are of
  // Terms' intervals are of times that tables gave: they say nothing of a roofline's.
  bool has_tables() const {
    return chain.has(SourceKind::imported) || chain.has(SourceKind::forecast) ||
           chain.has(SourceKind::transferred);
  }
  // Rate at which a device hands data to one outside of its group: the network, else the link.
  std::optional<double> transfer_bytes_per_s;

  // With the kernels that each series gave so far.
  std::vector<TableUse> table_use() const;
};

// Throws Error (exit 2) for an unknown or unfitting source, a table that cannot be read, a series
// that no table has, and tables that give no time where nothing else does.
// `network_bytes_per_s`: see roofline::Links; `fabric`: what joins the devices, null = not known.
PricedLatencies priced_latencies(const LatencyChoice& choice, const Device& target,
                                 const Folders& devices, std::optional<double> network_bytes_per_s,
                                 const fabric::Topology* fabric = nullptr);

// One execution of `op` as the slowest rank has it on paper, under context parallelism a launch for
// every block of its queries; tables know the problem alone.
std::optional<Latency> latency_of(const LatencyChain& chain, const Operator& op);

}  // namespace halmark::tune
