// halmark plan-size: a job, and the devices that it takes; or the least device that keeps levels.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/sizing/job_size.hpp"
#include "plan/served_sweep.hpp"
#include "report/views/view.hpp"
#include "tune/sizing/unit_load.hpp"

namespace halmark::tune {

struct PlanSizeQuestion {
  std::string model, device, dtype = "checkpoint";
  Job job{.input_tokens = usual_request.input_tokens, .output_tokens = usual_request.output_tokens};
  bool requires_device = false;
  std::vector<std::int64_t> tp;  // devices that serve together; none: those of ReplicaChoice, or 1
  StatedLevels levels;
  std::string price;                 // an hour of a device: "2.5", "h100=2.5"; "" = not known
  std::vector<std::string> latency;  // none: default_sources()
};

// Throws Error (exit 2) for half a question, and for an option that the job does not read.
report::View plan_size_view(PlanSizeQuestion question, const Folders& models,
                            const Folders& devices);

}  // namespace halmark::tune
