// A step on paper with the times that sources expect of its operators, beside its bounds.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "model/step/priced_step.hpp"
#include "tune/sources/priced_latencies.hpp"

namespace halmark::tune {

struct StepTimes {
  std::vector<std::string> sources;  // as --latency has them; none = default_sources
  std::string fabric;                // id or file; "" = none
};

// Does no more where bounds are all that is asked for, and without a device where nothing is.
// Training takes no sources by itself: tables are of engines that serve. Throws Error (exit 2) as
// StepLatencies does, and where no source knows an operator.
// Of one that does not fit, `narrower` too: 8-bit weights, or else those of 4 bits.
void expect_times(PricedStep& step, const StepTimes& asked, const Folders& devices,
                  const Folders& fabrics);

}  // namespace halmark::tune
