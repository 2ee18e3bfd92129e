#include "synthetic_report.hpp"
#include "core/numeric/cast.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace halmark::test {
namespace {

struct NamedPrecision {
  const char* name;
  Dtype dtype;
  double speed;  // against f32
  double bytes_per_weight;
};
constexpr std::array<NamedPrecision, 3> precisions{
    {{"f32", Dtype::f32, 1, 4}, {"bf16", Dtype::bf16, 1.9, 2}, {"int8", Dtype::s8, 3.1, 1}}};
constexpr std::array<Parallel, 3> layouts{{{}, {.tp = 2}, {.pp = 2}}};

// A value in [-1, 1) that looks random and is not.
double wobble(int i) { return std::fmod(std::abs(std::sin(12.9898 * i) * 43758.5453), 2.0) - 1; }

struct OperatorShape {
  const char* name;
  const char* layer;
  std::int64_t count;
  double part;
  const char* bound;
};
constexpr std::array<OperatorShape, 14> operators{
    {{"gate_up_proj", "decoder", 28, 0.268, "memory"},
     {"down_proj", "decoder", 28, 0.171, "memory"},
     {"lm_head", "head", 1, 0.158, "memory"},
     {"qkv_proj", "decoder", 28, 0.118, "memory"},
     {"attention", "decoder", 28, 0.094, "memory"},
     {"o_proj", "decoder", 28, 0.073, "memory"},
     {"all_reduce", "decoder", 56, 0.041, "communication"},
     {"input_norm", "decoder", 28, 0.019, "launch"},
     {"post_norm", "decoder", 28, 0.018, "launch"},
     {"silu_mul", "decoder", 28, 0.015, "memory"},
     {"rope", "decoder", 28, 0.011, "launch"},
     {"residual", "decoder", 56, 0.008, "launch"},
     {"final_norm", "head", 1, 0.004, "launch"},
     {"embedding", "embedding", 1, 0.002, "launch"}}};

std::vector<OperatorShare> shares_of(double step_ns, const NamedPrecision& precision,
                                     bool is_split) {
  std::vector<OperatorShare> out;
  for (const OperatorShape& shape : operators) {
    const double ns = step_ns * shape.part;
    out.push_back({.name = shape.name,
                   .layer_type = shape.layer,
                   .count = shape.count,
                   .ns = ns,
                   .low_ns = ns * 0.98,
                   .high_ns = ns * 1.03,
                   .lower_bound_ns = ns * 0.7,
                   .flops = 1e9 * shape.part,
                   .bytes = 1e9 * shape.part,
                   .bound = shape.bound,
                   .provenance = Provenance::measured,
                   .strategy = is_split ? "tensor" : "replicate",
                   .dtype = std::string(dtype_name(precision.dtype)),
                   .implementation = "brg:avx512_core"});
  }
  return out;
}

Evaluation evaluation(Phase phase, std::int64_t batch, const NamedPrecision& precision,
                      const Parallel& parallel, int index) {
  Evaluation out;
  const Dtype dtype = precision.dtype;
  out.configuration = {.model = "qwen3-0.6b",
                       .parallel = parallel,
                       .precision = {.name = precision.name,
                                     .qkv = dtype,
                                     .output = dtype,
                                     .ffn = dtype,
                                     .experts = dtype,
                                     .head = dtype},
                       .workload = {.phase = phase,
                                    .batch = batch,
                                    .new_tokens = phase == Phase::decode ? 1 : 512,
                                    .context = phase == Phase::decode ? 1024 : 512}};
  const double tokens = as_double(batch) * (phase == Phase::decode ? 1 : 512);
  const double weight_bytes = 0.6e9 * precision.bytes_per_weight;
  const double split = parallel.tp > 1 ? 1.72 : parallel.pp > 1 ? 1.05 : 1;
  const double weights_ns = weight_bytes / 22.0;
  const double flops_ns = 1.2e9 * tokens / (300 * precision.speed);
  const double step_ns = (weights_ns + flops_ns) / split * (1 + 0.04 * wobble(index));
  out.estimate =
      Estimate{.step_ns = step_ns,
               .low_ns = step_ns * 0.97,
               .high_ns = step_ns * 1.045,
               .lower_bound_ns = step_ns * 0.7,
               .tokens_per_s = tokens / step_ns * 1e9,
               .matmul_flops = 1.2e9 * tokens,
               .memory_bytes_per_rank = static_cast<std::int64_t>(weight_bytes / 2),
               .memory_bytes_total = static_cast<std::int64_t>(weight_bytes) + batch * 117'000'000 +
                                     (parallel.devices() - 1) * 60'000'000,
               .mfu = 1.2e9 * tokens / step_ns / (900 * precision.speed),
               .mfu_datasheet = 1.2e9 * tokens / step_ns / (1000 * precision.speed),
               .bottleneck = "gate_up_proj (memory)",
               .operators = shares_of(step_ns, precision, parallel.tp > 1)};
  return out;
}

bool dominates(const Estimate& a, const Estimate& b) {
  return a.step_ns <= b.step_ns && a.tokens_per_s >= b.tokens_per_s &&
         a.memory_bytes_total <= b.memory_bytes_total &&
         (a.step_ns < b.step_ns || a.tokens_per_s > b.tokens_per_s);
}

void add_evaluations(RunReport& report, const SyntheticSize& size) {
  int index = 0;
  for (int b = 0; b < size.batches; ++b) {
    for (const NamedPrecision& precision : precisions) {
      for (const Parallel& parallel : layouts) {
        report.evaluations.push_back(evaluation(Phase::decode, std::int64_t{1} << (2 * (b % 8)),
                                                precision, parallel, ++index));
      }
    }
  }
  for (const std::int64_t batch : {1, 4}) {
    for (const NamedPrecision& precision : precisions) {
      for (const Parallel& parallel : layouts) {
        report.evaluations.push_back(
            evaluation(Phase::prefill, batch, precision, parallel, ++index));
      }
    }
  }
}

// Non-dominated points of each phase by latency, thinned evenly to `per_phase`.
void add_front(RunReport& report, std::size_t per_phase) {
  for (const Phase phase : {Phase::decode, Phase::prefill}) {
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < report.evaluations.size(); ++i) {
      const Evaluation& e = report.evaluations[i];
      if (e.configuration.workload.phase != phase || !e.estimate) continue;
      const bool is_dominated = std::ranges::any_of(report.evaluations, [&](const Evaluation& o) {
        return o.estimate && o.configuration.workload.phase == phase &&
               dominates(*o.estimate, *e.estimate);
      });
      if (!is_dominated) found.push_back(i);
    }
    std::ranges::stable_sort(
        found, {}, [&](std::size_t i) { return report.evaluations[i].estimate->step_ns; });
    const std::size_t count = std::min(per_phase, found.size());
    for (std::size_t i = 0; i < count; ++i) {
      report.front.push_back({.evaluation = found[i * found.size() / count]});
    }
  }
}

MeasuredMemory synthetic_memory() {
  constexpr std::int64_t mib = 1 << 20;
  const MemoryOfRank first{
      .roles = {{"weights", 600 * mib, 603 * mib, {{"packed by the plugin", 3 * mib}}},
                {"kv_cache", 40 * mib, 40 * mib, {}}},
      .set_size = ProportionalSet{60 * mib, 655 * mib, 643 * mib}};
  const MemoryOfRank second{
      .rank = 1,
      .roles = {{"weights", 500 * mib, 499 * mib, {}}, {"workspace", 0, 0, {}}},
      .set_size_reason = "the device has memory of its own"};
  return {{first, second}};
}

void add_validations(RunReport& report) {
  int index = 100;
  for (const FrontPoint& point : report.front) {
    Evaluation& e = report.evaluations[point.evaluation];
    const double predicted = e.estimate->step_ns;
    const double measured = predicted * (1 + 0.05 * wobble(++index));
    e.measured_ns = measured;
    e.measured_interval_ns = Interval{measured * 0.99, measured * 1.02};
    Validation row{
        .deployment_key = e.configuration.key(),
        .predicted_ns = predicted,
        .predicted_interval_ns = {e.estimate->low_ns, e.estimate->high_ns},
        .measured_ns = measured,
        .measured_interval_ns = *e.measured_interval_ns,
        .composition = Composition{
            .composed_ns = 0.99 * predicted, .error = 0.99 * predicted / measured - 1, .pairs = 5}};
    for (const OperatorShare& share : e.estimate->operators) {
      row.operators.push_back({share.name, share.ns, share.ns * (1 + 0.08 * wobble(++index))});
    }
    if (report.validations.size() % 2 == 0) row.memory = synthetic_memory();
    report.validations.push_back(std::move(row));
  }
}

Device synthetic_device() {
  Device device{.id = "cpu:0", .name = "Example CPU", .kind = "cpu", .is_measured = true};
  const auto add_peak = [&](const char* path, Dtype dtype, const char* isa, int threads,
                            double rate) {
    device.peaks.push_back({.path = path,
                            .dtype = dtype,
                            .isa = isa,
                            .threads = threads,
                            .flops_per_s = rate,
                            .flops_per_s_q90 = rate * 0.97,
                            .source = "measured 2026-01-02"});
  };
  for (const int threads : {1, 2}) {
    add_peak("f32_vector", Dtype::f32, "avx512_core", threads, 220e9 * threads);
    add_peak("bf16_matrix", Dtype::bf16, "avx512_core_amx", threads, 3100e9 * threads);
    add_peak("s8_matrix", Dtype::s8, "avx512_core_amx", threads, 6200e9 * threads);
    device.bandwidths.push_back({"l2", threads, 90e9 * threads, 1 << 20, "measured 2026-01-02"});
    device.bandwidths.push_back({"l3", threads, 32e9 * threads, 16 << 20, "measured 2026-01-02"});
    device.bandwidths.push_back(
        {"memory", threads, 12e9 * threads, 256 << 20, "measured 2026-01-02"});
  }
  return device;
}

struct KernelShape {
  const char* op;
  const char* sizes;
  double flops_per_byte;  // 0: no matmul FLOPs
  double bytes;
};
constexpr std::array<KernelShape, 8> shapes{
    {{"gemm", "k=1024 m=1 n=6144 src_dtype=bf16 wei_dtype=bf16 dst_dtype=f32", 1, 12.6e6},
     {"gemm", "k=1024 m=512 n=6144 src_dtype=bf16 wei_dtype=bf16 dst_dtype=f32", 240, 26.2e6},
     {"gemm", "k=3072 m=16 n=1024 src_dtype=s8 wei_dtype=s8 dst_dtype=s32", 30, 3.3e6},
     {"attention", "batch=4 context=1024 head_dim=128 heads=16 kv_heads=8", 2, 16.8e6},
     {"rmsnorm", "n=1024 rows=512 src_dtype=f32", 0, 4.2e6},
     {"silu_mul", "n=3072 rows=512 src_dtype=f32", 0, 18.9e6},
     {"residual_add", "n=1024 rows=512 src_dtype=f32", 0, 6.3e6},
     {"rope", "head_dim=128 heads=16 rows=512 src_dtype=f32", 0, 8.4e6}}};

KernelPoint kernel(int index) {
  const KernelShape& shape = shapes[as_size(index) % shapes.size()];
  const NamedPrecision& precision = precisions[as_size(index / 8) % 3];
  const double roof = std::min(220e9 * precision.speed, 24e9 * shape.flops_per_byte);
  const double reached = 0.55 + 0.35 * wobble(index);
  const double flops = shape.flops_per_byte * shape.bytes;
  const double bound_ns = shape.flops_per_byte > 0 ? flops / roof * 1e9 : shape.bytes / 24;
  KernelPoint out{
      .key = std::string(shape.op) + " case " + std::to_string(index),
      .op = shape.op,
      .problem = std::string(shape.op) + ' ' + shape.sizes + " index=" + std::to_string(index),
      .dtype = std::string(dtype_name(precision.dtype)),
      .place = index % 2 == 0 ? "cpu:0" : "cpu:0/2 x2",
      .mode = "rotate_const:4",
      .implementation = "brg:avx512_core",
      .isa = "avx512_core",
      .rounds = 3,
      .duration_ns = bound_ns / reached,
      .low_ns = bound_ns / reached * 0.98,
      .high_ns = bound_ns / reached * 1.03,
      .matmul_flops = flops,
      .bytes = shape.bytes,
      .lower_bound_ns = bound_ns,
      .roofline_fraction = reached};
  if (flops > 0) {
    out.mfu = flops / *out.duration_ns / (900 * precision.speed);
    out.path_fraction = out.mfu;
  } else {
    out.mfu_reason = "no matmul FLOPs";
  }
  if (index % 4 == 3) {
    out.bandwidth_reason = "no probe: threads of the plugin were busy";
  } else {
    out.bandwidth_share = 0.4 + 0.25 * (index % 4);
  }
  return out;
}

void add_kernels(RunReport& report, int count) {
  for (int i = 0; i < count; ++i) report.kernels.push_back(kernel(i));
  KernelPoint above = kernel(1);
  above.key = "gemm above the roof";
  above.problem = "gemm above the roof";
  above.dtype = "f32";
  above.duration_ns = above.matmul_flops / 900e9 * 1e9;  // 900 GFLOP/s where 440 are possible
  above.lower_bound_ns = 0;
  report.kernels.push_back(above);
  for (const char* name : {hostile_markup, hostile_formula, hostile_escape}) {
    KernelPoint hostile = kernel(0);
    hostile.key = hostile.op = hostile.problem = hostile.implementation = hostile.dtype = name;
    report.kernels.push_back(hostile);
  }
  KernelPoint failed{.key = "gemm failed", .op = "gemm", .problem = "gemm failed", .dtype = "bf16"};
  failed.status = Status::crashed;
  failed.bandwidth_reason = "not recorded";
  failed.reason = std::string("signal 11 in ") + hostile_markup;
  report.kernels.push_back(failed);
}

Evaluation refused_evaluation() {
  Evaluation out = evaluation(Phase::decode, 1, precisions[0], {.tp = 16}, 1);
  out.estimate.reset();
  out.status = Status::refused;
  out.reason = "8 key-value heads cannot be split over 16 shards";
  return out;
}

}  // namespace

RunReport synthetic_report(SyntheticSize size) {
  RunReport report{.title = "quickstart",
                   .model = "qwen3-0.6b",
                   .command = "halmark tune configs/sweeps/quickstart.toml --db results/x.db",
                   .started_utc = "2026-01-02T03:04:05Z",
                   .tool = "halmark 0.1.0 (release)",
                   .plan_hash = std::string(64, 'a'),
                   .chain_head = std::string(64, 'b'),
                   .fingerprint = "fp-0123456789",
                   .machine = {"Example CPU, 2 cores, 24 GiB", "isa avx512_core", "oneDNN 2.6.3"},
                   .left_out = {"prefill batch 8: 24 s over the budget"},
                   .warnings = {std::string("W-ENV-01 governor unreadable ") + hostile_escape},
                   .measuring_s = 109.4,
                   .device = synthetic_device(),
                   .objectives = {"latency", "throughput", "memory"}};
  add_evaluations(report, size);
  add_front(report, size.front_per_phase);
  add_validations(report);
  report.evaluations.push_back(refused_evaluation());
  add_kernels(report, size.kernels);
  return report;
}

}  // namespace halmark::test
