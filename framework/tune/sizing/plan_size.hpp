// halmark plan-size: a job, and the devices that it takes; or the least device that keeps levels.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/sizing/job_size.hpp"
#include "plan/served_sweep.hpp"
#include "report/views/view.hpp"
#include "tune/sizing/device_floor.hpp"

namespace halmark::tune {

struct PlanSizeQuestion {
  std::string model, device, dtype = "checkpoint";
  Job job{.input_tokens = usual_request.input_tokens, .output_tokens = usual_request.output_tokens};
  bool requires_device = false;
  FloorQuestion floor;           // with it: requests at a time
  std::vector<std::int64_t> tp;  // devices that serve together; none: those of ReplicaChoice, or 1
  std::vector<std::string> slo;  // "ttft_ms=500"
  std::vector<std::string> latency;  // none: default_sources()
};

// Throws Error (exit 2) for half a question, and for an option that the job does not read.
report::View plan_size_view(const PlanSizeQuestion& question, const Folders& models,
                            const Folders& devices);

}  // namespace halmark::tune
