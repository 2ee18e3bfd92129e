// Attribution: which operators ran, in which module of which layer, in which pass, with which FLOPs
// and time. An operator and what it calls count once; a kernel counts where it was launched.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "profile/trace/operator_cost.hpp"
#include "profile/trace/recording.hpp"
#include "profile/trace/scope_tree.hpp"

namespace halmark::trace {

enum class TraceStage { unknown, prefill, decode, mixed };
std::string_view stage_name(TraceStage stage);
std::optional<TraceStage> parse_stage(std::string_view text);

// One forward pass (or training step) of the model.
struct Pass {
  std::int64_t begin_ns = 0, end_ns = 0;
  std::optional<std::int64_t> step;  // N of the enclosing ProfilerStep#N
  TraceStage stage = TraceStage::unknown;
  std::string stage_source;  // "annotation", "shapes"
};

// Executions of one operator with the same arguments in one module and pass.
struct OperatorRow {
  std::uint32_t pass = 0;
  std::uint32_t scope = 0;
  std::uint32_t name = 0;            // into Recording::names
  std::uint32_t arguments = absent;  // into Recording::arguments
  OperatorClass of = OperatorClass::unknown;
  std::uint64_t count = 0;
  std::uint64_t captured = 0;  // recorded into a graph, executed by its replays
  std::uint64_t kernels = 0;
  std::int64_t host_ns = 0;
  std::int64_t device_ns = 0;
  std::uint32_t cost = 0;  // into Attribution::costs
};

// Device time, split without remainder: operators + replays unattributed + unlinked.
struct DeviceTime {
  std::uint64_t kernels = 0;
  std::int64_t total_ns = 0;
  std::int64_t assigned_ns = 0;
  std::int64_t unlinked_ns = 0;   // no launch in the trace
  std::int64_t ambiguous_ns = 0;  // replays of a graph whose capture is absent or not unique
  std::uint64_t replays = 0, unexplained_replays = 0;
  std::string replay_reason;
};

struct Attribution {
  ScopeTree scopes;
  std::vector<Pass> passes;
  std::vector<OperatorRow> rows;    // by pass, then in the order of their first execution
  std::vector<OperatorCost> costs;  // of one call; [0]: of operators without a formula
  DeviceTime device;
  std::int64_t host_ns = 0;  // of all rows

  const OperatorCost& cost_of(const OperatorRow& row) const { return costs[row.cost]; }
};

// Empties the threads of `recording` on the way, so that both never lie in memory whole.
Attribution attribute(Recording& recording);

}  // namespace halmark::trace
