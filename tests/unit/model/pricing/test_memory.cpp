#include "model/pricing/memory.hpp"

#include "fixtures.hpp"
#include "model/pricing/memory_text.hpp"

namespace halmark {
namespace {

using namespace model_test;

MemoryUse use_of(const ModelSpec& spec, const Configuration& configuration) {
  return memory_use(graph_of(spec, configuration));
}

// Insights into DeepSeek-V3 (2505.09343), table of KV cache per token in BF16.
TEST(Memory, kv_bytes_per_token_equal_the_published_rows) {
  EXPECT_EQ(use_of(shipped("qwen2.5-72b"), decode(1, 1)).kv_bytes_per_token, 327'680);
  EXPECT_EQ(use_of(shipped("llama-3.1-405b"), decode(1, 1)).kv_bytes_per_token, 516'096);
}

// Per layer: norms 2 x 8 f32 = 64 B; q 128, kv 128, o 128, gate and up 256, down 128 weights of 2 B
// = 1536 B. Embedding and head 256 weights of 2 B each; the final norm 32 B.
TEST(Memory, weights_of_the_tiny_model_by_hand) {
  const MemoryUse use = use_of(tiny(), decode(2, 8));
  EXPECT_EQ(use.largest.weight_bytes, 4 * (64 + 1536) + 512 + 512 + 32);
  EXPECT_EQ(use.weight_bytes_total, use.largest.weight_bytes);
  EXPECT_EQ(use.largest.kv_bytes, 4 * 2 * 2 * 4 * 2 * (2 * 8));  // layers K+V heads width bytes
  EXPECT_GT(use.largest.activation_bytes, 0);
}

TEST(Memory, tensor_parallel_splits_weights_but_not_norms) {
  const MemoryUse use = use_of(tiny(), decode(2, 8, {.tp = 2}));
  EXPECT_EQ(use.largest.weight_bytes, 4 * (64 + 768) + 256 + 256 + 32);
  EXPECT_EQ(use.largest.kv_bytes, 1024);
  EXPECT_EQ(use.weight_bytes_total, 2 * use.largest.weight_bytes);
  // Beyond the KV heads the cache is replicated.
  EXPECT_EQ(use_of(tiny(), decode(2, 8, {.tp = 4})).largest.kv_bytes, 1024);
}

TEST(Memory, pipeline_stages_hold_their_layers_and_every_micro_batch) {
  const MemoryUse use = use_of(tiny(), decode(2, 8, {.pp = 2}));
  ASSERT_EQ(use.stages.size(), 2u);
  EXPECT_EQ(use.stages[0].weight_bytes, 2 * 1600 + 512);
  EXPECT_EQ(use.stages[1].weight_bytes, 2 * 1600 + 512 + 32);
  EXPECT_EQ(use.stages[0].kv_bytes, 1024);  // both micro-batches live
  EXPECT_EQ(use.stages[1].kv_bytes, 1024);
}

TEST(Memory, replicas_hold_whole_weights_and_their_part_of_the_cache) {
  const MemoryUse one = use_of(tiny(), decode(4, 8));
  const MemoryUse two = use_of(tiny(), decode(4, 8, {.dp = 2}));
  EXPECT_EQ(two.largest.weight_bytes, one.largest.weight_bytes);
  EXPECT_EQ(two.weight_bytes_total, 2 * one.weight_bytes_total);
  EXPECT_EQ(two.largest.kv_bytes * 2, one.largest.kv_bytes);
  EXPECT_EQ(two.kv_bytes_total, one.kv_bytes_total);
}

TEST(Memory, a_tied_table_is_held_once_where_both_ends_meet) {
  ModelSpec tied = tiny();
  tied.tied = true;
  const auto saved = [&](const Configuration& d) {
    return use_of(tiny(), d).weight_bytes_total - use_of(tied, d).weight_bytes_total;
  };
  EXPECT_EQ(saved(decode(2, 8)), 512);
  EXPECT_EQ(saved(decode(2, 8, {.pp = 2})), 0);   // the ends are on different ranks
  EXPECT_EQ(saved(decode(2, 8, {}, int8())), 0);  // the head is stored as int8
}

TEST(Memory, a_window_keeps_no_more_than_its_tokens) {
  ModelSpec spec = tiny();
  spec.windows = {4, 0, 4, 0};
  const std::int64_t row = 2 * 2 * 4 * 2;
  EXPECT_EQ(use_of(spec, decode(1, 100)).largest.kv_bytes, row * (4 + 100 + 4 + 100));
  EXPECT_EQ(use_of(spec, decode(1, 3)).largest.kv_bytes, row * 4 * 3);
}

TEST(Memory, int8_weights_take_a_byte_and_their_scales) {
  const MemoryUse use = use_of(tiny(), decode(1, 8, {}, int8()));
  // Scales: one f32 per output column: q 16, kv 16, o 8, gate and up 32, down 8; head 32.
  const std::int64_t layer = 64 + 768 + 4 * (16 + 16 + 8 + 32 + 8);
  EXPECT_EQ(use.largest.weight_bytes, 4 * layer + 512 + (256 + 4 * 32) + 32);
}

TEST(Memory, activations_grow_with_the_tokens_in_flight) {
  const auto activations = [](const Configuration& d) {
    return use_of(tiny(), d).largest.activation_bytes;
  };
  EXPECT_GT(activations(prefill(2, 16, 16)), activations(prefill(1, 16, 16)));
  EXPECT_GT(activations(prefill(1, 16, 16)), activations(decode(1, 16)));
}

TEST(Memory, what_does_not_fit_says_how_many_bytes_are_missing) {
  const MemoryUse use = use_of(tiny(), decode(2, 8));
  const std::int64_t needed = use.largest.total();
  EXPECT_FALSE(memory_shortfall(use, needed));
  EXPECT_FALSE(check_memory(use, needed));
  EXPECT_EQ(memory_shortfall(use, needed - 7), 7);
  const auto refusal = check_memory(use, needed - 7);
  ASSERT_TRUE(refusal);
  EXPECT_EQ(refusal->reason, "out_of_memory");
  says(refusal->text, "short by 7 B");
}

TEST(Memory, sizes_in_reasons_have_units_and_keep_what_tells_two_apart) {
  EXPECT_EQ(memory_shortage_text(5LL << 29, 1LL << 30),
            "a rank needs 2.5 GiB and 1 GiB may be used: short by 1.5 GiB");
  EXPECT_EQ(memory_size_text(1023), "1023 B");
  EXPECT_EQ(memory_size_text(115443122176), "107.5 GiB");  // 115443122176 / 2^30 = 107.515
}

}  // namespace
}  // namespace halmark
