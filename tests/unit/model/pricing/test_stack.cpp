

#include "core/numeric/cast.hpp"
#include "fixtures.hpp"
#include "kernels/contract.hpp"
#include "model/graph/expert_layout.hpp"
#include "model/pricing/stack/stack.hpp"
#include "model/pricing/stack/stack_memory.hpp"

namespace halmark {
namespace {

using namespace model_test;

constexpr std::int64_t unlimited = std::int64_t{1} << 40;

StackPlacement cpu(std::int64_t ring_bytes = unlimited) {
  return {.backend = "cpu", .ring_bytes = ring_bytes};
}

std::vector<Stack> stacks_of(const Configuration& c, std::int64_t ring_bytes = unlimited) {
  return build_stacks(graph_of(tiny(), c), cpu(ring_bytes));
}

const KernelCase& case_of(const Stack& stack, std::string_view operator_name) {
  for (const StackStep& step : stack.steps) {
    if (step.operator_name == operator_name) {
      return stack.kernels[as_size(step.kernel)];
    }
  }
  throw std::runtime_error("no step " + std::string(operator_name));
}

TEST(Stack, executes_every_operator_as_often_as_the_graph_counts) {
  const OperatorGraph graph = graph_of(tiny(), decode(2, 8));
  const std::vector<Stack> stacks = build_stacks(graph, cpu());
  ASSERT_EQ(stacks.size(), 1u);
  std::map<std::string, std::int64_t> executed;
  for (const StackStep& step : stacks[0].steps) ++executed[step.operator_name];
  for (const Operator& op : graph.operators) EXPECT_EQ(executed[op.name], op.count) << op.name;
  EXPECT_EQ(stacks[0].steps.size(), 1u + 4 * 13 + 2);
  EXPECT_EQ(stacks[0].steps.front().operator_name, "embedding");
  EXPECT_EQ(stacks[0].steps.back().operator_name, "lm_head");
}

TEST(Stack, no_two_steps_share_an_instance_of_a_kernel) {
  const Stack stack = stacks_of(decode(2, 8)).front();
  std::set<std::pair<std::int32_t, std::int32_t>> seen;
  for (const StackStep& step : stack.steps) {
    EXPECT_TRUE(seen.emplace(step.kernel, step.instance).second) << step.operator_name;
    EXPECT_LT(step.instance, stack.instances[as_size(step.kernel)]);
  }
  std::int64_t instances = 0;
  for (const std::int64_t n : stack.instances) instances += n;
  EXPECT_EQ(instances, static_cast<std::int64_t>(stack.steps.size()));
}

TEST(Stack, layer_l_uses_instance_l_of_its_attention) {
  const Stack stack = stacks_of(decode(2, 8)).front();
  std::vector<std::int32_t> instances;
  for (const StackStep& step : stack.steps) {
    if (step.operator_name == "attention") instances.push_back(step.instance);
  }
  EXPECT_THAT(instances, ElementsAre(0, 1, 2, 3));
}

TEST(Stack, equal_problems_are_one_kernel) {
  const Stack stack = stacks_of(decode(2, 8)).front();
  EXPECT_EQ(case_of(stack, "input_norm"), case_of(stack, "final_norm"));
  EXPECT_EQ(case_of(stack, "q_proj"), case_of(stack, "kv_proj"));  // both 16 columns here
  EXPECT_NE(case_of(stack, "q_proj"), case_of(stack, "gate_up_proj"));
  std::set<KernelCase> unique(stack.kernels.begin(), stack.kernels.end());
  EXPECT_EQ(unique.size(), stack.kernels.size());
}

// The norm has 9 instances of 32 constant bytes; q and kv share 8 instances of 256 bytes.
TEST(Stack, the_ring_covers_its_bytes_and_never_more_than_the_instances) {
  for (const auto& [ring_bytes, name, sets] :
       {std::tuple{std::int64_t{256}, "input_norm", 8},
        {256, "q_proj", 1},
        {257, "q_proj", 2},
        {unlimited, "input_norm", 9},
        {unlimited, "q_proj", 8},
        {unlimited, "ffn_residual_add", 1}}) {  // nothing constant to rotate
    EXPECT_EQ(case_of(stacks_of(decode(2, 8), ring_bytes).front(), name).sets, sets) << name;
  }
}

TEST(Stack, shards_of_a_cpu_are_equal_cuts_that_run_at_once) {
  const OperatorGraph graph = graph_of(tiny(), decode(4, 8, {.dp = 2, .tp = 2}));
  const KernelCase kernel = case_of(build_stacks(graph, cpu()).front(), "q_proj");
  EXPECT_EQ(kernel.parts, 4);
  EXPECT_EQ(kernel.shards_at_once, 4);
  EXPECT_EQ(kernel.backend, "cpu");
  StackPlacement discrete = cpu();
  discrete.parts = 1;
  EXPECT_EQ(case_of(build_stacks(graph, discrete).front(), "q_proj").parts, 1);
}

TEST(Stack, collectives_carry_their_ranks) {
  const KernelCase reduce =
      case_of(stacks_of(decode(4, 8, {.dp = 2, .tp = 2})).front(), "ffn_all_reduce");
  EXPECT_TRUE(reduce.is_collective());
  EXPECT_EQ(reduce.problem.params.at("ranks"), 2);  // the tensor group, not the deployment
  EXPECT_EQ(reduce.shards_at_once, 4);
}

TEST(Stack, ranks_are_ordered_by_replica_then_stage_then_tensor_rank) {
  const std::vector<Stack> stacks = stacks_of(decode(8, 8, {.dp = 2, .tp = 2, .pp = 2}));
  ASSERT_EQ(stacks.size(), 8u);
  for (std::size_t rank = 0; rank < stacks.size(); ++rank) {
    const bool is_first_stage = rank / 2 % 2 == 0;
    EXPECT_EQ(stacks[rank].steps.front().operator_name,
              is_first_stage ? "embedding" : "stage_send_recv");  // the second one waits
    EXPECT_EQ(stacks[rank].steps[1].operator_name,
              is_first_stage ? "embedding_all_reduce" : "input_norm");
    EXPECT_EQ(stacks[rank].steps.back().operator_name, "stage_send_recv");
  }
}

TEST(Stack, ranks_of_a_tensor_group_execute_the_same_collectives_in_the_same_order) {
  const std::vector<Stack> stacks = stacks_of(decode(4, 8, {.tp = 2, .pp = 2}));
  const auto collectives = [](const Stack& stack) {
    std::vector<Problem> out;
    for (const StackStep& step : stack.steps) {
      const KernelCase& kernel = stack.kernels[as_size(step.kernel)];
      if (kernel.is_collective()) out.push_back(kernel.problem);
    }
    return out;
  };
  EXPECT_EQ(collectives(stacks[0]), collectives(stacks[1]));
  EXPECT_EQ(collectives(stacks[2]), collectives(stacks[3]));
  EXPECT_NE(collectives(stacks[0]), collectives(stacks[2]));  // embedding against logits
}

// What the kernels of a stack hold, against what the model counts: by hand for small models, and
// for every shipped model against the contracts of the stack's own kernels.

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
    const StackMemory m = stack_memory(graph, as_size(stage), layout.rank(replica, tensor));
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
