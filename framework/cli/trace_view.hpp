// How `halmark trace` shows an attribution and a comparison: tables for people, JSON for programs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/json/json.hpp"
#include "profile/trace/comparison.hpp"

namespace halmark::cli {

struct TraceFilter {
  double flops_min = 0;
  trace::LayerRange layers;
  std::optional<trace::TraceStage> stage;
  std::string category;  // name of an operator class; "" = all
};

// Rows of an attribution with equal stage, module and operator, over all passes.
struct TraceLine {
  trace::TraceStage stage = trace::TraceStage::unknown;
  std::int32_t layer = -1;
  std::string path, operator_name, category, dtype;
  std::uint64_t count = 0, captured = 0, kernels = 0;
  std::optional<double> flops;
  std::string flops_reason;  // why flops is absent
  bool is_unexplained = false;
  std::int64_t host_ns = 0, device_ns = 0;
};

struct TraceView {
  std::vector<TraceLine> lines;     // that pass the filter
  double known_flops = 0;           // of `lines`
  std::uint64_t unknown_count = 0;  // executions in `lines` whose FLOPs should be known
};

TraceView trace_view(const trace::Recording& recording, const trace::Attribution& attribution,
                     const TraceFilter& filter);

Json trace_json(const trace::Recording& recording, const trace::Attribution& attribution,
                const TraceView& view);
std::string trace_text(const trace::Recording& recording, const trace::Attribution& attribution,
                       const TraceView& view);

Json comparison_json(const trace::Comparison& comparison);
std::string comparison_text(const trace::Comparison& comparison);

}  // namespace halmark::cli
