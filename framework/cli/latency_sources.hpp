// Where a search takes its times from when it does not measure: the journal of a machine, tables of
// others, interpolation between their points, and the roofline of a device, always in this order of
// trust.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/device.hpp"
#include "core/latency.hpp"
#include "kernels/contract.hpp"

namespace halmark::cli {

struct LatencyChoice {
  std::vector<std::string> sources;  // "journal:FILE", "imported:FILE", "interpolated", ...
  std::string where;                 // of them, for refusals
  std::string device;                // target: id or file; "" = this machine
  std::string device_where;
  std::string tables_device;  // that the tables were measured on; "" = the target
  std::string layout;         // of the tables; "" = the built-in one that fits
};

// Figures of `target` without measuring. Provenance `measured` is of the journal's rows alone.
class ModelledLatencies : public LatencySource {
 public:
  // Throws Error (exit 2) for an unknown or unfitting source, a table that cannot be read.
  // `network_bytes_per_s`: see ClusterRoofline.
  ModelledLatencies(const LatencyChoice& choice, const Device& target,
                    std::optional<double> network_bytes_per_s);
  ~ModelledLatencies() override;

  void require(std::span<const KernelCase>) override {}
  std::optional<Latency> latency(const KernelCase& kernel_case) const override;
  std::optional<Latency> latency(const Problem& problem, const Work& work) const;

  bool has_interval() const;               // some source states ends that differ
  bool has_journal() const;                // something here was measured on the target
  std::vector<std::string> basis() const;  // one line per source
  // Rate at which a device hands data to one outside of its group: the network, else the link.
  std::optional<double> transfer_bytes_per_s() const;

 private:
  struct Sources;
  std::unique_ptr<Sources> sources_;
};

}  // namespace halmark::cli
