// The whole of a step waits for its slowest shard, so the maximum counts, and only where the shards
// did load the machine together.
#include "measure/campaign/co_measure.hpp"

#include <algorithm>
#include <limits>

#include "core/lists.hpp"

namespace halmark {
namespace {

bool overlaps(std::span<const std::vector<TimedSample>> shards, std::size_t index,
              std::int64_t repeat) {
  double latest_begin = -std::numeric_limits<double>::infinity();
  double earliest_end = std::numeric_limits<double>::infinity();
  double shortest = std::numeric_limits<double>::infinity();
  for (const auto& shard : shards) {
    const double duration = shard[index].wall_ns * as_double(repeat);
    latest_begin = std::max(latest_begin, shard[index].begin_ns);
    earliest_end = std::min(earliest_end, shard[index].begin_ns + duration);
    shortest = std::min(shortest, duration);
  }
  return earliest_end - latest_begin >= overlap_min * shortest;
}

Sample slowest(std::span<const std::vector<TimedSample>> shards, std::size_t index) {
  const auto& shard = *std::max_element(
      shards.begin(), shards.end(),
      [index](const auto& a, const auto& b) { return sample_ns(a[index]) < sample_ns(b[index]); });
  return shard[index];
}

// What disturbed one shard kept the others waiting: the sample is set aside on all of them.
SampleLabel label_of_all(std::span<const std::vector<TimedSample>> shards, std::size_t index) {
  SampleLabel label = SampleLabel::clean;
  for (const auto& shard : shards) {
    if (shard[index].label == SampleLabel::disturbed) return SampleLabel::disturbed;
    if (shard[index].label == SampleLabel::unlabelled) label = SampleLabel::unlabelled;
  }
  return label;
}

}  // namespace

MergedSamples merge_shards(std::span<const std::vector<TimedSample>> shards, std::int64_t repeat) {
  MergedSamples merged;
  if (shards.empty()) return merged;
  std::size_t shortest = shards.front().size();
  std::size_t longest = shortest;
  for (const auto& shard : shards) {
    shortest = std::min(shortest, shard.size());
    longest = std::max(longest, shard.size());
  }
  merged.dropped = as_int64(longest - shortest);
  if (shards.size() > 1) merged.shard_wall_ns.resize(shards.size());
  for (const auto i : indices(shortest)) {
    if (shards.size() > 1 && !overlaps(shards, i, repeat)) {
      ++merged.dropped;
      continue;
    }
    merged.samples.push_back(slowest(shards, i));
    merged.samples.back().label = label_of_all(shards, i);
    for (const auto s : indices(merged.shard_wall_ns)) {
      merged.shard_wall_ns[s].push_back(shards[s][i].wall_ns);
    }
  }
  return merged;
}

double sample_ns(const Sample& sample) { return sample.device_ns.value_or(sample.wall_ns); }

void summarise(Measurement& measurement) {
  const std::vector<Sample> counted = counted_samples(measurement.samples);
  std::vector<double> values =
      mapped(counted, [&](const Sample& sample) { return sample_ns(sample); });
  measurement.duration_ns_median = median(values);
  measurement.duration_ns_interval = median_interval(values).interval;
  measurement.duration_ns_min = *std::ranges::min_element(values);
  measurement.relative_iqr = relative_iqr(values);
}

}  // namespace halmark
