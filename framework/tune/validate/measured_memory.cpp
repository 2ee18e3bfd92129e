// Every cause is computed from the graph, from contracts and from the number of argument sets, and
// none as what is left: what a worker or a plugin did otherwise stays unexplained. Activations
// excepted: what a runtime would reuse is the model's estimate, so one cause is all of the
// difference.
#include "tune/validate/measured_memory.hpp"

#include "core/lists.hpp"
#include "kernels/contract.hpp"
#include "model/graph/expert_layout.hpp"
#include "model/pricing/stack/stack_memory.hpp"

namespace halmark::tune {
namespace {

using Buffers = RankStaging::Buffers;

// Sums of one role over the kernels of a stack.
struct RoleSum {
  std::int64_t allocated = 0;
  std::int64_t once = 0;         // each operand of each kernel, one buffer
  std::int64_t more_sets = 0;    // further buffers of them
  std::int64_t fewer_sets = 0;   // argument sets that instances share; negative
  std::int64_t packed = 0;       // as the plugin lays constants out, beyond the contract
  std::int64_t compiled_in = 0;  // constants without a buffer; negative
  std::int64_t around = 0;       // canaries, alignment, whole pages
};

class RankSum {
 public:
  void add(const RankStaging::Kernel& kernel) {
    const OpContract& contract = *find_contract(kernel.problem.op);
    const std::vector<OperandSpec> specs = contract.operands(kernel.problem.params);
    for (const Buffers& entry : kernel.memory) {
      if (entry.operand == Buffers::workspace) {
        add_workspace(kernel, entry);
      } else if (entry.operand >= 0 && as_size(entry.operand) < specs.size()) {
        add_operand(kernel, contract, specs[as_size(entry.operand)], entry);
      }
    }
  }

  RoleSum weights, cache, activations, collectives, workspace;

 private:
  void add_workspace(const RankStaging::Kernel& kernel, const Buffers& entry) {
    workspace.allocated += entry.allocated_bytes;
    workspace.once += kernel.workspace_bytes;
    workspace.around += entry.around_bytes;
  }

  void add_operand(const RankStaging::Kernel& kernel, const OpContract& contract,
                   const OperandSpec& spec, const Buffers& entry) {
    switch (spec.role) {
      case Role::constant:
        return add_kept(kernel, spec, entry, weights);
      case Role::state:
      case Role::in_out:
        return add_kept(kernel, spec, entry, cache);
      case Role::input:
      case Role::output:
        return add_passing(spec, entry, contract.is_collective() ? collectives : activations);
    }
  }

  // One per argument set, and a set per instance while memory lasts.
  static void add_kept(const RankStaging::Kernel& kernel, const OperandSpec& spec,
                       const Buffers& entry, RoleSum& sum) {
    const std::int64_t sets = kernel.sets;
    sum.allocated += entry.allocated_bytes;
    sum.once += kernel.instances * spec.bytes();
    sum.fewer_sets += (sets - kernel.instances) * spec.bytes();
    if (entry.bytes == 0 && spec.bytes() > 0) {
      sum.compiled_in -= sets * spec.bytes();
      return;
    }
    sum.packed += sets * (entry.bytes - spec.bytes());
    sum.around += sets * entry.around_bytes;
  }

  static void add_passing(const OperandSpec& spec, const Buffers& entry, RoleSum& sum) {
    sum.allocated += entry.allocated_bytes;
    sum.once += spec.bytes();
    sum.more_sets += (entry.count - 1) * spec.bytes();
    sum.around += entry.count * entry.around_bytes;
  }
};

RoleMemory role_memory(const char* role, std::int64_t modelled, const RoleSum& sum,
                       const std::vector<MemoryCause>& causes) {
  RoleMemory out{.role = role, .modelled_bytes = modelled, .allocated_bytes = sum.allocated};
  for (const MemoryCause& cause : causes) {
    if (cause.bytes != 0) out.causes.push_back(cause);
  }
  for (const MemoryCause& cause :
       {MemoryCause{"further argument sets", sum.more_sets},
        MemoryCause{"instances that share a set, because memory ended", sum.fewer_sets},
        MemoryCause{"packed by the plugin", sum.packed},
        MemoryCause{"compiled into kernels", sum.compiled_in},
        MemoryCause{"guards and whole pages", sum.around}}) {
    if (cause.bytes != 0) out.causes.push_back(cause);
  }
  return out;
}

std::vector<RoleMemory> roles_of(const StackMemory& model, const RankSum& sum) {
  std::vector<RoleMemory> roles = {
      role_memory("weights", model.modelled.weight_bytes, sum.weights,
                  {{"tied table held twice", model.table_twice_bytes},
                   {"biases and scales that no kernel reads", -model.unread_bytes},
                   {"experts without a row", -model.idle_expert_bytes}}),
      role_memory("kv_cache", model.modelled.kv_bytes, sum.cache,
                  {{"keys outside the window", model.beyond_window_bytes}}),
      role_memory("activations", model.modelled.activation_bytes, sum.activations,
                  {{"kept per kernel, where a runtime reuses them",
                    sum.activations.once - model.modelled.activation_bytes}}),
      role_memory("collectives", 0, sum.collectives,
                  {{"source and destination of each", sum.collectives.once}}),
      role_memory("workspace", 0, sum.workspace,
                  {{"scratch memory of each kernel", sum.workspace.once}})};
  std::erase_if(roles, [](const RoleMemory& role) {
    return role.modelled_bytes == 0 && role.allocated_bytes == 0 && role.causes.empty();
  });
  return roles;
}

// Why the process cannot be set against what was staged in it.
std::string incomparable(const RankStaging& staged) {
  for (const RankStaging::Kernel& kernel : staged.kernels) {
    for (const Buffers& entry : kernel.memory) {
      if (entry.allocated_bytes > 0 && !entry.is_host) {
        return "the device has memory of its own, which the process does not map";
      }
    }
  }
  return {};
}

std::int64_t allocated_bytes(const RankStaging::Kernel& kernel) {
  std::int64_t out = 0;
  for (const Buffers& entry : kernel.memory) out += entry.allocated_bytes;
  return out;
}

void set_size(const RankStaging& staged, bool has_compiled_in, MemoryOfRank& out) {
  out.set_size_reason = incomparable(staged);
  if (out.set_size_reason.empty() && has_compiled_in) {
    out.set_size_reason = "the plugin compiles constants into its kernels and keeps them itself";
  }
  if (!out.set_size_reason.empty()) return;
  if (!staged.baseline_bytes || !staged.set_size_bytes) {
    out.set_size_reason = staged.reason;
    return;
  }
  std::int64_t expected = staged.probe_bytes;
  for (const RankStaging::Kernel& kernel : staged.kernels) expected += allocated_bytes(kernel);
  out.set_size = ProportionalSet{.baseline_bytes = *staged.baseline_bytes,
                                 .grown_bytes = *staged.set_size_bytes - *staged.baseline_bytes,
                                 .expected_bytes = expected};
}

}  // namespace

MeasuredMemory measured_memory(const OperatorGraph& graph, std::span<const RankStaging> staged) {
  const Parallel& parallel = graph.configuration.parallel;
  const ExpertLayout layout = expert_layout(parallel);
  MeasuredMemory out;
  for (std::size_t rank = 0; rank < staged.size(); ++rank) {
    const int tensor = as_int(rank) % parallel.tp;
    const int stage = as_int(rank) / parallel.tp % parallel.pp;
    const int replica = as_int(rank) / parallel.tp / parallel.pp;
    MemoryOfRank& of_rank = out.ranks.emplace_back();
    of_rank.rank = as_int(rank);
    RankSum sum;
    for (const RankStaging::Kernel& kernel : staged[rank].kernels) {
      if (kernel.instances > 0) {
        sum.add(kernel);
      } else {
        of_rank.beside_bytes += allocated_bytes(kernel);
      }
    }
    of_rank.roles =
        roles_of(stack_memory(graph, as_size(stage), layout.rank(replica, tensor)), sum);
    set_size(staged[rank], sum.weights.compiled_in != 0, of_rank);
  }
  return out;
}

}  // namespace halmark::tune
