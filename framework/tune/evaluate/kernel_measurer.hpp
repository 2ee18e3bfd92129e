// Kernels of a run that somebody else measures: a fleet of machines.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "journal/store.hpp"
#include "measure/campaign/campaign.hpp"
#include "plan/sweep.hpp"

namespace halmark::tune {

class KernelMeasurer {
 public:
  virtual ~KernelMeasurer() = default;
  // The run of this plan, begun if there is none: commands that start at once share one. Whether it
  // was there before is `is_found`.
  struct Run {
    std::int64_t id = 0;
    bool is_found = false;
  };
  virtual Run begin(const RunInfo& run, bool starts_new_run) = 0;
  // All rows, stored ones included; whoever measures commits each to the run's journal first. What
  // was stopped has no row. Of `options` rounds, seed, stacks and hooks are kept, but no sink.
  virtual std::vector<Measurement> measure(std::int64_t run, std::span<const KernelCase> cases,
                                           const MeasureSettings& settings,
                                           const CampaignOptions& options) = 0;
};

}  // namespace halmark::tune
