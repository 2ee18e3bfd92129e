// Third-party tables of kernel times as the figures of interpolation need them: every table below a
// folder, its device, its series with names of their own.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/device.hpp"
#include "latency/latency_point.hpp"

namespace halmark::bench {

struct TableSeries {
  std::string name;    // of its figures, unlike any other
  std::string family;  // "gemm", "context_attention", "moe", "nccl", ...: the layout of its table
  std::string dtype;   // as tables have it: "bfloat16", "fp8", "fp8_block"
  std::vector<LatencyPoint> points;
};

struct MeasuredTable {
  std::string name;    // "h100_sxm_trtllm_gemm"
  std::string engine;  // "trtllm"; "" = its name does not say
  Device device;
  std::vector<TableSeries> series;
};

// Of `data`/kernels and below, in order of their paths; a note for what cannot be used.
std::vector<std::filesystem::path> table_files(const std::filesystem::path& data);
std::optional<MeasuredTable> measured_table(const std::filesystem::path& file,
                                            const std::filesystem::path& data);

}  // namespace halmark::bench
