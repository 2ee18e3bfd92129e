#include <gtest/gtest.h>

#include <cmath>

#include "tests/unit/kernels/table_reader.hpp"

namespace halmark::testing {
namespace {

struct Shape {
  std::int64_t batch = 1, heads = 1, kv_heads = 1, head_dim = 1, new_tokens = 1, context = 1;
  std::int64_t causal = 1, window = 0;
  Dtype dtype = Dtype::f32;
};

Params attention(const Shape& s) {
  const auto d = value_of(s.dtype);
  return completed("attention", {{"batch", s.batch},
                                 {"heads", s.heads},
                                 {"kv_heads", s.kv_heads},
                                 {"head_dim", s.head_dim},
                                 {"new_tokens", s.new_tokens},
                                 {"context", s.context},
                                 {"causal", s.causal},
                                 {"window", s.window},
                                 {"q_dtype", d},
                                 {"kv_dtype", d},
                                 {"dst_dtype", d}});
}

std::vector<double> reference_values(const Params& params, const InputReader& inputs) {
  std::vector<double> out;
  for (const auto& element : expected("attention", params, inputs, 3)) out.push_back(element.value);
  return out;
}

// Written with a full score matrix and an explicit mask in long double, one head at a time.
std::vector<double> naive(const Shape& s, const std::vector<double>& q,
                          const std::vector<double>& k, const std::vector<double>& v) {
  std::vector<double> out(q.size());
  const auto at = [](std::int64_t i) { return static_cast<std::size_t>(i); };
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
          out[at(row + i)] = static_cast<double>(sum);
        }
      }
    }
  }
  return out;
}

TEST(Attention, equal_scores_average_the_values) {
  const TableReader inputs({{0, 0}, {1, 2, 3, 4, 5, 6}, {1, 10, 2, 20, 6, 60}});
  const auto out = reference_values(attention({.head_dim = 2, .context = 3}), inputs);
  EXPECT_DOUBLE_EQ(out[0], 3);
  EXPECT_DOUBLE_EQ(out[1], 30);
}

TEST(Attention, two_keys_weigh_by_the_logistic_of_their_score_difference) {
  const TableReader inputs({{2}, {1, 0}, {1, 0}});
  const auto out = reference_values(attention({.context = 2}), inputs);
  EXPECT_NEAR(out[0], 1 / (1 + std::exp(-2.0)), 1e-15);
}

TEST(Attention, agrees_with_an_explicit_score_matrix) {
  const Shape shapes[] = {
      {.batch = 2, .heads = 4, .kv_heads = 4, .head_dim = 8, .new_tokens = 1, .context = 17},
      {.batch = 2, .heads = 6, .kv_heads = 2, .head_dim = 5, .new_tokens = 9, .context = 9},
      {.batch = 1, .heads = 3, .kv_heads = 1, .head_dim = 16, .new_tokens = 7, .context = 20},
      {.batch = 1,
       .heads = 2,
       .kv_heads = 2,
       .head_dim = 4,
       .new_tokens = 11,
       .context = 11,
       .causal = 0},
      {.batch = 2,
       .heads = 2,
       .kv_heads = 1,
       .head_dim = 4,
       .new_tokens = 6,
       .context = 14,
       .window = 5},
  };
  for (const auto& shape : shapes) {
    const auto params = attention(shape);
    const auto operands = op("attention").operands(params);
    const GeneratedInputs inputs(21, operands, 0);
    const auto got = reference_values(params, inputs);
    const auto want = naive(shape, values(inputs, operands[0], 0), values(inputs, operands[1], 1),
                            values(inputs, operands[2], 2));
    ASSERT_EQ(got.size(), want.size());
    for (std::size_t i = 0; i < got.size(); ++i)
      ASSERT_NEAR(got[i], want[i], 1e-12) << params.text();
  }
}

TEST(Attention, a_window_as_long_as_the_context_is_causal) {
  Shape shape{
      .batch = 2, .heads = 4, .kv_heads = 2, .head_dim = 8, .new_tokens = 12, .context = 30};
  const GeneratedInputs inputs(4, op("attention").operands(attention(shape)), 0);
  const auto causal = reference_values(attention(shape), inputs);
  shape.window = 30;
  EXPECT_EQ(reference_values(attention(shape), inputs), causal);
  EXPECT_EQ(op("attention").work(attention(shape)).matmul_flops,
            op("attention")
                .work(attention({.batch = 2,
                                 .heads = 4,
                                 .kv_heads = 2,
                                 .head_dim = 8,
                                 .new_tokens = 12,
                                 .context = 30}))
                .matmul_flops);
  shape.window = 29;
  EXPECT_NE(reference_values(attention(shape), inputs), causal);
}

// The last token of a prefill and a decode step over the same cache are the same computation.
TEST(Attention, a_decode_step_equals_the_last_row_of_the_prefill) {
  const Shape prefill{.heads = 4, .kv_heads = 2, .head_dim = 8, .new_tokens = 10, .context = 10};
  const auto operands = op("attention").operands(attention(prefill));
  const GeneratedInputs inputs(8, operands, 0);
  const auto full = reference_values(attention(prefill), inputs);
  auto q = values(inputs, operands[0], 0);
  q.erase(q.begin(), q.end() - 32);
  const TableReader last({q, values(inputs, operands[1], 1), values(inputs, operands[2], 2)});
  const auto decode = reference_values(
      attention({.heads = 4, .kv_heads = 2, .head_dim = 8, .new_tokens = 1, .context = 10}), last);
  EXPECT_EQ(decode, std::vector<double>(full.end() - 32, full.end()));
}

// An f32 softmax with bf16 probabilities is inside the tolerance; leaving out one key is not.
TEST(Attention, tolerance_admits_bf16_probabilities_and_rejects_a_lost_key) {
  const Shape shape{.heads = 2,
                    .kv_heads = 1,
                    .head_dim = 64,
                    .new_tokens = 1,
                    .context = 100,
                    .dtype = Dtype::bf16};
  const auto params = attention(shape);
  const auto operands = op("attention").operands(params);
  const GeneratedInputs inputs(2, operands, 0);
  const auto q = values(inputs, operands[0], 0), k = values(inputs, operands[1], 1),
             v = values(inputs, operands[2], 2);
  const auto want = expected("attention", params, inputs, 3);
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
  const auto decode =
      op("attention")
          .twin(attention(
              {.batch = 16, .heads = 16, .kv_heads = 8, .head_dim = 128, .context = 1024}));
  EXPECT_EQ(decode.at("new_tokens"), 1);
  EXPECT_EQ(decode.at("heads") / decode.at("kv_heads"), 2);
  EXPECT_EQ(decode.at("head_dim"), 128);
  EXPECT_LE(decode.at("context"), 300);
  const auto chunk = op("attention")
                         .twin(attention({.batch = 1,
                                          .heads = 4,
                                          .kv_heads = 4,
                                          .head_dim = 64,
                                          .new_tokens = 128,
                                          .context = 1024,
                                          .window = 512}));
  EXPECT_GT(chunk.at("context"), chunk.at("new_tokens"));
  EXPECT_LT(chunk.at("window"), chunk.at("context"));
  EXPECT_EQ(completed("attention", chunk), chunk);
}

}  // namespace
}  // namespace halmark::testing
