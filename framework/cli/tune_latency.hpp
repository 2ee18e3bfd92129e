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
  bool is_plan_only = false;
  std::string pick;                // "" = as is usual of requests; no point of steps
  exports::ExportRequest written;  // of that point, or nothing
  // Of a model: the sweep that it stands for, written once it was searched, and what was assumed.
  std::string sweep_file = {}, sweep_text = {}, assumed = {};
};

CommandResult tune_by_latency(const GlobalOptions& global, const Sweep& sweep,
                              const tune::LatencyChoice& choice,
                              const tune::ProposalChoice& proposals, const PricingOutput& output);

}  // namespace halmark::cli
