// The answer to `sequence`: a whole stack without a round trip to the parent.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "measure/sampling/interference.hpp"
#include "worker/machine_probes.hpp"
#include "worker/staging/staged_kernel.hpp"
#include "worker/timed_step.hpp"

namespace halmark::worker {

using StagedKernels = std::map<std::int64_t, std::unique_ptr<StagedKernel>>;

struct SequenceResult {
  std::vector<TimedSample> steps;  // of each repetition
  protocol::Measured measured;
};

// Each step is one execution on its set, waited for, as the layers of a model follow each other;
// collective steps synchronise the ranks by themselves. What disturbed it is known per chunk of
// steps. Past the wall cap the repetitions done so
// far are kept ("deadline"). Throws RequestFailed for an unknown id or set, or a plugin's error.
SequenceResult run_sequence(DeviceContext& context, StagedKernels& staged,
                            const protocol::SequenceRequest& request, CommonStart start,
                            MachineProbes& probes, const ReportPhase& report);

}  // namespace halmark::worker
