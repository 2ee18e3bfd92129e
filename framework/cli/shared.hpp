// What one command takes of another.
#pragma once

#include "cli/console/session.hpp"
#include "export/request.hpp"
#include "pages/serve/state/page_state.hpp"
#include "plan/kernel_sweep.hpp"
#include "study/values.hpp"
#include "tune/sources/priced_latencies.hpp"
#include "tune/steer/study_steering.hpp"

namespace halmark::cli {

// serve.cpp: writes the page with a grid of states around `state` into `file`, and says so in
// `result`. Times are of these sources, or of those that the page has by itself.
void write_page(const GlobalOptions& global, const pages::PageState& state, const std::string& file,
                CommandResult& result, const std::vector<std::string>& latency = {});

// study.cpp: where studies are unless --study says otherwise, the file beside the database.
std::string study_location(const GlobalOptions& global);
// Lets `keep` write into the studies' storage. One that cannot be written costs nothing but itself:
// a warning says so, and `otherwise` what is not lost.
void keep_in_studies(const GlobalOptions& global, const std::string& otherwise,
                     CommandResult& result, const std::function<void(StudyStore&)>& keep);

// export.cpp
void add_export_options(OptionSet& app, exports::ExportRequest& request);

// bench.cpp: tune of a sweep of kernels, backends compared problem by problem.
CommandResult tune_kernels(const GlobalOptions& global, const KernelSweep& sweep,
                           Keeping keeping = {});

struct PricingOutput {
  std::vector<std::string> files;  // reports, by suffix
  bool is_plan_only = false;
  std::string pick;                // "" = as is usual of requests; no point of steps
  exports::ExportRequest written;  // of that point, or nothing
  // Of a model: the sweep that it stands for, written once it was searched, and what was assumed.
  std::string sweep_file = {}, sweep_text = {}, assumed = {};
};

// tune_latency.cpp: searches on times that others measured or a device's roofline gives, without
// the device. Their fronts are kept as studies; every figure says where it is from.
CommandResult tune_by_latency(const GlobalOptions& global, const Sweep& sweep,
                              const tune::LatencyChoice& choice,
                              const tune::ProposalChoice& proposals, const PricingOutput& output);

}  // namespace halmark::cli
