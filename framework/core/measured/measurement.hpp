// Measurement: the result of one trial in one process round, whatever happened. A failure is a row.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/fields/fields.hpp"
#include "core/kernel_case.hpp"
#include "core/numeric/statistics.hpp"

namespace halmark {

// The closed set of row statuses (worker, gate, host).
enum class Status {
  ok,
  suspect,
  invalid,
  unsupported,
  out_of_memory,
  compile_failed,
  launch_failed,
  device_lost,
  wrong_result,
  nan_result,
  quarantined,
  crashed,
  timed_out,
  worker_lost,
  refused,
  cancelled,
};
std::string_view status_name(Status status);
std::optional<Status> parse_status(std::string_view text);
template <>
inline constexpr ClosedSet<Status> closed_set<Status>{"a status", status_name, parse_status};
// ok and suspect carry a usable latency.
bool has_latency(Status status);
// unsupported, invalid, refused and cancelled do not lead to exit code 4.
bool counts_as_failure(Status status);
// A failure of what was measured, not of a time that nobody believes.
bool is_broken(Status status);

struct OneTimeCost {
  double create_ns = 0;
  double pack_ns = 0;
  double first_ns = 0;
};
template <class V, Of<OneTimeCost> M>
void fields(V& v, M& m) {
  v("create_ns", m.create_ns);
  v("pack_ns", m.pack_ns);
  v("first_ns", m.first_ns);
}

// What the counters around a sample say of it; rows from before there were any say nothing.
enum class SampleLabel : std::uint8_t { unlabelled, clean, disturbed };

// One timed interval; every clock is per execution (interval / repeat).
struct Sample {
  double wall_ns = 0;
  double cpu_ns = 0;                // all threads of the process
  std::optional<double> device_ns;  // event-timed devices only
  std::int32_t set = 0;             // first argument set of the interval
  SampleLabel label = SampleLabel::unlabelled;
};

// The samples that a figure rests on: those that are not disturbed, or all where every one is.
std::vector<Sample> counted_samples(std::span<const Sample> samples);
// Nothing where no sample has a label.
std::optional<double> disturbed_share(std::span<const Sample> samples);

// What was dispatched, verbatim from the plugin.
struct Implementation {
  std::string name;
  std::string isa;
  std::string library;
  std::string library_version;
  bool operator==(const Implementation&) const = default;
};
template <class V, Of<Implementation> M>
void fields(V& v, M& m) {
  v("name", m.name);
  v("isa", m.isa);
  v("library", m.library);
  v("library_version", m.library_version);
}

// A signal of the validity gate: absent is not clean, hence the optional value with its reason.
struct Signal {
  std::string name;
  std::optional<double> value;
  std::string reason;  // why the value is absent, or which threshold it crossed
};
template <class V, Of<Signal> M>
void fields(V& v, M& m) {
  v("name", m.name);
  v.later("value", m.value);
  v.later("reason", m.reason);
}

// The state of the memory around the samples, in bytes/s of all shards that ran at once: the median
// of short reads within two seconds, because nothing else shows what other guests leave of it.
struct BandwidthAround {
  std::optional<double> before, after;
  std::optional<double> age_s;  // from the newest of those reads to the samples
  std::string reason;           // why there is no figure
};

struct Correctness {
  std::string
      method;  // "256 random elements, 4 corners, 2 rows, 2 columns, freivalds, poison scan"
  std::int64_t checked = 0;
  double worst_ratio = 0;  // |out - ref| / tolerance of the worst element; > 1 fails
};
template <class V, Of<Correctness> M>
void fields(V& v, M& m) {
  v("method", m.method);
  v("checked", m.checked);
  v.null_if_infinite("worst_ratio", m.worst_ratio);  // a NaN in the output
}

struct Measurement {
  KernelCase kernel_case;
  int round = 0;
  std::uint64_t seed = 0;
  Status status = Status::cancelled;
  std::string reason;  // never empty unless status is ok
  std::string phase;   // create, pack, first, warm, sample: the last one reached

  std::string plugin_name, plugin_version, plugin_build, plugin_hash;
  Implementation implementation;
  std::int64_t workspace_bytes = 0;
  std::int64_t constant_bytes = 0;
  OneTimeCost one_time;

  std::vector<Sample> samples;                     // max over shards, in time order
  std::vector<std::vector<double>> shard_wall_ns;  // per shard, same length; empty for one shard
  std::int64_t retired_samples = 0;  // of a stored row: how many it had before they were deleted
  std::int64_t samples_dropped = 0;  // overlap below 90 %
  std::int64_t repeat = 1;
  std::string stop_rule;  // which rule ended sampling
  double wall_s = 0;      // cost of the whole trial

  // Summary of the clean ones of `samples` (per execution); of all where none is clean.
  double duration_ns_median = 0;
  Interval duration_ns_interval;
  double duration_ns_min = 0;
  double relative_iqr = 0;

  std::vector<Signal> signals;  // validity gate
  std::optional<double> clock_hz_before, clock_hz_after;
  std::optional<double> peak_flops_before, peak_flops_after;
  BandwidthAround bandwidth;
  Correctness correctness;
  std::string environment;  // affinity, OMP_WAIT_POLICY, threads

  bool was_sampled() const { return !samples.empty() || retired_samples > 0; }
};
// Without samples and shard series: those travel as binary beside the row.
template <class V, Of<Measurement> M>
void fields(V& v, M& m) {
  v("case", m.kernel_case);
  v("round", m.round);
  v.as_text("seed", m.seed);
  v("status", m.status);
  v("reason", m.reason);
  v("phase", m.phase);
  v.group("plugin", [&m](auto& plugin) {
    plugin("name", m.plugin_name);
    plugin("version", m.plugin_version);
    plugin("build", m.plugin_build);
    plugin("hash", m.plugin_hash);
  });
  v("implementation", m.implementation);
  v("workspace_bytes", m.workspace_bytes);
  v("constant_bytes", m.constant_bytes);
  v("one_time", m.one_time);
  v("samples_dropped", m.samples_dropped);
  v("repeat", m.repeat);
  v("stop_rule", m.stop_rule);
  v("wall_s", m.wall_s);
  v("duration_ns_median", m.duration_ns_median);
  v("duration_ns_interval", m.duration_ns_interval);
  v("duration_ns_min", m.duration_ns_min);
  v("relative_iqr", m.relative_iqr);
  v("signals", m.signals);
  v.later("clock_hz_before", m.clock_hz_before);
  v.later("clock_hz_after", m.clock_hz_after);
  v.later("peak_flops_before", m.peak_flops_before);
  v.later("peak_flops_after", m.peak_flops_after);
  v.later("bandwidth_before", m.bandwidth.before);
  v.later("bandwidth_after", m.bandwidth.after);
  v.later("bandwidth_age_s", m.bandwidth.age_s);
  v.later("bandwidth_reason", m.bandwidth.reason, std::string("not recorded"));
  v("correctness", m.correctness);
  v("environment", m.environment);
}

}  // namespace halmark
