// Samples travel as packed doubles beside the JSON messages: a series of 4096 would cost more as
// text than the kernels that it times. Both directions stand here, so that they cannot disagree.
#include "host/timed_sample.hpp"

#include <cmath>
#include <limits>

#include "core/numeric/cast.hpp"

namespace halmark {
namespace {

constexpr std::size_t doubles_per_sample = 6;
constexpr double set_max = 1 << 30;
constexpr auto label_max = as_double(SampleLabel::disturbed);

bool is_index(double value, double most) {
  return value >= 0 && value <= most && value == std::floor(value);
}

}  // namespace

TimedSample per_execution(TimedSample interval, std::int64_t repeat) {
  const auto executions = as_double(repeat);
  interval.wall_ns /= executions;
  interval.cpu_ns /= executions;
  if (interval.device_ns) *interval.device_ns /= executions;
  return interval;
}

std::vector<double> pack_samples(std::span<const TimedSample> samples) {
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  std::vector<double> block;
  block.reserve(samples.size() * doubles_per_sample);
  for (const TimedSample& sample : samples) {
    block.insert(block.end(),
                 {sample.begin_ns, sample.wall_ns, sample.cpu_ns, sample.device_ns.value_or(none),
                  as_double(sample.set), as_double(sample.label)});
  }
  return block;
}

std::optional<std::vector<TimedSample>> unpack_samples(std::span<const double> block) {
  if (block.size() % doubles_per_sample != 0) return std::nullopt;
  std::vector<TimedSample> samples;
  samples.reserve(block.size() / doubles_per_sample);
  for (std::size_t i = 0; i < block.size(); i += doubles_per_sample) {
    const double device_ns = block[i + 3], set = block[i + 4], label = block[i + 5];
    TimedSample sample;
    sample.begin_ns = block[i];
    sample.wall_ns = block[i + 1];
    sample.cpu_ns = block[i + 2];
    if (!std::isfinite(sample.begin_ns) || !std::isfinite(sample.wall_ns) || sample.wall_ns < 0 ||
        !std::isfinite(sample.cpu_ns) || std::isinf(device_ns) || !is_index(set, set_max) ||
        !is_index(label, label_max)) {
      return std::nullopt;
    }
    if (!std::isnan(device_ns)) sample.device_ns = device_ns;
    sample.set = static_cast<int>(set);
    sample.label = static_cast<SampleLabel>(label);
    samples.push_back(sample);
  }
  return samples;
}

}  // namespace halmark
