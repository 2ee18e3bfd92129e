#include "profile/kernels/layer_time.hpp"

#include <gmock/gmock.h>

#include "fixtures.hpp"
#include "tests/unit/error_of.hpp"

namespace halmark {
namespace {

using testing::HasSubstr;
using namespace model_test;

Device h20() {
  return {.id = "h20",
          .peaks = {{.path = "bf16_matrix", .dtype = Dtype::bf16, .flops_per_s = 148e12}}};
}

TEST(LayerTime, a_layer_has_its_own_flops_and_its_own_time) {
  const OperatorGraph graph =
      graph_of(shipped("qwen3-235b-a22b"), prefill(1, 8192, 8192, {.tp = 8}));
  const auto uses = layer_uses(parse_layer_ms("9.0", graph), graph, h20(), {});
  ASSERT_EQ(uses.size(), 1u);
  EXPECT_EQ(uses[0].layers, 94);
  // The worked example's operators of one layer, added.
  EXPECT_EQ(uses[0].matmul_flops, 549'755'813'888.0 + 68'719'476'736.0 + 2 * 549'822'922'752.0 +
                                      549'755'813'888.0 + 8'589'934'592.0 + 2'473'901'162'496.0);
  EXPECT_NEAR(uses[0].mfu.value(), uses[0].matmul_flops / (8 * 148e12) / 9e-3, 1e-12);
  // kv_proj on pairs of ranks and the router on all.
  EXPECT_EQ(uses[0].matmul_flops_per_rank, (3 * 549'755'813'888.0 - 549'755'813'888.0 +
                                            2 * 549'822'922'752.0 + 2'473'901'162'496.0) /
                                                   8 +
                                               68'719'476'736.0 / 4 + 8'589'934'592.0);
  EXPECT_NEAR(uses[0].executed.value(), uses[0].matmul_flops_per_rank / 148e12 / 9e-3, 1e-12);
}

TEST(LayerTime, types_of_layers_have_times_of_their_own) {
  const OperatorGraph graph = graph_of(shipped("glm-4.5-air"), decode(4, 128));
  const auto uses =
      layer_uses(parse_layer_ms("decoder=0.5,decoder_moe=0.7", graph), graph, h20(), {});
  ASSERT_EQ(uses.size(), 2u);
  EXPECT_EQ(uses[0].layers + uses[1].layers, graph.spec.layers);
  EXPECT_NE(uses[0].matmul_flops, uses[1].matmul_flops);
  EXPECT_EQ(uses[1].time.ns, 0.7e6);
}

TEST(LayerTime, a_micro_batch_is_a_share_of_the_batch) {
  const auto at = [](std::int64_t batch, Parallel parallel) {
    const OperatorGraph graph = graph_of(tiny(), decode(batch, 16, parallel));
    return layer_uses(parse_layer_ms("1", graph), graph, h20(), {}).at(0);
  };
  EXPECT_EQ(at(8, {.dp = 2, .pp = 2}).matmul_flops, at(2, {}).matmul_flops);
  EXPECT_EQ(at(8, {.dp = 2, .pp = 2}).mfu, at(2, {}).mfu);
}

TEST(LayerTime, times_that_make_no_sense_are_refused) {
  const OperatorGraph one = graph_of(tiny(), decode(1, 4));
  const OperatorGraph two = graph_of(shipped("glm-4.5-air"), decode(1, 4));
  const auto refusal = [](std::string_view text, const OperatorGraph& graph) {
    return test::error_of([&] { parse_layer_ms(text, graph); }).line();
  };
  for (const char* text : {"", "0", "-1", "x", "nan", "inf", "1ms", "1e99"}) {
    EXPECT_THAT(refusal(text, one), HasSubstr("is no time")) << text;
  }
  EXPECT_THAT(refusal("1", two), HasSubstr("write decoder=MS,decoder_moe=MS"));
  EXPECT_THAT(refusal("decodr=1", one), HasSubstr("did you mean 'decoder'"));
  EXPECT_THAT(refusal("head=1", one), HasSubstr("unknown layer type 'head'"));
  EXPECT_THAT(refusal("decoder=1,decoder=2", one), HasSubstr("two times"));
  EXPECT_THAT(refusal("decoder=1,2", one), HasSubstr("no TYPE=MS"));
}

TEST(LayerTime, without_a_device_there_is_no_utilisation) {
  const OperatorGraph graph = graph_of(tiny(), decode(1, 4));
  const LayerUse use = layer_uses({{"decoder", 1e6}}, graph, std::nullopt, {}).at(0);
  EXPECT_FALSE(use.mfu);
  EXPECT_EQ(use.reason, "no device named (--device)");
  EXPECT_GT(use.matmul_flops, 0);
}

}  // namespace
}  // namespace halmark
