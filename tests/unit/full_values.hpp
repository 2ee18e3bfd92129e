// Core values with every field set to something that differs from its default.
#pragma once

#include "core/chosen/configuration.hpp"
#include "core/measured/measurement.hpp"

namespace halmark::test {

inline KernelCase full_case() {
  KernelCase out;
  out.problem = {
      "gemm",
      {{"m", 4}, {"n", 3072}, {"k", 1024}, {"src_dtype", static_cast<std::int64_t>(Dtype::bf16)}}};
  out.config = {{{"impl", 2}, {"threads", 1}}, {{"impl", "brg:avx512_core"}}};
  out.kernel = "gemm_packed";
  out.backend = "cpu";
  out.device = "1";
  out.parts = 2;
  out.shards_at_once = 2;
  out.mode = CacheMode::rotate_all;
  out.sets = 4;
  return out;
}

// Without samples and shard series.
inline Measurement full_measurement() {
  Measurement m;
  m.kernel_case = full_case();
  m.round = 2;
  m.seed = 0xfedcba9876543210u;  // above 2^53: a JSON number could not carry it
  m.status = Status::suspect;
  m.reason = "steal_fraction 0.01 above 0.005: \"noisy\" \xc3\xa9";
  m.phase = "sample";
  m.plugin_name = "cpu";
  m.plugin_version = "0.1";
  m.plugin_build = "abc123";
  m.plugin_hash = "00ff";
  m.implementation = {"brg:avx512_core", "avx512_core", "onednn", "2.6.3"};
  m.workspace_bytes = 11;
  m.constant_bytes = 12;
  m.one_time = {1.5, 2.5, 3.5};
  m.samples_dropped = 3;
  m.repeat = 7;
  m.stop_rule = "ci_width";
  m.wall_s = 0.125;
  m.duration_ns_median = 1000.25;
  m.duration_ns_interval = {990.5, 1010.75};
  m.duration_ns_min = 980;
  m.relative_iqr = 0.015;
  m.signals = {{.name = "steal_fraction", .value = 0.01, .reason = "above 0.005"},
               {.name = "throttled_periods", .value = {}, .reason = "no cgroup"}};
  m.clock_hz_before = 2.5e9;
  m.peak_flops_after = 1e11;
  m.bandwidth = {4.1e10, 3.9e10, 0.25, "one shard did not answer"};
  m.correctness = {"256 random elements", 260, 0.75};
  m.environment = "OMP_WAIT_POLICY=active";
  return m;
}

inline Configuration full_deployment() {
  return {
      .model = "qwen3-0.6b",
      .parallel = {.dp = 2, .tp = 3, .pp = 4, .ep = 5, .cp = 6},
      .precision = {.name = "int8",
                    .qkv = Dtype::s8,
                    .output = Dtype::bf16,
                    .ffn = Dtype::f32,
                    .experts = Dtype::f4_e2m1,
                    .head = Dtype::f16,
                    .attention = Dtype::bf16,
                    .kv_cache = Dtype::f8_e4m3fn,
                    .activation = Dtype::bf16,
                    .packed = PackedWeights::nvfp4},
      .workload = {Phase::prefill, 4, 512, 600, 50},
      .places = {{.backend = "cpu", .parts = 2, .part = 1}, {.backend = "opencl", .device = "3"}}};
}

inline Estimate full_estimate() {
  Estimate e;
  e.step_ns = 1e6 + 0.5;
  e.low_ns = 9e5;
  e.high_ns = 1.2e6;
  e.lower_bound_ns = 7e5;
  e.alone = StepAlone{1.5e6, 1.4e6, 1.7e6};
  e.energy = StepEnergy{3.25, true, "measured: rapl"};
  e.tokens_per_s = 1234.5;
  e.matmul_flops = 3e12;
  e.memory_bytes_per_rank = 1ll << 33;
  e.memory_bytes_total = 1ll << 34;
  e.mfu = 0.4;
  e.mfu_reason = "measured peak";
  e.mfu_datasheet = 0.3;
  e.bottleneck = "lm_head, memory";
  e.provenance = Provenance::interpolated;
  e.status = Status::suspect;
  e.reason = "one part is suspect";
  e.operators = {{.name = "lm_head",
                  .layer_type = "head",
                  .count = 1,
                  .ns = 10,
                  .low_ns = 9,
                  .high_ns = 11,
                  .lower_bound_ns = 8,
                  .flops = 5,
                  .bytes = 6,
                  .bound = "memory",
                  .provenance = Provenance::imported,
                  .status = Status::suspect,
                  .strategy = "tensor",
                  .dtype = "bf16",
                  .implementation = "brg"}};
  return e;
}

inline Evaluation full_evaluation() {
  return {.configuration = full_deployment(),
          .status = Status::suspect,
          .reason = "noisy",
          .estimate = full_estimate(),
          .measured_ns = 1.1e6,
          .measured_interval_ns = Interval{1e6, 1.2e6}};
}

}  // namespace halmark::test
