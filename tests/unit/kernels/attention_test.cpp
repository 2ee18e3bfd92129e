#include <gtest/gtest.h>

#include <cmath>

#include "core/numeric/cast.hpp"
#include "tests/unit/kernels/table_reader.hpp"

namespace halmark::testing {
namespace {

// batch, heads, heads of keys, their width, new tokens, context; the mask.
struct Shape {
  std::int64_t batch = 1, heads = 1, kv_heads = 1, head_dim = 1, new_tokens = 1, context = 1;
  std::int64_t causal = 1, window = 0;
  Dtype dtype = Dtype::f32;
};

Params attention(const Shape& s) {
  return completed("attention",
                   written("batch=? heads=? kv_heads=? head_dim=? new_tokens=? context=? causal=? "
                           "window=? q_dtype=? kv_dtype=? dst_dtype=?",
                           s.batch, s.heads, s.kv_heads, s.head_dim, s.new_tokens, s.context,
                           s.causal, s.window, s.dtype, s.dtype, s.dtype));
}

std::vector<double> reference_values(const Shape& shape, const InputReader& inputs) {
  return expected_values("attention", attention(shape), inputs, 3);
}

// Written with a full score matrix and an explicit mask in long double, one head at a time.
std::vector<double> naive(const Shape& s, const std::vector<double>& q,
                          const std::vector<double>& k, const std::vector<double>& v) {
  std::vector<double> out(q.size());
  const auto at = [](std::int64_t i) { return as_size(i); };
  for (std::int64_t b = 0; b < s.batch; ++b) {
    for (std::int64_t h = 0; h < s.heads; ++h) {
      const auto kv = b * s.kv_heads + h * s.kv_heads / s.heads;
      for (std::int64_t t = 0; t < s.new_tokens; ++t) {
        const auto position = s.context - s.new_tokens + t;
        const auto row = ((b * s.new_tokens + t) * s.heads + h) * s.head_dim;
        std::vector<long double> weight(at(s.context), 0);
        long double total = 0;
        for (std::int64_t j = 0; j < s.context; ++j) {
          const bool visible =
              !s.causal || (j <= position && (s.window == 0 || j > position - s.window));
          if (!visible) continue;
          long double score = 0;
          for (std::int64_t i = 0; i < s.head_dim; ++i) {
            score += static_cast<long double>(q[at(row + i)]) *
                     k[at((kv * s.context + j) * s.head_dim + i)];
          }
          weight[at(j)] = std::exp(score / std::sqrt(static_cast<long double>(s.head_dim)));
          total += weight[at(j)];
        }
        for (std::int64_t i = 0; i < s.head_dim; ++i) {
          long double sum = 0;
          for (std::int64_t j = 0; j < s.context; ++j) {
            sum += weight[at(j)] / total * v[at((kv * s.context + j) * s.head_dim + i)];
          }
          out[at(row + i)] = as_double(sum);
        }
      }
    }
  }
  return out;
}

TEST(Attention, equal_scores_average_the_values) {
  const TableReader inputs({{0, 0}, {1, 2, 3, 4, 5, 6}, {1, 10, 2, 20, 6, 60}});
  const auto out = reference_values({.head_dim = 2, .context = 3}, inputs);
  EXPECT_DOUBLE_EQ(out[0], 3);
  EXPECT_DOUBLE_EQ(out[1], 30);
}

TEST(Attention, two_keys_weigh_by_the_logistic_of_their_score_difference) {
  const auto out = reference_values({.context = 2}, TableReader({{2}, {1, 0}, {1, 0}}));
  EXPECT_NEAR(out[0], 1 / (1 + std::exp(-2.0)), 1e-15);
}

TEST(Attention, agrees_with_an_explicit_score_matrix) {
  for (const Shape& shape : {Shape{2, 4, 4, 8, 1, 17},
                             {2, 6, 2, 5, 9, 9},
                             {1, 3, 1, 16, 7, 20},
                             {1, 2, 2, 4, 11, 11, 0},
                             {2, 2, 1, 4, 6, 14, 1, 5}}) {
    const Drawn drawn("attention", attention(shape), 21);
    const auto got = reference_values(shape, drawn.inputs);
    const auto want = naive(shape, drawn.of(0), drawn.of(1), drawn.of(2));
    ASSERT_EQ(got.size(), want.size());
    for (std::size_t i = 0; i < got.size(); ++i)
      ASSERT_NEAR(got[i], want[i], 1e-12) << attention(shape).text();
  }
}

TEST(Attention, a_window_as_long_as_the_context_is_causal) {
  Shape shape{2, 4, 2, 8, 12, 30};
  const Drawn drawn("attention", attention(shape), 4);
  const auto causal = reference_values(shape, drawn.inputs);
  const Work work = op("attention").work(attention(shape));
  shape.window = 30;
  EXPECT_EQ(reference_values(shape, drawn.inputs), causal);
  EXPECT_EQ(op("attention").work(attention(shape)).matmul_flops, work.matmul_flops);
  shape.window = 29;
  EXPECT_NE(reference_values(shape, drawn.inputs), causal);
}

// The last token of a prefill and a decode step over the same cache are the same computation.
TEST(Attention, a_decode_step_equals_the_last_row_of_the_prefill) {
  const Shape prefill{1, 4, 2, 8, 10, 10};
  const Drawn drawn("attention", attention(prefill), 8);
  const auto full = reference_values(prefill, drawn.inputs);
  auto q = drawn.of(0);
  q.erase(q.begin(), q.end() - 32);
  EXPECT_EQ(reference_values({1, 4, 2, 8, 1, 10}, TableReader({q, drawn.of(1), drawn.of(2)})),
            std::vector<double>(full.end() - 32, full.end()));
}

// An f32 softmax with bf16 probabilities is inside the tolerance; leaving out one key is not.
TEST(Attention, tolerance_admits_bf16_probabilities_and_rejects_a_lost_key) {
  const auto params = attention({1, 2, 1, 64, 1, 100, 1, 0, Dtype::bf16});
  const Drawn drawn("attention", params, 2);
  const auto q = drawn.of(0), k = drawn.of(1), v = drawn.of(2);
  const auto want = expected("attention", params, drawn.inputs, 3);
  const auto kernel = [&](std::size_t head, std::size_t column, std::size_t keys) {
    std::vector<double> p(keys);
    double total = 0, sum = 0;
    for (std::size_t j = 0; j < keys; ++j) {
      float score = 0;
      for (std::size_t i = 0; i < 64; ++i) {
        score += static_cast<float>(q[head * 64 + i] * k[j * 64 + i]);
      }
      p[j] = std::exp(score / 8);
      total += p[j];
    }
    for (std::size_t j = 0; j < keys; ++j) {
      sum += round_to(Dtype::bf16, p[j] / total) * v[j * 64 + column];
    }
    return round_to(Dtype::bf16, sum);
  };
  int rejected = 0;
  for (std::size_t i = 0; i < want.size(); ++i) {
    EXPECT_LE(std::fabs(kernel(i / 64, i % 64, 100) - want[i].value), want[i].tolerance);
    rejected += std::fabs(kernel(i / 64, i % 64, 90) - want[i].value) > want[i].tolerance;
  }
  EXPECT_GT(rejected, 100);
}

TEST(Attention, twin_keeps_phase_group_and_head_width) {
  const auto decode = op("attention").twin(attention({16, 16, 8, 128, 1, 1024}));
  EXPECT_EQ(decode.at("new_tokens"), 1);
  EXPECT_EQ(decode.at("heads") / decode.at("kv_heads"), 2);
  EXPECT_EQ(decode.at("head_dim"), 128);
  EXPECT_LE(decode.at("context"), 300);
  const auto chunk = op("attention").twin(attention({1, 4, 4, 64, 128, 1024, 1, 512}));
  EXPECT_GT(chunk.at("context"), chunk.at("new_tokens"));
  EXPECT_LT(chunk.at("window"), chunk.at("context"));
}

}  // namespace
}  // namespace halmark::testing
