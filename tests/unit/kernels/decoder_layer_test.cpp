// A layer in one kernel against the references of the single ops that it is made of, one by one.
#include <gtest/gtest.h>

#include <random>

#include "table_reader.hpp"

namespace halmark {
namespace {

using testing::completed;
using testing::op;
using testing::TableReader;
using testing::written;
using Values = std::vector<double>;

struct LayerShape {
  std::int64_t batch, hidden, heads, kv_heads, head_dim, intermediate, new_tokens, context;
  std::int64_t rows() const { return batch * new_tokens; }
};

Values computed(const std::string& name, const Params& params, std::vector<Values> inputs) {
  const Params whole = completed(name, params);
  const auto operands = op(name).operands(whole);
  std::size_t output = 0;
  while (operands[output].role != Role::output) ++output;
  return testing::expected_values(name, whole, TableReader(std::move(inputs)), output);
}

Values product(const Values& x, const Values& weight, std::int64_t m, std::int64_t n,
               std::int64_t k) {
  return computed(
      "gemm", written("m=? n=? k=? src_dtype=f32 wei_dtype=f32 dst_dtype=f32 wei_trans=1", m, n, k),
      {x, weight});
}

Values normed(const Values& x, const Values& gain, std::int64_t rows, std::int64_t cols) {
  return computed("rmsnorm", written("rows=? cols=? src_dtype=f32 dst_dtype=f32", rows, cols),
                  {x, gain});
}

Values sum(Values a, const Values& b) {
  for (std::size_t i = 0; i < a.size(); ++i) a[i] += b[i];
  return a;
}

// Heads [first, first + count) of every row.
Values heads_of(const Values& all, const LayerShape& s, std::int64_t first, std::int64_t count) {
  const std::int64_t width = (s.heads + 2 * s.kv_heads) * s.head_dim;
  Values out;
  for (std::int64_t row = 0; row < s.rows(); ++row) {
    const auto begin = all.begin() + row * width + first * s.head_dim;
    out.insert(out.end(), begin, begin + count * s.head_dim);
  }
  return out;
}

Values rotated(const Values& x, const LayerShape& s, std::int64_t heads, const Values& cosine,
               const Values& sine) {
  return computed("rope",
                  written("rows=? heads=? head_dim=? rotary_dim=? src_dtype=f32 dst_dtype=f32",
                          s.rows(), heads, s.head_dim, s.head_dim),
                  {x, cosine, sine});
}

// [batch, tokens, heads, d] to [batch, heads, tokens, d].
Values heads_first(const Values& x, const LayerShape& s) {
  Values out;
  for (std::int64_t b = 0; b < s.batch; ++b) {
    for (std::int64_t h = 0; h < s.kv_heads; ++h) {
      for (std::int64_t t = 0; t < s.new_tokens; ++t) {
        const auto begin = x.begin() + ((b * s.new_tokens + t) * s.kv_heads + h) * s.head_dim;
        out.insert(out.end(), begin, begin + s.head_dim);
      }
    }
  }
  return out;
}

// Per sequence and head the cache, then the new tokens.
Values behind(const Values& cache, const Values& fresh, const LayerShape& s) {
  const std::int64_t old_size = (s.context - s.new_tokens) * s.head_dim;
  const std::int64_t new_size = s.new_tokens * s.head_dim;
  Values out;
  for (std::int64_t i = 0; i < s.batch * s.kv_heads; ++i) {
    out.insert(out.end(), cache.begin() + i * old_size, cache.begin() + (i + 1) * old_size);
    out.insert(out.end(), fresh.begin() + i * new_size, fresh.begin() + (i + 1) * new_size);
  }
  return out;
}

struct Layer {
  Values dst, new_k, new_v;
};

Layer by_single_ops(const std::vector<Values>& in, const LayerShape& s) {
  enum { src, cosine, sine, gain, qkv, out, ffn_gain, gate_up, down, k = 12, v = 13 };
  const bool has_cache = s.context > s.new_tokens;
  const Values all = product(normed(in[src], in[gain], s.rows(), s.hidden), in[qkv], s.rows(),
                             (s.heads + 2 * s.kv_heads) * s.head_dim, s.hidden);
  const Values q = rotated(heads_of(all, s, 0, s.heads), s, s.heads, in[cosine], in[sine]);
  Layer layer;
  layer.new_k = heads_first(
      rotated(heads_of(all, s, s.heads, s.kv_heads), s, s.kv_heads, in[cosine], in[sine]), s);
  layer.new_v = heads_first(heads_of(all, s, s.heads + s.kv_heads, s.kv_heads), s);
  const Values mixed =
      computed("attention",
               written("batch=? heads=? kv_heads=? head_dim=? new_tokens=? context=? q_dtype=f32 "
                       "kv_dtype=f32 dst_dtype=f32",
                       s.batch, s.heads, s.kv_heads, s.head_dim, s.new_tokens, s.context),
               {q, behind(has_cache ? in[k] : Values{}, layer.new_k, s),
                behind(has_cache ? in[v] : Values{}, layer.new_v, s)});
  const Values attended =
      sum(in[src], product(mixed, in[out], s.rows(), s.hidden, s.heads * s.head_dim));
  const Values both = product(normed(attended, in[ffn_gain], s.rows(), s.hidden), in[gate_up],
                              s.rows(), 2 * s.intermediate, s.hidden);
  const Values gated = computed(
      "gated_activation",
      written("rows=? cols=? kind=0 src_dtype=f32 dst_dtype=f32", s.rows(), s.intermediate),
      {both});
  layer.dst = sum(attended, product(gated, in[down], s.rows(), s.hidden, s.intermediate));
  return layer;
}

void expect_equal(const std::vector<Expected>& reference, const Values& composed) {
  ASSERT_EQ(reference.size(), composed.size());
  for (std::size_t i = 0; i < composed.size(); ++i) {
    const double size = std::max(1.0, std::abs(composed[i]));
    EXPECT_NEAR(reference[i].value, composed[i], 1e-10 * size) << i;
    EXPECT_GT(reference[i].tolerance, 0) << i;
    EXPECT_LT(reference[i].tolerance, 1e-4 * size) << i;
  }
}

TEST(DecoderLayer, is_the_single_ops_one_after_another) {
  std::mt19937_64 random(7);
  std::normal_distribution<double> normal;
  for (const LayerShape& s : {LayerShape{2, 12, 4, 2, 6, 10, 1, 9},
                              {1, 16, 3, 1, 4, 7, 5, 5},
                              {2, 8, 2, 2, 2, 5, 3, 11}}) {
    const Params params = completed(
        "decoder_layer", written("batch=? hidden=? heads=? kv_heads=? head_dim=? intermediate=? "
                                 "new_tokens=? context=? dtype=f32",
                                 s.batch, s.hidden, s.heads, s.kv_heads, s.head_dim, s.intermediate,
                                 s.new_tokens, s.context));
    std::vector<Values> inputs;
    for (const OperandSpec& operand : op("decoder_layer").operands(params)) {
      Values& one = inputs.emplace_back(static_cast<std::size_t>(operand.elements()));
      for (double& value : one) value = operand.scale * normal(random);
    }
    const Layer layer = by_single_ops(inputs, s);
    const TableReader reader(inputs);
    expect_equal(testing::expected("decoder_layer", params, reader, 9), layer.dst);
    expect_equal(testing::expected("decoder_layer", params, reader, 10), layer.new_k);
    expect_equal(testing::expected("decoder_layer", params, reader, 11), layer.new_v);
  }
}

}  // namespace
}  // namespace halmark
