// The one call of `halmark simulate plan`: names become values, and the planner is asked.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/chosen/configuration.hpp"
#include "core/chosen/named_engine.hpp"
#include "core/device.hpp"
#include "journal/store.hpp"
#include "model/spec/model_spec.hpp"
#include "simulate/sharding/plan_answer.hpp"
#include "tune/plan/named_fabric.hpp"

namespace halmark::tune {

struct ShardPlanning {
  std::string fabric;              // id or file; "" = none
  std::int64_t shards = 0;         // 0 = what the degrees multiply to
  std::string strategy = "auto";   // or strategies that may be used: "tensor,pipeline"
  int zero = 0;                    // training: what data-parallel shards share out, 0 to 3
  bool sequence_parallel = false;  // training: norms and residuals split over tensor groups
  // Of a shard's memory, what the plan may fill; nothing: usable_bytes.
  std::optional<double> memory_fraction = {};
  std::vector<std::string> latency = {};  // sources of times; none = the figures of the devices
  std::vector<std::filesystem::path> devices = {};  // folders: see priced_latencies
  NamedEngine engine = {};                          // whose tables count, and terms around a step
  // The results database to start from; null = none. Of which machine: "" = any.
  const Store* journal = nullptr;
  std::string fingerprint;
};

// What engines take of a GPU that serves unless they are told otherwise; of other devices, and in
// training, all.
std::int64_t usable_bytes(const Device& device, std::int64_t bytes, Phase phase);

// Several devices are those of the stages of a pipeline, first to last. Degrees of `configuration`
// above 1, and its stages, are kept. Throws Error (exit 2) for a fabric
// that does not go with the shards, its profile included, an unknown strategy, and what the planner
// refuses.
simulate::PlanAnswer plan_shards(const ModelSpec& spec, const Configuration& configuration,
                                 std::span<const Device> devices, const ShardPlanning& asked,
                                 const std::vector<std::filesystem::path>& fabrics);

// The fastest layout of `asked.shards` equal devices that fits, as an engine fills them; where none
// does the fastest. Degrees above 1 are kept. Throws Error (exit 2) where no layout is possible.
Parallel fastest_layout(const ModelSpec& spec, const Configuration& configuration,
                        const Device& device, const ShardPlanning& asked,
                        const std::vector<std::filesystem::path>& fabrics);

}  // namespace halmark::tune
