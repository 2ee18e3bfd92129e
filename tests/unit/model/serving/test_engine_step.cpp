// An engine around one step, by hand.
#include "model/serving/engine_step.hpp"

#include "fixtures.hpp"

namespace halmark::model_test {
namespace {

StepEngine engine(double device_scale) {
  return {.name = "e",
          .release = {},
          .source = {},
          .terms = {.device_scale = device_scale,
                    .step_ns = 1000,
                    .sequence_ns = 100,
                    .token_ns = 10,
                    .arrival_ns = 1e9},
          .decode = {0.5, 3}};
}

// 8 sequences of two replicas with two stages: a batch of its own for each of 4.
TEST(StepInAnEngine, has_the_host_of_one_batch_beside_its_kernels) {
  const OperatorGraph graph = *build_graph(tiny(), decode(8, 64, {.dp = 2, .pp = 2}));
  const KernelTime kernels{
      .ns = 5000, .low_ns = 4000, .high_ns = 7000, .lower_bound_ns = 1000, .is_known = true};
  const KernelTime whole = in_engine(engine(0.8), graph, kernels);
  EXPECT_DOUBLE_EQ(whole.ns, 0.8 * 5000 + 1000 + 2 * 100);
  EXPECT_DOUBLE_EQ(whole.low_ns, 0.5 * whole.ns) << "its own ratios are wider";
  EXPECT_DOUBLE_EQ(whole.high_ns, 3 * whole.ns);
  const EngineShare share = engine_share(engine(0.8), graph, kernels);
  EXPECT_DOUBLE_EQ(share.device_factor * kernels.ns + share.host_ns, whole.ns);
}

// 4 prompts of 16 tokens in one batch.
TEST(StepInAnEngine, reads_prompts_token_by_token) {
  const OperatorGraph graph = *build_graph(tiny(), prefill(4, 16, 16));
  const KernelTime kernels{.ns = 5000, .low_ns = 4000, .high_ns = 7000, .is_known = true};
  const double host = 1000 + 4 * 100 + 4 * 16 * 10;
  const KernelTime whole = in_engine(engine(1), graph, kernels);
  EXPECT_DOUBLE_EQ(whole.ns, 5000 + host);
  EXPECT_DOUBLE_EQ(whole.low_ns, 4000 + host);
  EXPECT_DOUBLE_EQ(whole.high_ns, 7000 + host);
}

TEST(StepInAnEngine, has_no_kernels_below_their_bound) {
  const OperatorGraph graph = *build_graph(tiny(), decode(1, 64));
  const KernelTime kernels{
      .ns = 5000, .low_ns = 4500, .high_ns = 7000, .lower_bound_ns = 4800, .is_known = true};
  EXPECT_DOUBLE_EQ(in_engine(engine(0.5), graph, kernels).ns, 4800 + 1000 + 100);
}

}  // namespace
}  // namespace halmark::model_test
