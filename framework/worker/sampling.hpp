// The answer to `sample`: probes, warm-up, pilot, the loop, probes again.
#pragma once

#include <optional>
#include <vector>

#include "measure/sampling/gbench.hpp"
#include "measure/sampling/interference.hpp"
#include "worker/machine_probes.hpp"
#include "worker/staging/staged_kernel.hpp"
#include "worker/timed_step.hpp"

namespace halmark::worker {

struct SampleResult {
  std::vector<TimedSample> samples;  // times per execution
  protocol::Measured measured;
};

// Throws RequestFailed when the plugin
// fails; a series that ended because another shard gave up keeps its samples ("aborted").
SampleResult sample(DeviceContext& context, StagedKernel& kernel,
                    const protocol::SampleRequest& request, CommonStart start,
                    MachineProbes& probes, const ReportPhase& report);

}  // namespace halmark::worker
