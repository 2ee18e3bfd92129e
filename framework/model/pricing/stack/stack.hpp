// Stacks: what every rank executes for one step, as kernel cases and steps; of a pipeline the step
// that stands alone, micro-batch by micro-batch, with the slots in which a stage is idle. The same
// cases are what has to be measured for the Composer and what `run` executes in the workers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/chosen/configuration.hpp"
#include "core/chosen/winner.hpp"
#include "model/graph/graph.hpp"
#include "model/pricing/stack/rank_placement.hpp"

namespace halmark {

struct StackPlacement {
  std::string backend;
  std::string device = "0";
  int parts = 0;                // cuts of the device; 0 = one part per device of the deployment
  std::int64_t ring_bytes = 0;  // per shard: min(plateau, 512 MiB, free memory / 4)
  // in_stack: of what a stage repeats, a kernel that stands in several places is one case per
  // place; what it executes once is measured in a loop of its own. Shards at once are then those of
  // the stages that execute it at once: a head has the memory to itself.
  CacheMode mode = CacheMode::rotate_const;
  const WinnerTable* winners = nullptr;  // null = the plugin chooses; used during the call only
  // By rank, where ranks lie on devices that are named for them; then backend, device, parts and
  // ring_bytes are those of `rank`.
  std::vector<RankPlacement> ranks = {};
  int rank = -1;
  // Ranks on each of several equal nodes, which they fill in their order; 0 = all lie on one.
  int per_node = 0;
  StackPlacement of_rank(int index) const;  // itself without `ranks`
};

// The unique kernels of one stage on its heaviest rank: case, executions per micro-batch, and which
// operators use it. `at_work`: stages at once; they change cases of the mode in_stack alone.
struct StageKernel {
  KernelCase kernel_case;
  std::int64_t count = 0;
  std::vector<std::int32_t> operators;  // indices into OperatorGraph::operators
};
std::vector<StageKernel> stage_kernels(const OperatorGraph& graph, const StackPlacement& placement,
                                       std::size_t stage, std::int64_t at_work);

// Throws Error (exit 2) naming the first op of the graph that is priced and not measured.
void require_measurable(const OperatorGraph& graph);

// The same in short: so few layers that every kernel of the mode in_stack still stands in its usual
// place. What is repeated to measure those; without kernels that no step of it executes.
std::vector<Stack> build_short_stacks(const OperatorGraph& graph, const StackPlacement& placement);

// One stack per rank, rank = (replica * pp + stage) * tp + tensor rank; each has the rows of its
// own experts. A kernel's instances are numbered in execution order: layer l uses instance l where
// a layer uses the kernel once. Micro-batches share the weights, and have caches of their own.
std::vector<Stack> build_stacks(const OperatorGraph& graph, const StackPlacement& placement);

}  // namespace halmark
