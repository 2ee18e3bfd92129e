// What one execution more takes, free of what an interval costs once: the host's truth about a
// device's clock, and about repeats that are claimed.
#pragma once

#include <optional>
#include <vector>

#include "core/measured/measurement.hpp"
#include "worker/timed_step.hpp"

namespace halmark::worker {

// Signals slope_wall_ns and slope_device_ns, ns per execution: (W(2r) - W(r)) / r by either clock,
// with r large enough for what an interval costs once to be little of it. While the clocks
// disagree, or the device's slope is above `looped_ns`, its median of the loop, more intervals are
// taken, up to a limit: on a busy machine few of them are undisturbed. Ranks of a collective all
// take the same intervals, whatever one of them sees. Leaves the step's repeat as it was.
void add_slopes(TimedStep& step, ClockSource& clock, std::optional<double> looped_ns,
                bool is_collective, std::vector<Signal>& signals);

// Signal repeat_cost_share: what twice the repeats cost more, as a share of what the first ones do;
// near 0 where they are not executed. Signal second_execution_share: the same of one and two
// executions, since a kernel that executes some of all repeats, and the last, takes twice as long
// for twice as many; only where one execution is long enough for its launch to be little of it.
void add_repeat_shares(TimedStep& step, ClockSource& clock, std::vector<Signal>& signals);

}  // namespace halmark::worker
