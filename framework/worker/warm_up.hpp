// Warm-up and pilot of one sampling: finds how many executions one interval holds.
#pragma once

#include "measure/sampling/clock_source.hpp"
#include "worker/timed_step.hpp"

namespace halmark::worker {

// Runs one interval of the step and gives its length on the host's clock, in ns. Throws
// RequestFailed (phase "warm") with the plugin's error.
double interval_ns(TimedStep& step, ClockSource& clock);

// Leaves the step with the repeat to sample with; gives the expected length of one interval in ns,
// 0 = not looked at. Throws RequestFailed.
double warm_up(TimedStep& step, const StagedKernel& kernel, const protocol::SampleRequest& request,
               ClockSource& clock);

}  // namespace halmark::worker
