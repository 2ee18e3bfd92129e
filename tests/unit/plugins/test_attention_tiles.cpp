// Prefill of bf16 on tiles, emulated, against the sum in f64: the machine need not have AMX.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <memory>
#include <vector>

#include "attention/prepared.hpp"

namespace hm_cpu {
namespace {

std::uint16_t bf16_of(double value) {
  const auto narrow = static_cast<float>(value);
  std::uint32_t bits;
  std::memcpy(&bits, &narrow, sizeof bits);
  return static_cast<std::uint16_t>(bits >> 16);
}
double value_of(std::uint16_t bf16) {
  const std::uint32_t bits = static_cast<std::uint32_t>(bf16) << 16;
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

// In [-scale, scale], without a pattern that a shifted index would repeat.
std::vector<std::uint16_t> values(std::int64_t count, double scale, std::uint64_t seed) {
  std::vector<std::uint16_t> out(static_cast<std::size_t>(count));
  for (auto& value : out) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    value = bf16_of(scale * (static_cast<double>(seed >> 40) / (1 << 23) - 1));
  }
  return out;
}

struct Case {
  std::int64_t heads, kv_heads, head_dim, new_tokens, context, causal, window;
};

struct Operands {
  std::vector<std::uint16_t> q, k, v;
};

// One output row: softmax(q k / sqrt(d)) v over the keys that the token sees.
std::vector<double> expected_row(const Case& c, const Operands& of, std::int64_t token,
                                 std::int64_t head) {
  const auto at = [](const std::vector<std::uint16_t>& from, std::int64_t i) {
    return value_of(from[static_cast<std::size_t>(i)]);
  };
  const std::int64_t position = c.context - c.new_tokens + token;
  const std::int64_t end = c.causal ? position + 1 : c.context;
  const std::int64_t begin = c.window > 0 ? std::max<std::int64_t>(0, position + 1 - c.window) : 0;
  const std::int64_t cache = head / (c.heads / c.kv_heads) * c.context * c.head_dim;
  std::vector<double> sums(static_cast<std::size_t>(c.head_dim));
  double total = 0;
  for (std::int64_t key = begin; key < end; ++key) {
    double score = 0;
    for (std::int64_t d = 0; d < c.head_dim; ++d) {
      score += at(of.q, (token * c.heads + head) * c.head_dim + d) *
               at(of.k, cache + key * c.head_dim + d);
    }
    const double weight = std::exp(score / std::sqrt(static_cast<double>(c.head_dim)));
    total += weight;
    for (std::int64_t d = 0; d < c.head_dim; ++d) {
      sums[static_cast<std::size_t>(d)] += weight * at(of.v, cache + key * c.head_dim + d);
    }
  }
  for (double& sum : sums) sum /= total;
  return sums;
}

std::vector<std::uint16_t> computed(const Case& c, Operands& of) {
  const std::vector<hm_param> params = {{"batch", 1},
                                        {"heads", c.heads},
                                        {"kv_heads", c.kv_heads},
                                        {"head_dim", c.head_dim},
                                        {"new_tokens", c.new_tokens},
                                        {"context", c.context},
                                        {"causal", c.causal},
                                        {"window", c.window},
                                        {"q_dtype", HM_DTYPE_BF16},
                                        {"kv_dtype", HM_DTYPE_BF16},
                                        {"dst_dtype", HM_DTYPE_BF16}};
  Device device;
  device.threads = 2;
  const auto prepared = prepare_prefill(AttentionShape(Params(params.data(), params.size())),
                                        attention_parts_amx_bf16(), device);
  std::vector<std::uint16_t> dst(of.q.size());
  // NaN where no zero is written: it would spread.
  std::vector<std::uint32_t> workspace(prepared->info.workspace_bytes / 4, 0x7fc00000U);
  void* const buffers[] = {of.q.data(), of.k.data(), of.v.data(), dst.data()};
  prepared->run(buffers, workspace.data());
  return dst;
}

void expect_right(const Case& c) {
  Operands of{values(c.new_tokens * c.heads * c.head_dim, 3, 1),
              values(c.context * c.kv_heads * c.head_dim, 1, 2),
              values(c.context * c.kv_heads * c.head_dim, 1, 3)};
  const std::vector<std::uint16_t> dst = computed(c, of);
  for (std::int64_t row = 0; row < c.new_tokens * c.heads; ++row) {
    const std::vector<double> wanted = expected_row(c, of, row / c.heads, row % c.heads);
    for (std::int64_t d = 0; d < c.head_dim; ++d) {
      // Weights and result rounded to bf16, each by 2^-8 of a value of at most 1.
      ASSERT_NEAR(value_of(dst[static_cast<std::size_t>(row * c.head_dim + d)]),
                  wanted[static_cast<std::size_t>(d)], 0x1p-7)
          << "token " << row / c.heads << " head " << row % c.heads << " dim " << d;
    }
  }
}

class AttentionTiles : public testing::Test {
 protected:
  void SetUp() override {
    if (!__builtin_cpu_supports("avx512bf16")) GTEST_SKIP() << "no avx512_bf16 to emulate beside";
  }
};

TEST_F(AttentionTiles, a_product_of_integers_is_exact) { EXPECT_TRUE(amx_bf16_is_right()); }

TEST_F(AttentionTiles, rows_keys_and_widths_that_fill_no_tile_are_right) {
  expect_right({2, 1, 128, 70, 70, 1, 0});   // causal, rows of a tile left over
  expect_right({6, 2, 80, 37, 170, 1, 0});   // more keys than queries, three heads a group
  expect_right({3, 1, 40, 45, 290, 1, 23});  // a window that begins within a block
  expect_right({2, 2, 64, 33, 131, 0, 0});   // every key
  expect_right({1, 1, 24, 17, 17, 1, 0});    // one tile of rows, one of columns
}

}  // namespace
}  // namespace hm_cpu
