#include "measure/campaign/gate/validity.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>
#include <vector>

#include "core/lists.hpp"
#include "core/text/text.hpp"

#include "host/protocol.hpp"
#include "measure/campaign/gate/impossible_time.hpp"
#include "measure/sampling/interference.hpp"

namespace halmark {
namespace {

constexpr int reason_digits = 4;

enum class Judged {
  disturbed_samples,
  wall_cpu,
  loop_wall_cpu,
  run_delay,
  switches,
  steal,
  clock,
  device_clock,
  peak,
  bandwidth,
  load,
  throttled,
};

using T = ValidityThresholds;
constexpr GateSignal judged_signals[] = {
    {"share of disturbed samples", "disturbed_samples", &T::disturbed_samples},
    {"median wall/CPU time", "", &T::wall_cpu_ratio},
    {"wall/CPU time of the loop", "", &T::loop_wall_cpu_ratio},
    {"run-queue delay", "run_delay_fraction", &T::run_delay_fraction},
    {"involuntary switches per second", "involuntary_switches_per_s",
     &T::involuntary_switches_per_s},
    {"steal", "steal_fraction", &T::steal_fraction},
    {"clock moved by", "clock_moved", &T::clock_moved},
    {"device clock moved by", "", &T::device_clock_moved},
    {"peak moved by", "peak_moved", &T::peak_moved},
    {"bandwidth moved by", "bandwidth_moved", &T::bandwidth_moved},
    {"load per CPU", "", &T::load_per_cpu},
    {"periods in which the cgroup was throttled", "", &T::throttled_periods},
};

std::optional<double> signal(const Measurement& measurement, std::string_view name) {
  for (const Signal& candidate : measurement.signals) {
    if (candidate.name == name) return candidate.value;
  }
  return std::nullopt;
}

// Spinning siblings hide waiting from CPU time, so with several threads the ratio only ever
// underestimates a disturbance: above the limit it is still proof of one.
std::optional<double> wall_cpu_ratio(const Measurement& measurement) {
  std::vector<double> ratios;
  for (const Sample& sample : counted_samples(measurement.samples)) {
    if (sample.device_ns) return std::nullopt;  // the host idles while a device works
    if (sample.cpu_ns > 0) ratios.push_back(sample.wall_ns / sample.cpu_ns);
  }
  if (ratios.empty()) return std::nullopt;
  return median(ratios);
}

std::optional<double> moved(std::optional<double> before, std::optional<double> after) {
  if (!before || !after) return std::nullopt;
  return relative_move(*before, *after);
}

const GateSignal& row(Judged what) { return judged_signals[as_size(what)]; }

class Judge {
 public:
  explicit Judge(const ValidityThresholds& thresholds) : thresholds_(thresholds) {}
  Limit limit_of(Judged what) const { return thresholds_.*row(what).limit; }
  void add(Judged what, std::optional<double> value) { add(what, value, limit_of(what)); }
  void add(Judged what, std::optional<double> value, Limit limit) {
    if (!value) return;
    const std::string_view name = row(what).name;
    if (*value > limit.invalid) {
      raise(Status::invalid, name, *value, limit.invalid);
    } else if (*value > limit.suspect) {
      raise(Status::suspect, name, *value, limit.suspect);
    }
  }
  void raise(Status status, std::string_view name, double value, double limit) {
    if (rank(status) <= rank(verdict_.status)) return;
    verdict_ = {status, std::string(name) + " " + number_text(value, reason_digits) + " above " +
                            number_text(limit, reason_digits)};
  }
  void raise(Status status, std::string reason) {
    if (rank(status) > rank(verdict_.status)) verdict_ = {status, std::move(reason)};
  }
  Verdict verdict() const { return verdict_; }

 private:
  static int rank(Status status) {
    if (status == Status::ok) return 0;
    return status == Status::suspect ? 1 : status == Status::invalid ? 2 : 3;
  }
  const ValidityThresholds& thresholds_;
  Verdict verdict_;
};

// A process that its cgroup has stopped is on no CPU, and its chunks are set aside for that: not in
// collectives, nor beside devices that work alone.
bool chunks_show_throttling(const Measurement& measurement) {
  return disturbed_share(measurement.samples).has_value() &&
         signal(measurement, signal_name::wall_cpu_ratio).has_value() &&
         !measurement.kernel_case.is_collective();
}

// Shards that are measured at once do not probe at once. Two of them may share a core that the
// guest shows as two: a probe then says whether the neighbour was computing, and moves by up to a
// half.
bool probes_peaks_alone(const Measurement& measurement) {
  return measurement.kernel_case.shards_at_once <= 1;
}

// The samples' own course: the first third of them against the last. Nothing where they are too few
// to tell.
std::optional<double> course_moved(std::span<const Sample> samples) {
  std::vector<double> times = mapped(counted_samples(samples), [&](const Sample& sample) {
    return sample.device_ns.value_or(sample.wall_ns);
  });
  const std::size_t third = times.size() / 3;
  if (third == 0) return std::nullopt;
  const std::span all(times);
  return relative_move(median(all.first(third)), median(all.last(third)));
}

// A clock that moved between a probe and the first sample, as it does behind wide vector units, did
// not move the figure where the samples agree among themselves: such a row is suspect at worst.
Limit clock_limit(const Measurement& measurement, Limit limit) {
  const auto course = course_moved(measurement.samples);
  if (course && *course <= limit.suspect) limit.invalid = ValidityThresholds::never;
  return limit;
}

// A device timer must agree with the wall-clock slope, which launch latency cannot touch.
void judge_timer(const Measurement& measurement, double limit, Judge& judge) {
  const auto wall = signal(measurement, "slope_wall_ns");
  const auto device = signal(measurement, "slope_device_ns");
  if (!wall || !device) return;
  if (relative_move(*wall, *device) > limit) {
    judge.raise(Status::quarantined,
                std::string(timer_reason) + "device slope " + number_text(*device, reason_digits) +
                    " ns against wall slope " + number_text(*wall, reason_digits) + " ns");
  }
}

// At its power limit a device does what it can at all times; hot, or slowed down by its own
// hardware, it does not.
void judge_throttling(const Measurement& measurement, Judge& judge) {
  const auto slowed = std::ranges::find(measurement.signals, "device_slowed_down", &Signal::name);
  if (slowed == measurement.signals.end() || slowed->value.value_or(0) == 0) return;
  judge.raise(Status::suspect, "the device was slowed down by " + slowed->reason);
}

void judge_stop(const Measurement& measurement, double tight_half_width, Judge& judge) {
  if (measurement.stop_rule != name_of(protocol::StopReason::deadline) ||
      measurement.duration_ns_median <= 0)
    return;
  const Interval& interval = measurement.duration_ns_interval;
  const double half_width = (interval.high - interval.low) / 2 / measurement.duration_ns_median;
  const bool can_tell = counted_samples(measurement.samples).size() >= 3;
  if (!can_tell || half_width > tight_half_width) {
    judge.raise(Status::suspect, "wall cap ended sampling before the interval was tight");
  }
}

}  // namespace

std::span<const GateSignal> gate_signals() { return judged_signals; }

Signal clean_share(std::span<const Sample> samples) {
  const auto disturbed = disturbed_share(samples);
  if (!disturbed) return {.name = "clean_share", .value = {}, .reason = "samples have no label"};
  return {.name = "clean_share", .value = 1 - *disturbed, .reason = {}};
}

double relative_move(double a, double b) {
  const double larger = std::max(std::abs(a), std::abs(b));
  return larger > 0 ? std::abs(a - b) / larger : 0;
}

Verdict judge_validity(const Measurement& measurement, const ValidityThresholds& thresholds,
                       bool is_memory_bound) {
  using enum Judged;
  Judge judge(thresholds);
  const auto stated = [&](std::string_view name) { return signal(measurement, name); };
  judge_timer(measurement, thresholds.slope_disagreement, judge);
  judge.add(disturbed_samples, disturbed_share(measurement.samples));
  judge.add(wall_cpu, wall_cpu_ratio(measurement));
  judge.add(loop_wall_cpu, stated(signal_name::wall_cpu_ratio));
  judge.add(run_delay, stated(signal_name::run_delay_fraction));
  judge.add(switches, stated(signal_name::involuntary_switches_per_s));
  judge.add(steal, stated(signal_name::steal_fraction));
  judge.add(clock, moved(measurement.clock_hz_before, measurement.clock_hz_after),
            clock_limit(measurement, judge.limit_of(clock)));
  judge.add(device_clock, moved(stated("device_clock_hz_before"), stated("device_clock_hz_after")),
            clock_limit(measurement, judge.limit_of(device_clock)));
  judge_throttling(measurement, judge);
  if (probes_peaks_alone(measurement)) {
    judge.add(peak, moved(measurement.peak_flops_before, measurement.peak_flops_after));
  }
  if (is_memory_bound) {
    judge.add(bandwidth, moved(measurement.bandwidth.before, measurement.bandwidth.after));
  }
  judge.add(load, stated(signal_name::load_per_cpu));
  if (!chunks_show_throttling(measurement)) {
    judge.add(throttled, stated(signal_name::throttled_periods));
  }
  const auto kept = as_double(measurement.samples.size());
  const auto dropped = as_double(measurement.samples_dropped);
  if (dropped > 0 && dropped / (kept + dropped) > thresholds.dropped_fraction_suspect) {
    judge.raise(Status::suspect, "samples that did not overlap", dropped / (kept + dropped),
                thresholds.dropped_fraction_suspect);
  }
  judge_stop(measurement, thresholds.deadline_half_width, judge);
  return judge.verdict();
}

}  // namespace halmark
