// Ops that are priced and not measured: their formulas, and that nothing measures them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "core/numeric/cast.hpp"
#include "core/text/error.hpp"
#include "tests/unit/kernels/table_reader.hpp"

namespace halmark::testing {
namespace {

Work work(const std::string& name, const std::string& params) {
  return op(name).work(completed(name, written(params)));
}

TEST(Priced, nothing_measures_an_op_without_a_reference) {
  int priced = 0;
  for (const OpContract* contract : all_contracts()) {
    if (contract->is_measurable()) {
      EXPECT_NO_THROW(require_measurable(contract->name()));
      continue;
    }
    ++priced;
    try {
      require_measurable(contract->name());
      ADD_FAILURE() << contract->name();
    } catch (const Error& error) {
      EXPECT_EQ(error.exit_code(), ExitCode::refused);
      EXPECT_THAT(error.line(), ::testing::HasSubstr("op " + std::string(contract->name()) +
                                                     " has a formula and no reference yet"));
    }
  }
  EXPECT_GE(priced, 2);
}

// 128 heads of 128 x 512: the keys' half of DeepSeek-V3's kv_b.
TEST(Priced, a_batched_gemm_is_the_sum_of_its_products) {
  const std::string one = "m=5 n=512 k=128 src_dtype=bf16 wei_dtype=f8_e4m3fn dst_dtype=bf16";
  const Work single = work("gemm", one), batched = work("batched_gemm", one + " groups=128");
  EXPECT_EQ(batched.matmul_flops, 128 * single.matmul_flops);
  EXPECT_EQ(batched.bytes_read, 128 * single.bytes_read);
  EXPECT_EQ(batched.bytes_written, 128 * single.bytes_written);
  EXPECT_EQ(batched.constant_bytes, 128.0 * 512 * 128);
  EXPECT_EQ(batched.compute_dtype, Dtype::bf16);
}

TEST(Priced, a_block_quantize_writes_a_byte_per_value_and_a_scale_per_block) {
  const Work w = work("block_quantize", "rows=3 cols=300 src_dtype=bf16");
  EXPECT_EQ(w.bytes_read, 3 * 300 * 2);
  EXPECT_EQ(w.bytes_written, 3 * 300 + 3 * 3 * 4);
  EXPECT_EQ(w.matmul_flops, 0);
}

// Entries visible to each query, one query at a time.
double counted_entries(std::int64_t queries, std::int64_t context, std::int64_t ratio,
                       std::int64_t top_k) {
  double out = 0;
  for (std::int64_t p = context - queries; p < context; ++p) {
    const std::int64_t seen = (p + 1) / ratio;
    out += as_double(top_k > 0 ? std::min(seen, top_k) : seen);
  }
  return out;
}

struct Step {
  std::int64_t queries, context;
  std::string text() const {
    return "new_tokens=" + std::to_string(queries) + " context=" + std::to_string(context);
  }
};
constexpr Step steps[] = {{1, 1}, {1, 3},   {1, 4},     {1, 1000},
                          {7, 7}, {5, 300}, {300, 300}, {129, 513}};

TEST(Priced, latent_attention_counts_the_pairs_that_it_reads) {
  for (const Step& step : steps) {
    for (const std::int64_t top_k : {0, 1, 64, 5000}) {
      const Work w = work("latent_attention",
                          "batch=3 heads=4 qk_dim=24 v_dim=16 absorbed=1 q_dtype=bf16 "
                          "kv_dtype=bf16 dst_dtype=bf16 " +
                              step.text() + " top_k=" + std::to_string(top_k));
      EXPECT_EQ(w.matmul_flops,
                3 * 4 * 2 * (24 + 16) * counted_entries(step.queries, step.context, 1, top_k));
    }
  }
}

// DeepSeek-V3 at context 4096: 128 queries of 576, 4096 latent rows of 576, 128 results of 512.
TEST(Priced, absorbed_attention_reads_each_latent_row_once) {
  const auto with = [](const char* more) {
    return work("latent_attention",
                "batch=1 heads=128 qk_dim=576 v_dim=512 new_tokens=1 context=4096 absorbed=1 "
                "q_dtype=bf16 kv_dtype=bf16 dst_dtype=bf16 " +
                    std::string(more));
  };
  const Work all = with("");
  EXPECT_EQ(all.bytes_read, 2.0 * (128 * 576 + 4096 * 576));
  EXPECT_EQ(all.constant_bytes, 2.0 * 4096 * 576);
  EXPECT_EQ(all.bytes_written, 2.0 * 128 * 512);
  EXPECT_EQ(with("top_k=2048").constant_bytes, 2.0 * 2048 * 576);
  EXPECT_EQ(with("absorbed=0 qk_dim=192 v_dim=128").bytes(),
            2.0 * (128 * 320 + 4096.0 * 128 * 320));
}

TEST(Priced, compressed_attention_sees_a_window_and_entries) {
  for (const Step& step : steps) {
    for (const auto& [ratio, top_k] : {std::pair(0, 0), std::pair(4, 8), std::pair(128, 0)}) {
      double keys = ratio > 0 ? counted_entries(step.queries, step.context, ratio, top_k) : 0;
      for (auto p = step.context - step.queries; p < step.context; ++p) {
        keys += as_double(std::min<std::int64_t>(p + 1, 6));
      }
      const Work w = work("compressed_attention",
                          "batch=2 heads=4 head_dim=8 window=6 q_dtype=bf16 kv_dtype=bf16 "
                          "dst_dtype=bf16 " +
                              step.text() + " ratio=" + std::to_string(ratio) +
                              " top_k=" + std::to_string(top_k));
      EXPECT_EQ(w.matmul_flops, 2 * 4 * 4 * 8 * keys) << ratio;
    }
  }
}

TEST(Priced, an_index_scores_every_visible_entry) {
  for (const Step& step : steps) {
    const Work w = work("index_score",
                        "batch=2 heads=4 dim=8 ratio=4 top_k=3 q_dtype=f8_e4m3fn "
                        "k_dtype=f8_e4m3fn " +
                            step.text());
    EXPECT_EQ(w.matmul_flops, 2 * 2 * 4 * 8 * counted_entries(step.queries, step.context, 4, 0));
    EXPECT_EQ(w.constant_bytes, 2.0 * as_double(step.context / 4) * 8);
  }
}

TEST(Priced, a_hadamard_transform_adds_log2_times_per_value) {
  EXPECT_EQ(work("hadamard", "rows=5 cols=128 dtype=bf16").vector_flops, 5.0 * 128 * 7);
  EXPECT_THROW(work("hadamard", "rows=5 cols=96 dtype=bf16"), Error);
}

TEST(Priced, hyper_connections_mix_their_streams) {
  const auto stage = [](const std::string& more) {
    return work("hyper_connection", "rows=3 streams=4 hidden=10 dtype=bf16 stage=" + more);
  };
  EXPECT_EQ(stage("0").vector_flops, 2.0 * 3 * 4 * 10);
  EXPECT_EQ(stage("0 iterations=20").vector_flops, 2.0 * 3 * 4 * 10 + 4.0 * 20 * 3 * 16);
  const Work after = stage("1");
  EXPECT_EQ(after.vector_flops, 2.0 * 3 * 4 * 10 * 5);
  EXPECT_EQ(after.bytes_read, 2.0 * 3 * 50);
  EXPECT_EQ(after.bytes_written, 2.0 * 3 * 40);
}

}  // namespace
}  // namespace halmark::testing
