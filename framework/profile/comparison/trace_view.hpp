// An attribution as it is looked at: equal rows of all passes as one line, filtered.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/json/json_type.hpp"
#include "profile/comparison/comparison.hpp"

namespace halmark::trace {

// "3" or "0..5"; "" = all. Throws Error (exit 2) naming --layers for anything else.
LayerRange layer_range(const std::string& text);

struct TraceFilter {
  double flops_min = 0;
  LayerRange layers;
  std::optional<TraceStage> stage;
  std::string category;  // name of an operator class; "" = all
};

// Rows of an attribution with equal stage, module and operator, over all passes.
struct TraceLine {
  TraceStage stage = TraceStage::unknown;
  std::int32_t layer = -1;
  std::string path, operator_name, category, dtype;
  std::uint64_t count = 0, captured = 0, kernels = 0;
  std::optional<double> flops;
  std::string flops_reason;  // why flops is absent
  bool is_unexplained = false;
  std::int64_t host_ns = 0, device_ns = 0;
  double share = 0;  // of all time: the device's where the trace has any, else the host's

  bool should_be_known() const { return is_unexplained || flops; }
};

struct TraceView {
  std::vector<TraceLine> lines;     // that pass the filter
  double known_flops = 0;           // of `lines`
  std::uint64_t unknown_count = 0;  // executions in `lines` whose FLOPs should be known
};

// Where the time of all passes went: to operators of each category, the largest first, then to
// none. Time of the device where the trace has any, else of the host.
struct TimeCause {
  std::string name;  // a category, "no kernel", "no operator"
  double ns = 0, share = 0;
};
struct TimeCauses {
  std::size_t passes = 0;
  double wall_ns = 0;  // of all passes; 0 = the trace has none
  bool has_device = false;
  std::vector<TimeCause> causes;
};
TimeCauses causes_of(const Attribution& attribution);

TraceView trace_view(const Recording& recording, const Attribution& attribution,
                     const TraceFilter& filter);

Json trace_json(const Recording& recording, const Attribution& attribution, const TraceView& view);
Json comparison_json(const Comparison& comparison);

}  // namespace halmark::trace
