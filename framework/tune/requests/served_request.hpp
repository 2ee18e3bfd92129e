// A served load on known devices, as a user describes it: what requests experience under the layout
// that gives the most tokens/s. Figures are those of `halmark tune` for that point.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "plan/sweep.hpp"
#include "report/served_report.hpp"
#include "report/views/view.hpp"
#include "tune/requests/step_request.hpp"

namespace halmark::tune {

struct ServedRequest {
  std::int64_t concurrency = 0, input_tokens = 0, output_tokens = 0;  // 0 = not given
  bool has_any() const { return concurrency != 0 || input_tokens != 0 || output_tokens != 0; }
};

struct BestServed {
  std::string device;
  std::int64_t device_bytes = 0;
  Configuration configuration;
  std::optional<ServedEstimate> estimate;  // nothing: no layout fits
  std::optional<double> best_per_s;        // tokens of it, at the bounds of the device
  std::size_t layouts = 0;                 // that fit, this one among them
  ServedReport report;                     // of all layouts
};

// What `halmark tune` finds of a sweep of requests. Throws as PricedSweep does.
ServedReport served_report_of(const Sweep& sweep, const StepFolders& folders,
                              const NamedEngine& engine = {});

// Throws Error (exit 2) for a load without one of its three numbers, words about a single step
// beside it, and as PricedSweep does.
BestServed best_served(const StepRequest& step, const ServedRequest& load,
                       const StepFolders& folders);

report::View best_served_view(const BestServed& best, int width);

}  // namespace halmark::tune
