#include "model/pricing/stack/stack.hpp"

#include "fixtures.hpp"

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
      return stack.kernels[static_cast<std::size_t>(step.kernel)];
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
    EXPECT_LT(step.instance, stack.instances[static_cast<std::size_t>(step.kernel)]);
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
      const KernelCase& kernel = stack.kernels[static_cast<std::size_t>(step.kernel)];
      if (kernel.is_collective()) out.push_back(kernel.problem);
    }
    return out;
  };
  EXPECT_EQ(collectives(stacks[0]), collectives(stacks[1]));
  EXPECT_EQ(collectives(stacks[2]), collectives(stacks[3]));
  EXPECT_NE(collectives(stacks[0]), collectives(stacks[2]));  // embedding against logits
}

}  // namespace
}  // namespace halmark
