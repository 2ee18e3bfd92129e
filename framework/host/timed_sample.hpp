// One timed interval, from the loop that took it to the parent that merges shards.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/measured/measurement.hpp"

namespace halmark {

// A sample that knows when it began: CLOCK_MONOTONIC, so that the parent can judge how far the
// intervals of shards overlap. Its times are those of the whole interval inside the loop and of one
// execution from `per_execution` on.
struct TimedSample : Sample {
  double begin_ns = 0;
};

// The interval of `repeat` executions (>= 1) as the time of one; begin_ns stays.
TimedSample per_execution(TimedSample interval, std::int64_t repeat);

// The payload of `samples`: {begin_ns, wall_ns, cpu_ns, device_ns (NaN = none), set, label} per
// sample.
std::vector<double> pack_samples(std::span<const TimedSample> samples);
// Nothing when the block is no such payload: cut short, a figure that is not finite, a negative
// time or set, a label that there is not.
std::optional<std::vector<TimedSample>> unpack_samples(std::span<const double> block);

}  // namespace halmark
