// halmark tune --latency: searches on times that others measured or a device's roofline gives,
// without the device. Nothing is written to the database; every figure says where it is from.
#pragma once

#include <string>
#include <vector>

#include "cli/console/command.hpp"
#include "cli/latency_sources.hpp"
#include "plan/sweep.hpp"

namespace halmark::cli {

// The sweep's own choice where the command line makes none.
LatencyChoice latency_choice(const Sweep& sweep, LatencyChoice given);

struct PricingOutput {
  std::vector<std::string> files;  // reports, by suffix
  std::string command;             // that makes it again
  bool is_plan_only = false;
};

// Of a sweep with [request], or of steps.
CommandResult tune_by_latency(const GlobalOptions& global, const Sweep& sweep,
                              const LatencyChoice& choice, const PricingOutput& output);

}  // namespace halmark::cli
