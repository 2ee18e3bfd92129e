// What one machine reached of its peaks, with the samples that say so: one file that travels. No
// name of a host or a user is in it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/chosen/configuration.hpp"
#include "core/device.hpp"
#include "core/measured/measurement.hpp"

namespace halmark {

inline constexpr const char* record_format = "halmark-record";
inline constexpr int record_version = 1;
inline constexpr std::size_t record_bytes_max = 200'000;

// Figures of samples, per execution. The mean is moved by every one of them.
struct SampleFigures {
  double median_ns = 0, mean_ns = 0, min_ns = 0, relative_iqr = 0;
  Interval interval_ns;  // of the median
};
template <class V, Of<SampleFigures> M>
void fields(V& v, M& m) {
  v("median_ns", m.median_ns);
  v("mean_ns", m.mean_ns);
  v("min_ns", m.min_ns);
  v("relative_iqr", m.relative_iqr);
  v("interval_ns", m.interval_ns);
}

// One process that measured a kernel.
struct RecordRound {
  int round = 0;
  Status status = Status::ok;
  std::int64_t taken = 0;          // samples of the trial that counted
  std::vector<double> samples_ns;  // of these, evenly spaced in time; the figures are theirs
  SampleFigures figures;
  std::optional<double> energy_j;  // of one execution, where a meter was read
};
template <class V, Of<RecordRound> M>
void fields(V& v, M& m) {
  v("round", m.round);
  v("status", m.status);
  v("taken", m.taken);
  v("samples_ns", m.samples_ns);
  v("figures", m.figures);
  v.unless_default("energy_j", m.energy_j);
}

// The fastest kernel of a problem on the whole device, constants from memory.
struct RecordKernel {
  KernelCase kernel_case;
  std::string dtype, shapes;  // of its class: "bf16", "m 2-16"
  Implementation implementation;
  std::vector<RecordRound> rounds;
  double ns = 0;
  Interval interval_ns;
  double matmul_flops = 0, bytes = 0;    // of its contract
  double compute_ns = 0, memory_ns = 0;  // the least at the record's peaks; 0 = no such peak
  double peak_ns = 0;                    // of the FLOPs at the peak that MFU is of
  std::optional<double> power_w;

  double bound_ns() const { return compute_ns > memory_ns ? compute_ns : memory_ns; }
};
template <class V, Of<RecordKernel> M>
void fields(V& v, M& m) {
  v("case", m.kernel_case);
  v("dtype", m.dtype);
  v("shapes", m.shapes);
  v("implementation", m.implementation);
  v("rounds", m.rounds);
  v("ns", m.ns);
  v("interval_ns", m.interval_ns);
  v("matmul_flops", m.matmul_flops);
  v("bytes", m.bytes);
  v("compute_ns", m.compute_ns);
  v("memory_ns", m.memory_ns);
  v("peak_ns", m.peak_ns);
  v.unless_default("power_w", m.power_w);
}

// Sums over the kernels of an op, dtype and class of sizes; of all kernels where these are empty.
struct RecordSum {
  std::string op, dtype, shapes;
  std::int64_t kernels = 0;
  double ns = 0;
  double bounded_ns = 0, bound_ns = 0;  // of the kernels that have a bound
  double matmul_flops = 0, bytes = 0;
  std::optional<double> joules;  // of one execution of each, where each was metered

  std::string name() const { return op + ' ' + dtype + ' ' + shapes; }
  std::optional<double> share() const {
    return bounded_ns > 0 ? std::optional(bound_ns / bounded_ns) : std::nullopt;
  }
  double flops_per_s() const { return ns > 0 ? matmul_flops / ns * 1e9 : 0; }
  double bytes_per_s() const { return ns > 0 ? bytes / ns * 1e9 : 0; }
};
template <class V, Of<RecordSum> M>
void fields(V& v, M& m) {
  v("op", m.op);
  v("dtype", m.dtype);
  v("shapes", m.shapes);
  v("kernels", m.kernels);
  v("ns", m.ns);
  v("bounded_ns", m.bounded_ns);
  v("bound_ns", m.bound_ns);
  v("matmul_flops", m.matmul_flops);
  v("bytes", m.bytes);
  v.unless_default("joules", m.joules);
}

// A whole layer stack that was run.
struct RecordStep {
  Configuration configuration;
  std::vector<double> samples_ns;  // every repetition
  SampleFigures figures;
  double tokens_per_s = 0;  // at the median
};
template <class V, Of<RecordStep> M>
void fields(V& v, M& m) {
  v("configuration", m.configuration);
  v("samples_ns", m.samples_ns);
  v("figures", m.figures);
  v("tokens_per_s", m.tokens_per_s);
}

struct RecordPlugin {
  std::string name, version, build, hash;
  auto operator<=>(const RecordPlugin&) const = default;
};
template <class V, Of<RecordPlugin> M>
void fields(V& v, M& m) {
  v("name", m.name);
  v("version", m.version);
  v("build", m.build);
  v("hash", m.hash);
}

struct MachineRecord {
  std::string measured_on;  // date of its newest run, "2026-11-22"
  std::string tool_version, tool_build;
  std::vector<RecordPlugin> plugins;
  Device device;    // its peaks and bandwidths, with what every occasion saw of them
  int threads = 0;  // CPUs of the whole device; 0 = all that its figures are of
  std::vector<RecordKernel> kernels;
  std::vector<RecordSum> classes;  // by op, dtype and size
  RecordSum all;
  std::vector<RecordStep> steps;
  std::map<std::string, std::int64_t> left_out;  // reason -> rows or kernels
};
template <class V, Of<MachineRecord> M>
void fields(V& v, M& m) {
  v("measured_on", m.measured_on);
  v.group("tool", [&m](auto& tool) {
    tool("version", m.tool_version);
    tool("build", m.tool_build);
  });
  v("plugins", m.plugins);
  v("device", m.device);
  v("threads", m.threads);
  v("kernels", m.kernels);
  v("classes", m.classes);
  v("all", m.all);
  v("steps", m.steps);
  v("left_out", m.left_out);
}

}  // namespace halmark
