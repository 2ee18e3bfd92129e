// Warm-up and pilot of one sampling: finds how many executions one interval holds.
#pragma once

#include <functional>

#include "measure/sampling/clock_source.hpp"
#include "worker/timed_step.hpp"

namespace halmark::worker {

// Runs one interval of the step and gives its length on the host's clock, in ns. Throws
// RequestFailed (phase "warm") with the plugin's error.
double interval_ns(TimedStep& step, ClockSource& clock);

// Executions per sample of `execution_ns` each, at most `most`. Beyond one round of the ring of
// `sets` only whole rounds, so that every sample meets every set equally often; below, the start
// moves on and samples share the ring between them.
std::int64_t repeat_for(double execution_ns, double min_sample_ns, int sets, std::int64_t most);

// Runs intervals, whose lengths in ns `interval` gives, until two consecutive batch medians agree
// or the cap is reached. Gives the last one.
double run_until_steady(const std::function<double()>& interval, double cap_s, ClockSource& clock);

// Leaves the step with the repeat to sample with; gives the expected length of one interval in ns,
// 0 = not looked at. Throws RequestFailed.
double warm_up(TimedStep& step, const StagedKernel& kernel, const protocol::SampleRequest& request,
               ClockSource& clock);

}  // namespace halmark::worker
