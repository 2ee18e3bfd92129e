// What an engine's kernels take on a known device, from the tables that ship: measured by others,
// thinned, and read where the first problem of their kind and types is asked for.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/chosen/table_use.hpp"
#include "latency/forecast/forecast_files.hpp"
#include "latency/interpolation/interpolated_source.hpp"
#include "latency/launch_floor.hpp"
#include "latency/placed_source.hpp"

namespace halmark {

class ParquetReader;

class ForecastSource final : public PlacedSource {
 public:
  // Whether so many neighbouring devices are joined as those that the tables are of.
  using Joins = std::function<bool(std::int64_t devices)>;
  // `network_bytes_per_s`: see roofline::Links. Throws Error (exit 2) for a file that
  // cannot be read, or is not the one that its manifest states.
  ForecastSource(ForecastFile file, const Device& target, std::optional<double> network_bytes_per_s,
                 Joins joins);
  ~ForecastSource() override;

  using PlacedSource::latency;
  // Provenance interpolated; the origin names engine and release. Which kernel an engine takes is
  // not known: it is rarely the slowest, so the fastest of those whose sizes reach the problem
  // counts. Never below the bound: quarantined where all say so by more than their rounding.
  // Products whose weights no table has packed are those of 16-bit weights, by what binds both.
  // Nothing for collectives of ranks that lie farther apart than those of the tables.
  std::optional<Latency> latency(const Problem& problem, const Work& work,
                                 std::int64_t stride) const override;

  const ForecastFile& file() const { return file_; }
  std::string name() const;           // "forecast vllm 0.24.0"
  std::vector<TableUse> use() const;  // of what was read so far

 private:
  using Kernels = std::vector<InterpolatedSource>;  // one for each implementation
  const Kernels& kernels(const Problem& problem) const;
  std::optional<Latency> of_wide_weights(const Problem& packed, const Work& work) const;
  void read(const ForecastKind& kind, const Problem& problem, Kernels& to) const;
  TableUse& use_of(const ForecastKind& kind) const;

  ForecastFile file_;
  Device target_;
  std::optional<double> network_bytes_per_s_;
  Joins joins_;
  std::unique_ptr<ParquetReader> reader_;
  std::map<std::string, std::vector<std::size_t>> groups_;  // by kind
  mutable std::map<std::string, Kernels> kernels_;          // by kinds and types
  mutable std::vector<TableUse> use_;
};

}  // namespace halmark
