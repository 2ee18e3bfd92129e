// halmark tune --latency: searches on times that others measured or a device's roofline gives,
// without the device. Their fronts are kept as studies; every figure says where it is from.
#pragma once

#include <string>
#include <vector>

#include "cli/console/command.hpp"
#include "cli/stored/export.hpp"
#include "tune/sources/priced_latencies.hpp"
#include "tune/steer/study_steering.hpp"

namespace halmark::cli {

struct PricingOutput {
  std::vector<std::string> files;  // reports, by suffix
  tune::ProposalChoice proposals;
  bool is_plan_only = false;
  std::string pick;                // "" = no point is picked
  exports::ExportRequest written;  // of a point, the knee unless `pick` says another; or nothing
};

CommandResult tune_by_latency(const GlobalOptions& global, const Sweep& sweep,
                              const tune::LatencyChoice& choice, const PricingOutput& output);

}  // namespace halmark::cli
