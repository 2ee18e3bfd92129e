// What the kernels of a stack hold, against what the model counts: by hand for small models, and
// for every shipped model against the contracts of the stack's own kernels.
#include "model/pricing/stack/stack_memory.hpp"

#include "fixtures.hpp"
#include "kernels/contract.hpp"
#include "model/graph/expert_layout.hpp"
#include "model/pricing/stack/stack.hpp"

namespace halmark {
namespace {

using namespace model_test;

TEST(StackMemory, what_the_tiny_model_keeps_is_what_its_kernels_hold) {
  const StackMemory memory = stack_memory(graph_of(tiny(), decode(2, 8)), 0, 0);
  EXPECT_EQ(memory.modelled.weight_bytes, 4 * (64 + 1536) + 512 + 512 + 32);
  EXPECT_EQ(memory.table_twice_bytes, 0);
  EXPECT_EQ(memory.unread_bytes, 0);
  EXPECT_EQ(memory.idle_expert_bytes, 0);
  EXPECT_EQ(memory.beyond_window_bytes, 0);
}

TEST(StackMemory, a_tied_table_is_two_operands_where_one_stage_has_both_ends) {
  ModelSpec spec = tiny();
  spec.tied = true;
  EXPECT_EQ(stack_memory(graph_of(spec, decode(2, 8)), 0, 0).table_twice_bytes, 32 * 8 * 2);
  for (const std::size_t stage : {0, 1}) {
    EXPECT_EQ(stack_memory(graph_of(spec, decode(2, 8, {.pp = 2})), stage, 0).table_twice_bytes, 0);
  }
}

// Qwen2.5-0.5B: 24 layers, biases on 14 query heads and twice 2 KV heads of width 64, in bf16.
TEST(StackMemory, biases_are_counted_and_no_kernel_reads_them) {
  const OperatorGraph graph = graph_of("qwen2.5-0.5b", decode(1, 128));
  EXPECT_EQ(stack_memory(graph, 0, 0).unread_bytes, 24 * (14 + 2 + 2) * 64 * 2);
}

// Mistral-7B v0.1 sees 4096 tokens: 32 layers, K and V of 8 heads of width 128 in bf16.
TEST(StackMemory, kernels_get_keys_that_a_window_has_dropped) {
  const OperatorGraph graph = graph_of("mistral-7b-v0.1", decode(1, 6000));
  EXPECT_EQ(stack_memory(graph, 0, 0).beyond_window_bytes, 32ll * 2 * 8 * 128 * 2 * (6000 - 4096));
}

struct Held {
  std::int64_t weights = 0, cache = 0;
};

Held held_by(const Stack& stack) {
  Held out;
  for (std::size_t k = 0; k < stack.kernels.size(); ++k) {
    const auto own = stack.kernels.begin() + static_cast<std::ptrdiff_t>(k);
    if (std::any_of(stack.kernels.begin(), own,
                    [&](const KernelCase& other) { return own->shares_arguments(other); })) {
      continue;
    }
    const Problem problem = complete_problem(stack.kernels[k].problem);
    for (const OperandSpec& o : find_contract(problem.op)->operands(problem.params)) {
      if (o.role == Role::constant) out.weights += stack.instances[k] * o.bytes();
      if (o.role == Role::state) out.cache += stack.instances[k] * o.bytes();
    }
  }
  return out;
}

// 4 sequences in two micro-batches of 2: K and V of 2 layers, 2 heads of width 4, 8 tokens, bf16.
TEST(StackMemory, a_stage_keeps_the_caches_of_all_micro_batches) {
  const OperatorGraph graph = graph_of(tiny(), decode(4, 8, {.pp = 2}));
  constexpr std::int64_t bytes = 2 * 2 * 2 * 4 * 2 * (4 * 8);
  EXPECT_EQ(stack_memory(graph, 1, 0).modelled.kv_bytes, bytes);
  EXPECT_EQ(held_by(build_stacks(graph, {.backend = "cpu"})[1]).cache, bytes);
}

bool is_measurable(const OperatorGraph& graph) {
  return std::ranges::all_of(graph.operators, [](const Operator& op) {
    return find_contract(op.local.op)->is_measurable();
  });
}

// Gives how many ranks were compared.
int compare(const ModelSpec& spec, const Configuration& configuration, CacheMode mode) {
  const auto built = build_graph(spec, configuration);
  if (built.why() != nullptr || !is_measurable(*built)) return 0;
  const OperatorGraph& graph = *built;
  const Parallel& parallel = graph.configuration.parallel;
  const ExpertLayout layout = expert_layout(parallel);
  const StackPlacement placement{.backend = "cpu", .mode = mode};
  const std::vector<Stack> stacks = build_stacks(graph, placement);
  for (std::size_t rank = 0; rank < stacks.size(); ++rank) {
    const int tensor = static_cast<int>(rank) % parallel.tp;
    const auto stage = static_cast<int>(rank) / parallel.tp % parallel.pp;
    const int replica = static_cast<int>(rank) / parallel.tp / parallel.pp;
    const StackMemory m =
        stack_memory(graph, static_cast<std::size_t>(stage), layout.rank(replica, tensor));
    const Held held = held_by(stacks[rank]);
    EXPECT_EQ(held.weights,
              m.modelled.weight_bytes + m.table_twice_bytes - m.unread_bytes - m.idle_expert_bytes)
        << spec.id << ' ' << configuration.key() << " rank " << rank;
    EXPECT_EQ(held.cache, m.modelled.kv_bytes + m.beyond_window_bytes)
        << spec.id << ' ' << configuration.key() << " rank " << rank;
  }
  return static_cast<int>(stacks.size());
}

// A stage of one layer repeats nothing: its kernels are in loops, with rings of other sizes while
// the other stage waits, and hold their weights once all the same.
TEST(StackMemory, a_stage_of_one_layer_holds_its_weights_once) {
  ASSERT_EQ(tiny().layers, 4);
  EXPECT_EQ(compare(tiny(), decode(4, 8, {.pp = 4}), CacheMode::in_stack), 4);
}

TEST(StackMemory, every_shipped_model_and_split_is_explained_to_the_byte) {
  int ranks = 0;
  for (const std::string& id : shipped_ids()) {
    const ModelSpec spec = shipped(id);
    for (const Precision& precision : {bf16(), f32(), int8()}) {
      for (const Parallel& parallel :
           {Parallel{}, Parallel{.tp = 2}, Parallel{.pp = 2}, Parallel{.tp = 2, .pp = 2},
            Parallel{.dp = 2}, Parallel{.tp = 2, .ep = 2}, Parallel{.dp = 2, .ep = 2}}) {
        ranks += compare(spec, decode(4, 5000, parallel, precision), CacheMode::in_stack);
        ranks += compare(spec, prefill(4, 64, 64, parallel, precision), CacheMode::rotate_const);
      }
    }
  }
  EXPECT_GT(ranks, 500);
}

}  // namespace
}  // namespace halmark
