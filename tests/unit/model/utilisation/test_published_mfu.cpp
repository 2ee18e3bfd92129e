// Published training throughput and MFU, row by row: the conventions of the sources give the
// printed figures from the printed shapes and token rates. tests/data/published_mfu.json has the
// rows.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "core/json/json.hpp"
#include "fixtures.hpp"
#include "model/utilisation/convention.hpp"
#include "model/utilisation/convention_graph.hpp"
#include "tests/checkout.hpp"

namespace halmark::model_test {
namespace {

const Json& document() {
  static const Json json = read_json_file(test::in_source("/tests/data/published_mfu.json"));
  return json;
}

std::vector<Json> rows(std::string_view counts) {
  std::vector<Json> out;
  for (const Json& row : document()["rows"]) {
    if (row["counts"].get<std::string>() == counts) out.push_back(row);
  }
  return out;
}

std::int64_t integer(const Json& row, const char* key) {
  return row.contains(key) ? row[key].get<std::int64_t>() : 0;
}
double number(const Json& row, const char* key) { return row.at(key).get<double>(); }
std::string name(const Json& row) { return row["model"].get<std::string>(); }

// Gated networks are those of the Llama line; the others here are plain.
DecoderFields fields(const Json& row) {
  const bool is_gated = name(row).starts_with("LLAMA") || name(row).starts_with("Llama");
  return {.layers = integer(row, "n_layers"),
          .hidden = integer(row, "d_model"),
          .heads = integer(row, "n_heads"),
          .vocab = integer(row, "vocab"),
          .kv_heads = integer(row, "n_kv_heads"),
          .head_dim = integer(row, "head_dim"),
          .ffn = integer(row, "d_ff"),
          .ffn_matrices = is_gated ? 3 : 2,
          .parameters = row.contains("params") ? number(row, "params") : 0};
}

double flops_per_token(const Json& row, const Convention& c,
                       Recompute recompute = Recompute::none) {
  const double s = number(row, "seq");
  return convention_flops(flop_shape(fields(row)), {s}, c, recompute) / s;
}

TEST(PublishedMfu, every_llm_foundry_row_within_a_hundredth_of_a_point) {
  const Convention mfu = convention_named("llm-foundry");
  Convention hfu = mfu;
  hfu.recompute = RecomputeRule::in;
  ASSERT_EQ(rows("llm-foundry").size(), 108u);
  for (const Json& row : rows("llm-foundry")) {
    const double capacity = number(row, "n_gpus") * number(row, "peak_tflops") * 1e12;
    const double rate = 100 * number(row, "tokens_per_s") / capacity;
    const Recompute recompute = row["act_ckpt"].get<bool>() ? Recompute::full : Recompute::none;
    EXPECT_NEAR(rate * flops_per_token(row, mfu, recompute), number(row, "mfu_pct"), 0.01)
        << row.dump();
    EXPECT_NEAR(rate * flops_per_token(row, hfu, recompute), number(row, "hfu_pct"), 0.015)
        << row.dump();
  }
}

// 2104.04473 table 1 and 2201.11990: what is called utilisation counts the recomputed pass.
TEST(PublishedMfu, megatron_rows_count_the_recomputation) {
  ASSERT_EQ(rows("megatron").size(), 13u);
  for (const Json& row : rows("megatron")) {
    const bool is_measured = row.contains("iter_s");
    const double seconds = number(row, is_measured ? "iter_s" : "implied_iter_s");
    const double tokens = number(row, "global_batch_seqs") * number(row, "seq");
    const double tflops = tokens *
                          flops_per_token(row, convention_named("megatron"), Recompute::full) /
                          seconds / number(row, "n_gpus") / 1e12;
    EXPECT_NEAR(tflops, number(row, "tflops_per_gpu"), 0.7) << row.dump();
  }
}

// 2205.05198 table 5, selective recomputation. Its iteration times have two decimals.
TEST(PublishedMfu, korthikanti_rows_give_mfu_and_hfu) {
  const Convention mfu = convention_named("korthikanti");
  const Convention hfu = convention_named("korthikanti-hfu");
  ASSERT_EQ(rows("korthikanti").size(), 4u);
  for (const Json& row : rows("korthikanti")) {
    const double tokens = number(row, "global_batch_seqs") * number(row, "seq");
    const double rate = 100 * tokens / number(row, "iter_s") / number(row, "n_gpus") /
                        (number(row, "peak_tflops") * 1e12);
    const double rounding = 0.005 / number(row, "iter_s");
    const auto near = [&](const Convention& c, const char* key) {
      const double pct = rate * flops_per_token(row, c, Recompute::selective);
      EXPECT_NEAR(pct, number(row, key), 0.06 + rounding * pct) << row.dump();
    };
    near(mfu, "mfu_pct");
    near(hfu, "hfu_pct");
  }
}

TEST(PublishedMfu, nemo_24_07_counts_full_attention) {
  ASSERT_EQ(rows("nemo-24").size(), 6u);
  for (const Json& row : rows("nemo-24")) {
    const double tflops =
        number(row, "tokens_per_s_gpu") * flops_per_token(row, convention_named("nemo-24")) / 1e12;
    EXPECT_NEAR(tflops / number(row, "tflops_per_gpu"), 1, 1.5e-3) << row.dump();
  }
}

// Packed sequences of unknown lengths: products with weights below, whole sequences above.
TEST(PublishedMfu, fine_tuning_rows_lie_between_short_and_whole_sequences) {
  Convention whole = convention_named("nemo-24");
  for (const Json& row : rows("nemo-24-finetuning")) {
    const bool is_lora = name(row).ends_with("LoRA");
    whole.forward_backward = is_lora ? PassRule::lora : PassRule::training;
    Convention none = whole;
    none.attention = AttentionRule::none;
    const double printed = number(row, "tflops_per_gpu") * 1e12 / number(row, "tokens_per_s_gpu");
    EXPECT_GT(printed * 1.002, flops_per_token(row, none)) << row.dump();
    EXPECT_LT(printed, flops_per_token(row, whole)) << row.dump();
  }
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

// The printed rates are rounded to multiples of up to 32 tokens: single rows scatter by 1 %, their
// signed median does not. Over the pre-training rows alone it is -0.022 %; of absolute errors the
// median is 0.057 %.
TEST(PublishedMfu,
     dense_megatron_bridge_rows_have_a_signed_median_error_below_a_hundredth_percent) {
  std::vector<double> errors, sizes;
  Convention c = convention_named("megatron-bridge");
  for (const Json& row : rows("megatron-bridge")) {
    if (!name(row).starts_with("LLAMA")) continue;
    const bool is_lora = row["task"].get<std::string>().starts_with("LoRA");
    c.forward_backward = is_lora ? PassRule::lora : PassRule::training;
    const double tflops = number(row, "tokens_per_s_gpu") * flops_per_token(row, c) / 1e12;
    errors.push_back(tflops / number(row, "tflops_per_gpu") - 1);
    sizes.push_back(std::abs(errors.back()));
    EXPECT_LT(sizes.back(), is_lora ? 0.09 : 0.013) << row.dump();
  }
  EXPECT_EQ(errors.size(), 37u);
  EXPECT_LT(std::abs(median(errors)), 1e-4);
  EXPECT_LT(median(sizes), 6e-4);
}

FlopShape shape_of(const ModelSpec& spec, std::int64_t sequence) {
  const Configuration d{"m", {}, bf16(), {Phase::training, 1, sequence, sequence}};
  return flop_shape(graph_of(spec, d));
}

// The graphs of shipped models, under the same switches.
double graph_flops_per_token(const FlopShape& shape, std::int64_t sequence,
                             AttentionRule attention = AttentionRule::causal_half) {
  Convention c = convention_named("megatron-bridge");
  c.attention = attention;
  const auto s = static_cast<double>(sequence);
  return convention_flops(shape, {s}, c) / s;
}

// DeepSeek-V3 is trained with one module that predicts a token more.
FlopShape with_prediction_module(const ModelSpec& spec, std::int64_t sequence) {
  const Configuration d{"m", {}, bf16(), {Phase::training, 1, sequence, sequence}};
  return flop_shape(*build_graph(spec, d, StepForm{.predicted = 1}));
}

FlopShape trained_shape(const std::string& model, std::int64_t sequence) {
  if (model == "DeepSeekV3") return with_prediction_module(shipped("deepseek-v3"), sequence);
  const std::map<std::string, const char*> ids = {{"Qwen3_30B_a3B", "qwen3-30b-a3b"},
                                                  {"Qwen3_235B_a22B", "qwen3-235b-a22b"},
                                                  {"Kimi_K2", "kimi-k2"}};
  return shape_of(shipped(ids.at(model)), sequence);
}

TEST(PublishedMfu, mixtures_of_experts_of_megatron_bridge_follow_from_their_graphs) {
  for (const char* model : {"Qwen3_30B_a3B", "Qwen3_235B_a22B", "DeepSeekV3", "Kimi_K2"}) {
    const FlopShape shape = trained_shape(model, 4096);
    std::vector<double> errors;
    for (const Json& row : rows("megatron-bridge")) {
      if (name(row) != model) continue;
      ASSERT_EQ(integer(row, "seq"), 4096);
      const double tflops =
          number(row, "tokens_per_s_gpu") * graph_flops_per_token(shape, 4096) / 1e12;
      errors.push_back(tflops / number(row, "tflops_per_gpu") - 1);
      EXPECT_LT(std::abs(errors.back()), 5e-3) << row.dump();
    }
    ASSERT_GE(errors.size(), 2u) << model;
    EXPECT_LT(std::abs(median(errors)), 1e-3) << model;
  }
}

// 2505.09343: 250 GFLOP a trained token, 385 TFLOP/s a device with half of the attention and 432
// with all of it, from one token rate.
TEST(PublishedMfu, deepseek_v3_differs_by_its_attention_alone) {
  const FlopShape shape = shape_of(shipped("deepseek-v3"), 4096);
  const double half = graph_flops_per_token(shape, 4096);
  const double full = graph_flops_per_token(shape, 4096, AttentionRule::full);
  EXPECT_NEAR(half / 1e9, 250, 0.5);
  EXPECT_NEAR(graph_flops_per_token(shape_of(shipped("deepseek-v2"), 4096), 4096) / 1e9, 155, 0.5);
  for (const Json& row : rows("insights")) {
    if (!row.contains("tokens_per_day_billion")) continue;
    const double rate = number(row, "tokens_per_day_billion") * 1e9 / 86400 / number(row, "n_gpus");
    EXPECT_NEAR(rate * half / 1e12, number(row, "tflops_causal"), 0.6);
    EXPECT_NEAR(rate * full / 1e12, number(row, "tflops_noncausal"), 0.6);
  }
}

TEST(PublishedMfu, torchtitan_rows_count_full_attention) {
  ASSERT_EQ(rows("torchtitan").size(), 16u);
  for (const Json& row : rows("torchtitan")) {
    const double tflops =
        number(row, "tokens_per_s_gpu") * flops_per_token(row, convention_named("nemo-24")) / 1e12;
    EXPECT_NEAR(tflops, number(row, "recomputed_tflops_noncausal"), 0.06) << row.dump();
  }
}

TEST(PublishedMfu, palm_540b) {
  const std::vector<Json> palm = rows("palm");
  ASSERT_EQ(palm.size(), 1u);
  Json row = palm.front();
  row["vocab"] = 256000;  // does not enter: the head is among the parameters
  const double mfu = 100 * number(row, "tokens_per_s") *
                     flops_per_token(row, convention_named("palm")) / number(row, "n_gpus") /
                     (number(row, "peak_tflops") * 1e12);
  EXPECT_NEAR(mfu, 46.2, 0.05);
}

// Encoder-decoders pass a token through one half of their parameters.
TEST(PublishedMfu, gpt_3_table_d1) {
  ASSERT_EQ(rows("gpt-3").size(), 17u);
  for (const Json& row : rows("gpt-3")) {
    const bool is_encoder_decoder = name(row).starts_with("T5");
    const FlopShape shape{.parameters = number(row, "params") * (is_encoder_decoder ? 0.5 : 1)};
    const double total =
        number(row, "total_tokens") * convention_flops(shape, {1}, convention_named("gpt-3"));
    EXPECT_NEAR(total / number(row, "total_flops"), 1, 4e-3) << row.dump();
  }
}

TEST(PublishedMfu, chinchilla_table_a4_to_the_last_flop) {
  ASSERT_EQ(rows("chinchilla").size(), 6u);
  for (const Json& row : rows("chinchilla")) {
    const double sequence = number(row, "seq");
    const double flops =
        convention_flops(flop_shape(fields(row)), {sequence}, convention_named("chinchilla"));
    EXPECT_EQ(flops, number(row, "flops_per_sequence")) << row.dump();
    const double ratio = flops / (6 * number(row, "params") * sequence);
    EXPECT_NEAR(ratio, number(row, "flops_ratio_vs_6ND"), 0.006) << row.dump();
  }
}

}  // namespace
}  // namespace halmark::model_test
