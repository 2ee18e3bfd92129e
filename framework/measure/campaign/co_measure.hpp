// Merges the sample series of shards that were measured together into one.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/measured/measurement.hpp"
#include "host/worker_client.hpp"

namespace halmark {

struct MergedSamples {
  std::vector<Sample> samples;                     // the slowest shard of each
  std::vector<std::vector<double>> shard_wall_ns;  // per shard; empty for one shard
  std::int64_t dropped = 0;                        // overlapped less than `overlap_min`
};

inline constexpr double overlap_min = 0.9;

// Sample i of every shard started at one barrier, so the time of the whole is the maximum. Their
// intervals (wall_ns x repeat) must overlap by `overlap_min` of the shortest one, or they did not
// load the machine together: such samples are dropped and counted. Series of unequal length are cut
// to the shortest; the rest counts as dropped. Event-timed shards compare by device time.
MergedSamples merge_shards(std::span<const std::vector<TimedSample>> shards, std::int64_t repeat);

// A sample's figure: device time where there is one, wall time elsewhere.
double sample_ns(const Sample& sample);

// Fills median, interval, minimum and relative IQR of a measurement from those of its samples (not
// empty) that count.
void summarise(Measurement& measurement);

}  // namespace halmark
