// Steps of shipped models on a made-up device whose figures are round.
#pragma once

#include <string>
#include <vector>

#include "fixtures.hpp"
#include "model/step/step_answer.hpp"

namespace halmark::pages_test {

using namespace model_test;

// 1 PFLOP/s in bf16, 1 TB/s, links of 100 GB/s.
inline Device round_device(std::int64_t memory_bytes = 80'000'000'000) {
  Device out{.id = "round", .memory_bytes = memory_bytes};
  out.peaks = {{.path = "bf16", .dtype = Dtype::bf16, .flops_per_s = 1e15},
               {.path = "f32", .dtype = Dtype::f32, .flops_per_s = 1e14}};
  out.bandwidths = {{.level = "memory", .bytes_per_s = 1e12}};
  return out;
}

inline PricedStep qwen(std::optional<double> measured_ms = {},
                       std::optional<Device> device = round_device(), Parallel parallel = {}) {
  StepQuestion question;
  question.measured_ms = measured_ms;
  return price_step(shipped("qwen3-0.6b"), decode(8, 1024, parallel), device, question);
}

inline std::vector<std::string> lines_of_text(const std::string& text) {
  std::vector<std::string> out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    out.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return out;
}

}  // namespace halmark::pages_test
