// halmark trace --predict: the steps of a trace, timed by kernels that are measured here.
#pragma once

#include <optional>
#include <string>

#include "cli/console/command.hpp"

namespace halmark::trace {
struct Attribution;
}

namespace halmark::cli {

struct PredictionRequest {
  std::string backend = "cpu", device = "0";
  std::optional<int> rounds;  // absent: as many as this machine needs
  double seconds = 0.2;       // per kernel and round
};

// Adds "predictions" to the result, one for each step that the trace has. Throws Error (exit 2)
// where the trace has no pass, or no kernel of ours.
void predict_steps(const GlobalOptions& global, const PredictionRequest& asked,
                   const std::string& file, const trace::Attribution& attribution,
                   CommandResult& out);

}  // namespace halmark::cli
