// Kernels of a run that somebody else measures: a fleet of machines.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "journal/store.hpp"
#include "measure/campaign/campaign.hpp"
#include "plan/sweep.hpp"

namespace halmark::tune {

// `rounds` rounds of these cases, numbered from `first_round`; what `lookup` knows is not measured
// again. The hooks are as those of CampaignOptions.
struct KernelOrder {
  std::int64_t run = 0;
  std::span<const KernelCase> cases;
  int first_round = 0, rounds = 1;
  const MeasureSettings& settings;
  std::uint64_t seed = 0;
  StacksOf stacks_of = {};
  std::function<std::optional<Measurement>(const KernelCase&, int round)> lookup = {};
  std::function<bool()> should_stop = {};
  std::function<void(const CampaignProgress&)> progress = {};
};

class KernelMeasurer {
 public:
  virtual ~KernelMeasurer() = default;
  // The run of this plan, begun if there is none: commands that start at once share one. Whether it
  // was there before is `is_found`.
  struct Run {
    std::int64_t id = 0;
    bool is_found = false;
  };
  virtual Run begin(const RunInfo& run, bool begins_anew) = 0;
  // All rows, stored ones included; whoever measures commits each to the run's journal first. What
  // was stopped has no row.
  virtual std::vector<Measurement> measure(const KernelOrder& order) = 0;
};

}  // namespace halmark::tune
