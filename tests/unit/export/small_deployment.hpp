// A point of a front as tests want it: a served mixture of experts or dense model on H200s.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/chosen/deployment.hpp"
#include "export/engine/launch.hpp"
#include "tests/checkout.hpp"

namespace halmark::test {

inline const std::vector<std::filesystem::path>& engine_folders() {
  static const std::vector<std::filesystem::path> folders = {test::in_source("/configs/engines")};
  return folders;
}

inline Deployment small_deployment(const Parallel& parallel, bool is_moe = false) {
  constexpr std::int64_t gib = std::int64_t{1} << 30;
  Configuration c{.model = "small", .parallel = parallel};
  c.precision = Precision::uniform("bf16", Dtype::bf16);
  c.served = ServedLoad{.request = {.input_tokens = 1000, .output_tokens = 24},
                        .concurrency = 64,
                        .token_budget = 2048};
  Deployment out{.point = {.configuration = c, .served = ServedEstimate{}},
                 .point_name = "point 1 of 1",
                 .provenance = "roofline",
                 .checkpoint = "org/small",
                 .is_moe = is_moe,
                 .device = "h200",
                 .device_name = "NVIDIA H200",
                 .domain_devices = 8,
                 .device_bytes = 100 * gib,
                 .memory_fraction = 0.9,
                 .rank = {.weights = 20 * gib, .cache = 30 * gib, .activations = 4 * gib}};
  out.point.served->figures.ttft_ns = 5e7;
  out.point.served->figures.tpot_ns = 1e7;
  return out;
}

inline exports::Launch launch(const Deployment& d, const std::string& engine,
                              const std::string& version) {
  return exports::launch_of(d, exports::read_engine_table(engine, version, engine_folders()));
}

// "" where the flag is not there, "on" for a switch.
inline std::string value_of(const exports::Launch& launch, const std::string& flag) {
  for (const exports::LaunchFlag& f : launch.flags) {
    if (f.flag == flag) return f.value.empty() ? "on" : f.value;
  }
  return "";
}

}  // namespace halmark::test
