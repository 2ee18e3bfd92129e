// Linears in f8: 16-bit activations are quantised by block before them, and nothing follows them.

#include "fixtures.hpp"
#include "model/pricing/memory.hpp"
#include "model/pricing/stack/stack.hpp"

namespace halmark {
namespace {

using namespace model_test;

TEST(Fp8, linears_read_blocks_and_write_16_bits) {
  const OperatorGraph graph = graph_of(tiny(), decode(2, 8, {}, fp8()));
  EXPECT_EQ(find_operator(graph, "q_proj").dtype, Dtype::f8_e4m3fn);
  EXPECT_EQ(find_operator(graph, "q_proj").local.params.dtype("dst_dtype"), Dtype::bf16);
  EXPECT_EQ(find_operator(graph, "qkv_quantize").local.op, "block_quantize");
  EXPECT_FALSE(has_operator(graph, "q_proj_dequantize"));
  EXPECT_EQ(find_operator(graph, "attention").dtype, Dtype::bf16);
  EXPECT_EQ(find_operator(graph, "lm_head").dtype, Dtype::bf16);
}

TEST(Fp8, experts_are_quantised_and_their_router_is_not) {
  const OperatorGraph graph = graph_of(tiny_moe(), decode(2, 8, {}, fp8()));
  EXPECT_EQ(find_operator(graph, "expert_gate_up").dtype, Dtype::f8_e4m3fn);
  EXPECT_EQ(find_operator(graph, "expert_down_quantize").local.op, "block_quantize");
  EXPECT_EQ(find_operator(graph, "router").dtype, Dtype::bf16);
}

// A byte per weight and 4 bytes per block of 128 x 128; see test_memory.cpp for the sizes.
TEST(Fp8, weights_take_a_byte_and_a_scale_per_block) {
  const MemoryUse use = memory_use(graph_of(tiny(), decode(2, 8, {}, fp8())));
  const std::int64_t layer = 64 + 768 + 5 * 4;
  EXPECT_EQ(use.largest.weight_bytes, 4 * layer + 512 + 512 + 32);
}

TEST(Fp8, a_model_with_priced_operators_is_not_measured) {
  EXPECT_NO_THROW(require_measurable(graph_of(tiny(), decode(2, 8))));
  const Error error =
      test::error_of([] { require_measurable(graph_of(tiny(), decode(2, 8, {}, fp8()))); });
  EXPECT_EQ(error.exit_code(), ExitCode::refused);
  says(error.line(), "op block_quantize has a formula and no reference yet");
}

}  // namespace
}  // namespace halmark
