// Training steps: which inputs make one, and what the forward pass of one is.
#include "fixtures.hpp"

namespace halmark::model_test {
namespace {

TEST(Training, needs_the_logits_of_every_position) {
  const OperatorGraph whole = graph_of(tiny(), training(2, 16));
  const OperatorGraph last = graph_of(tiny(), prefill(2, 16, 16));
  EXPECT_EQ(find_operator(whole, "lm_head").matmul_flops, 2.0 * 2 * 16 * 8 * 32);
  EXPECT_EQ(find_operator(last, "lm_head").matmul_flops, 2.0 * 2 * 8 * 32);
  EXPECT_EQ(find_operator(whole, "q_proj").matmul_flops,
            find_operator(last, "q_proj").matmul_flops);
}

TEST(Training, a_stated_micro_batch_decides_how_often_a_stage_executes) {
  const OperatorGraph g = graph_of(tiny(), training(24, 16, {.dp = 2, .tp = 1, .pp = 2}, 3));
  EXPECT_EQ(g.micro_batch(), 3);
  EXPECT_EQ(g.micro_batches(), 4);
  // Two of four layers, four micro-batches of 3 x 16 rows: q has 4 heads of width 4.
  EXPECT_EQ(find_operator(g, "q_proj").flops_per_rank, 2.0 * 4 * 2 * (3 * 16) * 8 * 16);
}

// 15,360 sequences of 4,096 tokens, as DeepSeek-V3 was trained with (2412.19437, 4.2): 63 million
// tokens, and eight times as many rows of experts. Three products per row, 58 layers of 61.
TEST(Training, of_a_mixture_has_the_global_batch_of_its_source) {
  const ModelSpec spec = shipped("deepseek-v3");
  const double tokens = 15360.0 * 4096;
  for (const Parallel& parallel : {Parallel{}, Parallel{.dp = 128, .pp = 16, .ep = 64}}) {
    const OperatorGraph g = graph_of(spec, training(15360, 4096, parallel, 1));
    double experts = 0;
    for (const Operator& op : g.operators) {
      if (op.kind == OperatorKind::experts) experts += op.matmul_flops;
    }
    EXPECT_DOUBLE_EQ(experts, 58 * 3 * 2 * tokens * 8 * 7168 * 2048) << parallel.dp;
  }
}

}  // namespace
}  // namespace halmark::model_test
