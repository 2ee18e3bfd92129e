// Ops that mix tokens and have a formula alone: counts by hand and by counting pairs.
#include <gtest/gtest.h>

#include "core/text/error.hpp"
#include "kernels/attention/pairs.hpp"
#include "kernels/contract.hpp"
#include "written.hpp"

namespace halmark {
namespace {

using test::written;

Work work_of(std::string_view op, const Params& params) {
  const Problem problem = complete_problem({std::string(op), params});
  return find_contract(op)->work(problem.params);
}

// One pair at a time: a query sees the keys of its own chunk up to itself.
TEST(ChunkedPairs, equal_the_pairs_counted_one_by_one) {
  for (const std::int64_t chunk : {1, 3, 8, 100}) {
    for (const std::int64_t context : {1, 7, 8, 9, 40}) {
      for (const std::int64_t queries : {std::int64_t{1}, (context + 1) / 2, context}) {
        double pairs = 0;
        std::int64_t first = context;
        for (std::int64_t p = context - queries; p < context; ++p) {
          for (std::int64_t key = 0; key <= p; ++key) {
            if (key / chunk != p / chunk) continue;
            pairs += 1;
            first = std::min(first, key);
          }
        }
        EXPECT_EQ(chunked_pairs(queries, context, chunk), pairs) << chunk << " " << context;
        EXPECT_EQ(chunked_keys(queries, context, chunk), context - first)
            << chunk << " " << context;
      }
    }
  }
}

// Of bf16, two sequences of eight heads over two.
Params attention(std::int64_t new_tokens, std::int64_t context, const std::string& more) {
  return written(
      "batch=2 heads=8 kv_heads=2 head_dim=192 new_tokens=? context=? q_dtype=bf16 "
      "kv_dtype=bf16 dst_dtype=bf16 " +
          more,
      new_tokens, context);
}

TEST(MaskedAttention, equals_attention_where_that_can_say_it) {
  for (const char* window : {"window=0", "window=16"}) {
    const Work a = work_of("masked_attention",
                           attention(5, 40, std::string("value_dim=192 ") + window)),
               b = work_of("attention", attention(5, 40, window));
    EXPECT_EQ(a.matmul_flops, b.matmul_flops);
    EXPECT_EQ(a.vector_flops, b.vector_flops);
    EXPECT_EQ(a.bytes_written, b.bytes_written);
    EXPECT_DOUBLE_EQ(a.bytes_read, b.bytes_read);
  }
}

// 40 pairs: scores of 192 columns, values of 128. q 8 x 192, out 8 x 128, cache 2 x 320 x 40.
TEST(MaskedAttention, values_may_be_narrower) {
  const Work work = work_of("masked_attention", attention(1, 40, "value_dim=128"));
  EXPECT_EQ(work.matmul_flops, 2.0 * 2 * 8 * 40 * (192 + 128));
  EXPECT_EQ(work.bytes_read, 2.0 * (2 * 8 * 192 + 2 * 2 * 320 * 40));
  EXPECT_EQ(work.bytes_written, 2.0 * 2 * 8 * 128);
}

TEST(MaskedAttention, refuses_two_masks_at_once) {
  EXPECT_THROW(work_of("masked_attention", attention(1, 40, "value_dim=128 window=8 chunk=8")),
               Error);
}

// Of bf16, two heads of keys of 16 and four of values of 8, unless more is said.
Work delta_rule(const std::string& more) {
  return work_of("delta_rule", written("key_heads=2 key_dim=16 value_heads=4 value_dim=8 "
                                       "src_dtype=bf16 dst_dtype=bf16 " +
                                       more));
}

TEST(DeltaRule, counts_seven_per_value_of_the_state) {
  const Work work = delta_rule("batch=3 new_tokens=5");
  EXPECT_EQ(work.matmul_flops, 7.0 * 15 * 4 * 16 * 8);
  EXPECT_EQ(work.bytes_written, 3.0 * 4 * 16 * 8 * 4 + 15 * 4 * 8 * 2);
  EXPECT_THROW(delta_rule("batch=3 new_tokens=5 key_heads=3"), Error);
}

// 11 tokens in chunks of 4: two whole ones and one of 3. Products of one chunk of n tokens and one
// head of 16 x 8, one by one.
TEST(DeltaRule, the_chunked_form_equals_its_products_counted_one_by_one) {
  const auto product = [](double m, double n, double k) { return 2 * m * n * k; };
  double expected = 0;
  for (const double n : {4, 4, 3}) {
    expected += product(n, 8, 16);      // what the keys read of the state
    expected += product(n, 8, 16);      // what the queries read of it
    expected += product(16, 8, n);      // its update
    expected += product(n, n, 16) * 2;  // K K^T and Q K^T
    expected += n * n * n / 3;          // the inverse of a triangular matrix
    expected += product(n, 16 + 8, n);  // applied to keys and values
    expected += product(n, 8, n);       // masked scores on the corrected values
  }
  const Work chunked = delta_rule("batch=3 new_tokens=11 chunk=4");
  EXPECT_DOUBLE_EQ(chunked.matmul_flops, 3 * 4 * expected);
  const Work recurrent = delta_rule("batch=3 new_tokens=11 chunk=0");
  EXPECT_EQ(recurrent.matmul_flops, 7.0 * 3 * 11 * 4 * 16 * 8);
  EXPECT_EQ(chunked.bytes(), recurrent.bytes()) << "both move the states and the tokens once";
}

// Decays of 16 key channels and one update gate per head instead of one of each.
TEST(DeltaRule, a_decay_per_channel_has_its_own_gates_and_rates) {
  const Work per_head = delta_rule("batch=1 new_tokens=5 key_heads=4");
  const Work per_channel = delta_rule("batch=1 new_tokens=5 key_heads=4 channel_decay=1");
  EXPECT_EQ(per_channel.matmul_flops, per_head.matmul_flops);
  EXPECT_EQ(per_channel.bytes_read - per_head.bytes_read, (5 * 2 + 4) * 4.0 * 15);
  EXPECT_EQ(per_channel.constant_bytes, 4.0 * 4 * 17);
}

TEST(StateScan, counts_five_per_value_of_the_state) {
  const Work work = work_of("state_scan", written("batch=3 new_tokens=5 heads=4 head_dim=8 "
                                                  "state_dim=16 groups=2 src_dtype=bf16 "
                                                  "dst_dtype=bf16"));
  EXPECT_EQ(work.matmul_flops, 5.0 * 15 * 4 * 8 * 16);
  const double states = 3.0 * 4 * 8 * 16 * 4;
  const double values = 15.0 * (4 * 8 + 2 * 2 * 16 + 4 + 4 * 8) * 2 + 12 * 4;
  EXPECT_EQ(work.bytes(), 2 * states + values);
}

// A decay per value of the state: 5 of Mamba-2, and its product and exponential.
TEST(SelectiveScan, counts_seven_per_value_of_the_state) {
  const Work work = work_of("selective_scan", written("batch=3 new_tokens=5 channels=32 "
                                                      "state_dim=16 src_dtype=bf16 "
                                                      "dst_dtype=bf16"));
  EXPECT_EQ(work.matmul_flops, 7.0 * 15 * 32 * 16);
  const double states = 3.0 * 32 * 16 * 4;
  const double values = 15.0 * (32 + 32 + 2 * 16 + 32) * 2 + 4 * 32 * 17;
  EXPECT_EQ(work.bytes(), 2 * states + values);
}

TEST(ShortConvolution, has_no_matrix_product) {
  const Work work =
      work_of("short_convolution",
              written("batch=3 new_tokens=5 channels=7 kernel=4 has_bias=1 dtype=bf16"));
  EXPECT_EQ(work.matmul_flops, 0);
  EXPECT_EQ(work.vector_flops, 2.0 * 15 * 7 * 4);
  EXPECT_EQ(work.bytes(), 2.0 * (2 * 15 * 7 + 7 * 4 + 7 + 2 * 3 * 7 * 3));
}

}  // namespace
}  // namespace halmark
