#include <gtest/gtest.h>

#include "tests/unit/kernels/table_reader.hpp"

namespace halmark::testing {
namespace {

Work work(const std::string& name, const std::string& params) {
  return op(name).work(completed(name, written(params)));
}

// Qwen3-0.6B q_proj at 512 tokens: 1024 -> 2048, bf16.
TEST(Work, gemm_counts_multiply_and_add_and_each_operand_once) {
  const auto w = work("gemm", "m=512 n=2048 k=1024 src_dtype=bf16 wei_dtype=bf16 dst_dtype=bf16");
  EXPECT_EQ(w.matmul_flops, 2147483648.0);
  EXPECT_EQ(w.bytes_read, 1048576.0 + 4194304.0);
  EXPECT_EQ(w.bytes_written, 2097152.0);
  EXPECT_EQ(w.constant_bytes, 4194304.0);
  EXPECT_EQ(w.vector_flops, 0);
  EXPECT_EQ(w.compute_dtype, Dtype::bf16);
}

TEST(Work, int8_gemm_writes_four_bytes_per_result) {
  const auto w = work("gemm", "m=3 n=5 k=7 src_dtype=s8 wei_dtype=s8 dst_dtype=s32");
  EXPECT_EQ(w.matmul_flops, 210);
  EXPECT_EQ(w.bytes(), 21 + 35 + 60);
  EXPECT_EQ(w.compute_dtype, Dtype::s8);
}

Work attention(std::int64_t batch, std::int64_t new_tokens, std::int64_t context,
               std::int64_t causal, std::int64_t window) {
  return op("attention")
      .work(written("heads=16 kv_heads=8 head_dim=128 q_dtype=bf16 kv_dtype=bf16 dst_dtype=bf16 "
                    "batch=? new_tokens=? context=? causal=? window=?",
                    batch, new_tokens, context, causal, window));
}

// Pairs by counting visible (query, key) pairs one at a time.
double counted_pairs(std::int64_t s, std::int64_t context, bool causal, std::int64_t window) {
  double pairs = 0;
  for (std::int64_t i = 0; i < s; ++i) {
    const auto position = context - s + i;
    for (std::int64_t j = 0; j < context; ++j) {
      pairs += !causal || (j <= position && (window == 0 || position - j < window));
    }
  }
  return pairs;
}

TEST(Work, attention_counts_the_pairs_of_its_mask) {
  struct Case {
    std::int64_t s, context, causal, window;
  };
  for (const auto& c : {Case{1, 1024, 1, 0},
                        {512, 512, 1, 0},
                        {64, 300, 1, 0},
                        {33, 70, 0, 0},
                        {64, 300, 1, 128},
                        {100, 100, 1, 16},
                        {1, 50, 1, 64},
                        {20, 40, 1, 30}}) {
    const auto w = attention(2, c.s, c.context, c.causal, c.window);
    const double pairs = counted_pairs(c.s, c.context, c.causal != 0, c.window);
    EXPECT_EQ(w.matmul_flops, 4.0 * 16 * 128 * 2 * pairs) << c.s << " " << c.window;
    EXPECT_EQ(w.vector_flops, 5.0 * 16 * 2 * pairs);
  }
}

TEST(Work, of_an_activation_is_counted_per_element_by_its_kind) {
  const double of_kind[] = {1, 8, 4, 2};  // relu, gelu, silu, relu squared
  for (std::int64_t kind = 0; kind < 4; ++kind) {
    const auto w = work("activation",
                        "rows=3 cols=5 src_dtype=f32 dst_dtype=f32 kind=" + std::to_string(kind));
    EXPECT_EQ(w.vector_flops, 15 * of_kind[kind]);
  }
}

// Decode of 8 sequences at context 1024: q and dst 8*16*128, k and v 8*8*1024*128, 2 bytes each.
TEST(Work, decode_attention_reads_each_cached_key_once) {
  const auto w = attention(8, 1, 1024, 1, 0);
  EXPECT_EQ(w.bytes_written, 32768);
  EXPECT_EQ(w.constant_bytes, 33554432);
  EXPECT_EQ(w.bytes_read, 33554432 + 32768);
}

TEST(Work, a_window_limits_the_keys_that_are_read) {
  // 4 queries at positions 96..99 with window 10 see keys 87..99: 13 keys.
  EXPECT_EQ(attention(1, 4, 100, 1, 10).constant_bytes, 2.0 * 13 * 8 * 128 * 2);
}

TEST(Work, element_wise_ops_have_no_matmul_flops) {
  const std::string rows = "rows=10 cols=100 src_dtype=bf16 dst_dtype=bf16",
                    silu = rows + " kind=0";
  struct Want {
    std::string name, params;
    double vector_flops, read, written;
  };
  const Want wants[] = {
      {"rmsnorm", rows, 4000, 2000 + 400, 2000},
      {"layernorm", rows, 7000, 2000 + 800, 2000},
      {"residual_add", rows, 1000, 4000, 2000},
      {"softmax", rows, 5000, 2000, 2000},
      {"gated_activation", silu, 4000, 4000, 2000},
      {"activation", silu, 1000, 2000, 2000},
      {"quantize", "rows=10 cols=100 src_dtype=bf16", 2000, 2000, 1000 + 40},
      {"dequantize", "rows=10 cols=100 dst_dtype=bf16", 2000, 4000 + 40 + 400, 2000},
      {"embedding", "rows=10 vocab=5000 hidden=100 src_dtype=bf16 dst_dtype=bf16", 0, 40 + 2000,
       2000},
      {"rope", "rows=10 heads=2 head_dim=50 rotary_dim=20 src_dtype=bf16 dst_dtype=bf16",
       3.0 * 10 * 2 * 20, 2000 + 2 * 10 * 10 * 4, 2000},
      {"copy", "bytes=777", 0, 777, 777},
      {"fma", "lanes=16 iterations=1000 dtype=f32", 32000, 64, 64},
  };
  for (const auto& want : wants) {
    const auto w = work(want.name, want.params);
    EXPECT_EQ(w.matmul_flops, 0) << want.name;
    EXPECT_EQ(w.vector_flops, want.vector_flops) << want.name;
    EXPECT_EQ(w.bytes_read, want.read) << want.name;
    EXPECT_EQ(w.bytes_written, want.written) << want.name;
  }
}

}  // namespace
}  // namespace halmark::testing
