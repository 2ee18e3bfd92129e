#include <gtest/gtest.h>

#include <cmath>

#include "core/numeric/cast.hpp"
#include "kernels/routing.hpp"
#include "tests/unit/kernels/table_reader.hpp"

namespace halmark::testing {
namespace {

const auto f32 = value_of(Dtype::f32), bf16 = value_of(Dtype::bf16), s8 = value_of(Dtype::s8),
           s32 = value_of(Dtype::s32);

Params route(std::int64_t tokens, std::int64_t experts, std::int64_t top_k, int scoring,
             int renormalize) {
  return written("tokens=? experts=? top_k=? src_dtype=f32 scoring=? renormalize=?", tokens,
                 experts, top_k, scoring, renormalize);
}

// Logits are logarithms, so that a softmax is a ratio of small integers.
TEST(MoeRoute, picks_descending_and_weighs_by_softmax) {
  const TableReader inputs({{std::log(1), std::log(4), std::log(2), std::log(3)}});
  EXPECT_EQ(expected_values("moe_route", route(1, 4, 3, 0, 0), inputs, 1),
            (std::vector<double>{1, 3, 2}));
  const auto plain = expected_values("moe_route", route(1, 4, 3, 0, 0), inputs, 2);
  const auto renormalized = expected_values("moe_route", route(1, 4, 3, 0, 1), inputs, 2);
  const double wanted[] = {4, 3, 2};
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(plain[i], wanted[i] / 10, 1e-15);
    EXPECT_NEAR(renormalized[i], wanted[i] / 9, 1e-15);
  }
}

TEST(MoeRoute, sigmoid_scores_each_expert_alone) {
  const TableReader inputs({{std::log(1), std::log(4), std::log(9)}});
  const auto plain = expected_values("moe_route", route(1, 3, 2, 1, 0), inputs, 2);
  EXPECT_NEAR(plain[0], 0.9, 1e-15);
  EXPECT_NEAR(plain[1], 0.8, 1e-15);
  const auto renormalized = expected_values("moe_route", route(1, 3, 2, 1, 1), inputs, 2);
  EXPECT_NEAR(renormalized[0], 0.9 / 1.7, 1e-15);
}

TEST(MoeRoute, the_lower_index_wins_among_equals) {
  const TableReader inputs({{2, 5, 2, 5, 2}});
  EXPECT_EQ(expected_values("moe_route", route(1, 5, 4, 0, 1), inputs, 1),
            (std::vector<double>{1, 3, 0, 2}));
}

TEST(MoeRoute, a_selection_is_exact_and_a_weight_of_another_expert_is_wrong) {
  const auto params = route(64, 32, 4, 0, 1);
  const Drawn drawn("moe_route", params, 5);
  const auto weights = expected("moe_route", params, drawn.inputs, 2);
  for (const auto& e : expected("moe_route", params, drawn.inputs, 1)) EXPECT_EQ(e.tolerance, 0);
  for (std::size_t token = 0; token < 64; ++token) {
    double sum = 0;
    for (std::size_t slot = 0; slot < 4; ++slot) sum += weights[4 * token + slot].value;
    EXPECT_NEAR(sum, 1, 1e-14);
    EXPECT_LT(weights[4 * token].tolerance, 1e-4);
  }
}

Params routed(std::int64_t tokens, std::int64_t top_k, std::int64_t experts, std::int64_t skew,
              std::int64_t ep_size, std::int64_t ep_rank) {
  return written("tokens=? top_k=? experts=? skew=? ep_size=? ep_rank=?", tokens, top_k, experts,
                 skew, ep_size, ep_rank);
}

Params rows_op(Params params, const std::string& name, std::int64_t hidden) {
  params.set("hidden", hidden);
  params.set("dtype", f32);
  return completed(name, params);
}

// The given table, read back, decides; rows of a token show up once per expert it picked.
TEST(MoeDispatch, gathers_by_expert_from_the_table_it_is_given) {
  for (const std::int64_t rank : {0, 1}) {
    const auto params = rows_op(routed(9, 3, 6, 120, 2, rank), "moe_dispatch", 5);
    const Drawn drawn("moe_dispatch", params, 3, 2);
    const auto src = drawn.of(0), table = drawn.of(1);
    const auto out = expected("moe_dispatch", params, drawn.inputs, 2);
    std::size_t row = 0;
    for (int expert = 3 * static_cast<int>(rank); expert < 3 * (rank + 1); ++expert) {
      for (std::size_t i = 0; i < table.size(); ++i) {
        if (table[i] != expert) continue;
        for (std::size_t c = 0; c < 5; ++c) {
          ASSERT_EQ(out[row * 5 + c].value, src[i / 3 * 5 + c]);
          ASSERT_EQ(out[row * 5 + c].tolerance, 0);
        }
        ++row;
      }
    }
    EXPECT_EQ(static_cast<std::int64_t>(row), params.at("rows"));
  }
}

// Combining what was dispatched gives each token back, times the weights of its slots: on one rank
// their sum, over two ranks in two parts.
TEST(MoeCombine, undoes_dispatch_and_the_ranks_parts_add_up) {
  const std::int64_t tokens = 11, top_k = 3, hidden = 7;
  std::vector<double> sums(as_size(tokens * hidden), 0), src, weight;
  for (std::int64_t i = 0; i < tokens * hidden; ++i) src.push_back(as_double(i % 13 - 6));
  for (std::int64_t i = 0; i < tokens * top_k; ++i) weight.push_back(as_double(1 + i % 5));
  for (const std::int64_t rank : {0, 1}) {
    const auto shape = routed(tokens, top_k, 8, 90, 2, rank);
    const auto dispatch = rows_op(shape, "moe_dispatch", hidden);
    const auto combine = rows_op(shape, "moe_combine", hidden);
    const auto given = op("moe_dispatch").operands(dispatch)[1].given;  // keeps the list alive
    const std::vector<double> table(given->get().begin(), given->get().end());
    const auto rows = expected_values("moe_dispatch", dispatch, TableReader({src, table}), 2);
    const auto part =
        expected_values("moe_combine", combine, TableReader({rows, table, weight}), 3);
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += part[i];
  }
  for (std::size_t token = 0; token < as_size(tokens); ++token) {
    const double factor = weight[3 * token] + weight[3 * token + 1] + weight[3 * token + 2];
    for (std::size_t c = 0; c < 7; ++c) {
      EXPECT_EQ(sums[token * 7 + c], factor * src[token * 7 + c]) << token << " " << c;
    }
  }
}

Params grouped(Params params, std::int64_t n, std::int64_t k, std::int64_t src, std::int64_t dst,
               int trans = 0) {
  params.set("n", n);
  params.set("k", k);
  params.set("src_dtype", src);
  params.set("wei_dtype", src);
  params.set("dst_dtype", dst);
  params.set("wei_trans", trans);
  return completed("grouped_gemm", params);
}

// A triple loop over what the operands hold, the expert of a row counted off expert_rows.
TEST(GroupedGemm, agrees_with_a_plain_loop_over_the_rows) {
  for (const int trans : {0, 1}) {
    for (const std::int64_t rank : {0, 1}) {
      const std::size_t n = 70, k = 9;
      const auto params = grouped(routed(6, 2, 8, 150, 2, rank), 70, 9, f32, f32, trans);
      const Drawn drawn("grouped_gemm", params, 21, 1);
      const auto src = drawn.of(0), wei = drawn.of(1), counts = drawn.of(2);
      const auto out = expected("grouped_gemm", params, drawn.inputs, 3);
      std::size_t row = 0;
      for (std::size_t e = 0; e < counts.size(); ++e) {
        for (double i = 0; i < counts[e]; ++i, ++row) {
          for (std::size_t j = 0; j < n; ++j) {
            double sum = 0;
            for (std::size_t q = 0; q < k; ++q) {
              sum += src[row * k + q] * wei[e * n * k + (trans ? j * k + q : q * n + j)];
            }
            ASSERT_NEAR(out[row * n + j].value, sum, 1e-13);
          }
        }
      }
      EXPECT_EQ(static_cast<std::int64_t>(row), params.at("rows"));
    }
  }
}

// granite-3.0-1b-a400m, one token: 8 of 32 experts, gate and up of 512 from a width of 1024.
TEST(GroupedGemm, counts_the_rows_and_reads_active_experts_only) {
  const auto decode =
      op("grouped_gemm").work(grouped(routed(1, 8, 32, 0, 1, 0), 1024, 1024, bf16, bf16));
  EXPECT_EQ(decode.matmul_flops, 2.0 * 8 * 1024 * 1024);
  EXPECT_EQ(decode.constant_bytes, 2.0 * 8 * 1024 * 1024);
  EXPECT_EQ(decode.bytes_read, decode.constant_bytes + 2 * 8 * 1024 + 4 * 32);
  EXPECT_EQ(decode.bytes_written, 2.0 * 8 * 1024);
  const auto prefill =
      op("grouped_gemm").work(grouped(routed(512, 8, 32, 0, 1, 0), 1024, 1024, s8, s32));
  EXPECT_EQ(prefill.matmul_flops, 2.0 * 4096 * 1024 * 1024);
  EXPECT_EQ(prefill.constant_bytes, 32.0 * 1024 * 1024);
  EXPECT_EQ(prefill.compute_dtype, Dtype::s8);
}

TEST(GroupedGemm, work_of_the_ranks_adds_up_to_the_whole) {
  for (const std::int64_t skew : {0, 100, 250}) {
    const auto whole =
        op("grouped_gemm").work(grouped(routed(40, 4, 16, skew, 1, 0), 8, 24, bf16, f32));
    double flops = 0, weights = 0, written = 0;
    for (std::int64_t rank = 0; rank < 4; ++rank) {
      const auto part =
          op("grouped_gemm").work(grouped(routed(40, 4, 16, skew, 4, rank), 8, 24, bf16, f32));
      flops += part.matmul_flops;
      weights += part.constant_bytes;
      written += part.bytes_written;
    }
    EXPECT_EQ(flops, whole.matmul_flops);
    EXPECT_EQ(weights, whole.constant_bytes);
    EXPECT_EQ(written, whole.bytes_written);
  }
}

TEST(GroupedGemm, twin_keeps_rows_and_reduction) {
  const auto params = grouped(routed(512, 8, 32, 100, 2, 1), 1024, 1024, bf16, bf16);
  const auto twin = op("grouped_gemm").twin(params);
  EXPECT_EQ(twin.at("rows"), params.at("rows"));
  EXPECT_EQ(twin.at("k"), 1024);
  EXPECT_LE(twin.at("n") * twin.at("rows") * 1024, 100'000'000);
}

TEST(MoeDispatch, reads_a_token_once_and_only_where_it_has_a_local_expert) {
  // One token, one expert of two: the row is read once. Two experts of two: once as well.
  const auto once = op("moe_dispatch").work(rows_op(routed(4, 2, 2, 0, 1, 0), "moe_dispatch", 10));
  EXPECT_EQ(once.bytes_read, 4.0 * 40 + 4 * 8);
  EXPECT_EQ(once.bytes_written, 8.0 * 40);
  double tokens_read = 0, tokens_written = 0;
  for (const std::int64_t rank : {0, 1}) {
    const auto part =
        op("moe_dispatch").work(rows_op(routed(4, 1, 2, 0, 2, rank), "moe_dispatch", 10));
    tokens_read += (part.bytes_read - 4 * 4) / 40;
    tokens_written += part.bytes_written / 40;
  }
  EXPECT_EQ(tokens_read, 4);
  EXPECT_EQ(tokens_written, 4);
}

}  // namespace
}  // namespace halmark::testing
