// Latency sources: figures measured here, roofline bounds, and a chain of sources by trust.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/latency.hpp"
#include "roofline/bound_parts.hpp"

namespace halmark {

// Measures what it does not know yet, in one go. `measure` runs a campaign over cases and returns
// its rows (all rounds, resumed ones included); it is asked for each case once, and may be empty:
// the source then knows what was added. One thread.
class MeasuredSource : public LatencySource {
 public:
  using Measure = std::function<std::vector<Measurement>(std::span<const KernelCase>)>;
  MeasuredSource(Measure measure, BoundingDevice bounding);

  void require(std::span<const KernelCase> cases) override;
  // Folds the rounds. Rows that are only noisy (`invalid`) count when a case has no valid one: the
  // figure is then `suspect` and says so.
  std::optional<Latency> latency(const KernelCase& kernel_case) const override;

  void add(const Measurement& measurement);  // a row from a journal
  std::vector<Measurement> rows(const KernelCase& kernel_case) const;
  // Why a required case has no latency: the reason of its last row.
  std::string why_absent(const KernelCase& kernel_case) const;

 private:
  Measure measure_;
  BoundingDevice bounding_;
  std::map<std::string, std::vector<Measurement>> rows_;  // by case key
};

// The bound itself as a figure: what a device cannot beat. Never better than any measurement.
class RooflineSource : public LatencySource {
 public:
  explicit RooflineSource(BoundingDevice bounding) : bounding_(bounding) {}
  void require(std::span<const KernelCase>) override {}
  // Nothing when the device knows no peak for it.
  std::optional<Latency> latency(const KernelCase& kernel_case) const override;

 private:
  BoundingDevice bounding_;
};

// Asks its sources in order of trust. Each is required only for what no earlier one knows; sources
// must outlive it.
class ChainedSource : public LatencySource {
 public:
  explicit ChainedSource(std::vector<LatencySource*> sources) : sources_(std::move(sources)) {}
  void require(std::span<const KernelCase> cases) override;
  std::optional<Latency> latency(const KernelCase& kernel_case) const override;

 private:
  std::vector<LatencySource*> sources_;
};

// Lower bound of a case in ns on one shard of the device; 0 when unknown.
double bound_ns(const KernelCase& kernel_case, const BoundingDevice& bounding);

}  // namespace halmark
