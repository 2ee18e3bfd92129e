// A pipeline is idle while it fills and drains, and every shift takes all of its stages.
#include "model/pricing/stack/stage_stack.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "core/numeric/cast.hpp"
#include "model/graph/context_split.hpp"
#include "model/pricing/layout/places.hpp"
#include "model/pricing/pipeline.hpp"

namespace halmark {

namespace {

// Bytes of weights and KV cache that the stage's stack passes over: an upper end of the ring.
double stage_constant_bytes(const OperatorGraph& graph, std::size_t stage) {
  double bytes = 0;
  for (const Operator& op : graph.operators) {
    bytes += as_double(op.stage_counts[stage]) * op.local_work.constant_bytes;
  }
  return bytes;
}

// A collective of ranks on devices that are named for them is one case, whichever of them asks.
void place_meeting(const OperatorGraph& graph, const Operator& op, const StackPlacement& placement,
                   KernelCase& out) {
  const std::vector<int> members =
      meeting_ranks(graph.configuration.parallel, op.split, placement.rank);
  out.device = meeting_device(placement.ranks, members);
  for (const int member : members) {
    out.parts = std::max(out.parts, placement.ranks[as_size(member)].parts);
  }
}

// Of the kernels that ranks execute at once, a node has its own. A collective whose ranks lie on
// several is measured over as many.
void spread_over_nodes(const OperatorGraph& graph, const Operator& op, int per_node, int& devices,
                       KernelCase& out) {
  devices = std::min(devices, per_node);
  if (op.kind != OperatorKind::collective) return;
  const MeetingSpread spread = meeting_spread(graph.configuration.parallel, op.split, per_node);
  if (spread.nodes == 1) return;
  out.device = device_over_nodes(out.device, spread.nodes);
  out.parts = spread.ranks / spread.nodes;
  devices = spread.ranks;
}

// `shards`: that execute it at once in a stack.
KernelCase place(const OperatorGraph& graph, const Operator& op, const Problem& problem,
                 const StackPlacement& placement, int shards, const std::string& neighbours) {
  int devices = graph.configuration.parallel.devices();
  KernelCase out;
  out.problem = problem;
  out.backend = placement.backend;
  out.device = placement.device;
  out.parts = placement.parts > 0 ? placement.parts : devices;
  if (placement.rank >= 0) {
    const int at_once = placement.ranks[as_size(placement.rank)].at_once;
    devices = std::min(devices, at_once);
    shards = std::min(shards, at_once);
    if (op.kind == OperatorKind::collective) place_meeting(graph, op, placement, out);
  }
  if (placement.per_node > 0) {
    spread_over_nodes(graph, op, placement.per_node, devices, out);
    shards = devices;
  }
  out.shards_at_once = devices;
  out.mode = placement.mode;
  out.mode = out.staging();  // as winners were found
  if (placement.winners != nullptr) out = placement.winners->with_winner(std::move(out));
  out.shards_at_once = shards;
  if (neighbours.empty()) return out;
  out.mode = CacheMode::in_stack;
  out.neighbours = neighbours;
  return out;
}

// Position of every operator's kernel in `kernels`; -1 for operators that the rank does not
// execute.
std::vector<std::int32_t> kernel_of_operator(const OperatorGraph& graph,
                                             const std::vector<StageKernel>& kernels) {
  std::vector<std::int32_t> out(graph.operators.size(), -1);
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    for (const std::int32_t op : kernels[k].operators) {
      out[as_size(op)] = static_cast<std::int32_t>(k);
    }
  }
  return out;
}

// What an operator executes on a rank, one launch each: `expert_rank` nothing = the heaviest one.
// None where the rank's experts got no row: it goes on to the next exchange. Under context
// parallelism attention is a launch for every block of the heaviest rank's queries.
std::vector<const Problem*> launches_of(const Operator& op, std::optional<int> expert_rank) {
  std::vector<const Problem*> out;
  if (!op.of_context_rank.empty()) {
    for (const Problem& block : heaviest_blocks(op.of_context_rank)) out.push_back(&block);
  } else if (!expert_rank || op.of_expert_rank.empty()) {
    out.push_back(&op.local);
  } else if (const auto& own = op.of_expert_rank[as_size(*expert_rank)]) {
    out.push_back(&*own);
  }
  return out;
}

// What stages repeat, all that are at work repeat at once; what they execute once, those of them
// that have it. Ranks of a collective are a parameter of it.
int shards_at_once(const OperatorGraph& graph, const Operator& op, bool is_repeated,
                   std::int64_t at_work) {
  const Parallel& parallel = graph.configuration.parallel;
  if (op.kind == OperatorKind::collective && !is_repeated) return parallel.devices();
  const auto having = std::ranges::count_if(op.stage_counts, [](auto n) { return n > 0; });
  const auto stages = is_repeated ? at_work : std::min<std::int64_t>(at_work, having);
  return parallel.devices() / parallel.pp * static_cast<int>(stages);
}

std::vector<StageKernel> kernels_of(const OperatorGraph& graph, const StackPlacement& placement,
                                    std::size_t stage, std::optional<int> expert_rank,
                                    std::int64_t at_work) {
  const int devices = graph.configuration.parallel.devices();
  const bool is_in_stack = placement.mode == CacheMode::in_stack;
  std::vector<std::string> neighbours(graph.operators.size());
  if (is_in_stack) neighbours = usual_neighbours(graph, stage);
  std::vector<StageKernel> out;
  std::vector<double> constant_bytes;
  for (std::size_t i = 0; i < graph.operators.size(); ++i) {
    const Operator& op = graph.operators[i];
    if (op.stage_counts[stage] == 0) continue;
    const int shards =
        is_in_stack ? shards_at_once(graph, op, !neighbours[i].empty(), at_work) : devices;
    for (const Problem* problem : launches_of(op, expert_rank)) {
      const KernelCase placed = place(graph, op, *problem, placement, shards, neighbours[i]);
      auto it = std::ranges::find_if(out, [&](const StageKernel& k) {
        return k.kernel_case.problem == *problem && k.kernel_case.neighbours == neighbours[i] &&
               k.kernel_case.shards_at_once == placed.shards_at_once &&
               k.kernel_case.device == placed.device;
      });
      if (it == out.end()) {
        it = out.insert(out.end(), {placed, 0, {}});
        constant_bytes.push_back(op.local_work.constant_bytes);
      }
      it->count += op.stage_counts[stage];
      it->operators.push_back(static_cast<std::int32_t>(i));
    }
  }
  const auto ring = static_cast<std::int64_t>(
      std::min(as_double(placement.ring_bytes), stage_constant_bytes(graph, stage)));
  for (std::size_t k = 0; k < out.size(); ++k) {
    out[k].kernel_case.sets =
        ring_sets(ring, static_cast<std::int64_t>(constant_bytes[k]), out[k].count);
  }
  return out;
}

// The steps of one stage, slot by slot.
class StageSteps {
 public:
  // `layers`: of the stage, or a part of them: what is repeated to measure them goes on through the
  // argument sets from micro-batch to micro-batch, because the other layers pass in between.
  StageSteps(const OperatorGraph& graph, const StackPlacement& placement, std::size_t stage,
             int expert_rank, const std::vector<std::int32_t>& layers)
      : graph_(graph),
        placement_(placement),
        stage_(stage),
        expert_rank_(expert_rank),
        layers_(layers),
        is_whole_(layers == graph.stage_sequence(stage)) {}

  StageStack made() {
    const auto slots = pipeline_slots(std::ssize(graph_.stages), graph_.micro_batches());
    for (const PipelineSlot& slot : slots) {
      if (slot.has(static_cast<std::int64_t>(stage_))) {
        execute(slot.stages);
      } else if (graph_.pipeline_type) {
        hand_over();
      }
    }
    return {std::move(stack_), std::move(splits_)};
  }

 private:
  // Of the stage while so many are at work.
  struct Kernels {
    std::vector<std::int32_t> of_operator;  // -1: none
    std::vector<std::int32_t> place;        // in the stack, by kernel
    std::vector<std::int32_t> arguments;    // the first place in the stack with the same ones
  };

  const Kernels& kernels(std::int64_t at_work) {
    const auto [it, is_new] = kernels_.try_emplace(at_work);
    Kernels& out = it->second;
    if (!is_new) return out;
    const auto of_stage = kernels_of(graph_, placement_, stage_, expert_rank_, at_work);
    out.of_operator = kernel_of_operator(graph_, of_stage);
    for (const StageKernel& kernel : of_stage) {
      const auto known = std::ranges::find(stack_.kernels, kernel.kernel_case);
      out.place.push_back(static_cast<std::int32_t>(known - stack_.kernels.begin()));
      if (known == stack_.kernels.end()) {
        stack_.kernels.push_back(kernel.kernel_case);
        stack_.instances.push_back(instances(of_stage, kernel));
        if (kernel.kernel_case.is_collective()) {
          const auto op = as_size(kernel.operators.front());
          splits_[out.place.back()] = graph_.operators[op].split;
        }
      }
      out.arguments.push_back(first_with_arguments(kernel.kernel_case));
    }
    return out;
  }

  std::int32_t first_with_arguments(const KernelCase& k) const {
    const auto at = std::ranges::find_if(
        stack_.kernels, [&](const KernelCase& other) { return k.shares_arguments(other); });
    return static_cast<std::int32_t>(at - stack_.kernels.begin());
  }

  // Argument sets of all kernels of the stage that share them.
  std::int64_t instances(const std::vector<StageKernel>& of_stage,
                         const StageKernel& kernel) const {
    std::int64_t out = 0;
    for (const StageKernel& other : of_stage) {
      if (!kernel.kernel_case.shares_arguments(other.kernel_case)) continue;
      out += other.count;
    }
    return has_caches(kernel) ? out * graph_.micro_batches() : out;
  }

  bool has_caches(const StageKernel& kernel) const {
    return std::ranges::any_of(kernel.operators, [&](std::int32_t op) {
      return graph_.operators[as_size(op)].kind == OperatorKind::attention;
    });
  }

  // One micro-batch.
  void execute(std::int64_t at_work) {
    const Kernels& now = kernels(at_work);
    if (is_whole_) next_.clear();
    for (const std::int32_t type : layers_) append(now, type);
    ++micro_batch_;
  }

  // A stage that is idle takes part in the shift.
  void hand_over() {
    if (is_whole_) next_.clear();
    const auto all = static_cast<std::int64_t>(graph_.stages.size());
    append(kernels(std::min(all, graph_.micro_batches())), *graph_.pipeline_type);
  }

  void append(const Kernels& now, std::int32_t type) {
    for (const std::int32_t index : graph_.layer_types[as_size(type)].operators) {
      const std::int32_t kernel = now.of_operator[as_size(index)];
      if (kernel < 0) continue;
      const Operator& op = graph_.operators[as_size(index)];
      const auto place = as_size(now.place[as_size(kernel)]);
      std::int64_t instance = next_[now.arguments[as_size(kernel)]]++;
      if (is_whole_ && op.kind == OperatorKind::attention) {
        instance += micro_batch_ * stack_.instances[place] / graph_.micro_batches();
      }
      stack_.steps.push_back({static_cast<std::int32_t>(place), static_cast<std::int32_t>(instance),
                              op.name, op.layer_type});
    }
  }

  const OperatorGraph& graph_;
  const StackPlacement& placement_;
  const std::size_t stage_;
  const int expert_rank_;
  const std::vector<std::int32_t>& layers_;
  const bool is_whole_;
  std::map<std::int64_t, Kernels> kernels_;    // by stages at work
  std::map<std::int32_t, std::int64_t> next_;  // instance, by arguments
  std::int64_t micro_batch_ = 0;
  Stack stack_;
  std::map<std::int32_t, Split> splits_;
};

}  // namespace

std::vector<StageKernel> stage_kernels(const OperatorGraph& graph, const StackPlacement& placement,
                                       std::size_t stage, std::int64_t at_work) {
  return kernels_of(graph, placement, stage, std::nullopt, at_work);
}

StageStack stage_stack(const OperatorGraph& graph, const StackPlacement& placement,
                       std::size_t stage, int expert_rank,
                       const std::vector<std::int32_t>& layers) {
  return StageSteps(graph, placement, stage, expert_rank, layers).made();
}

}  // namespace halmark
