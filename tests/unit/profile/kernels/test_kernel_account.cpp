#include "core/json/json.hpp"
#include "profile/kernels/kernel_account.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <random>

#include "fixtures.hpp"
#include "profile/kernels/kernel_category.hpp"
#include "tests/unit/expect.hpp"

namespace halmark {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using namespace model_test;

// H20 by its datasheet, without caches.
Device h20() {
  return {.id = "h20",
          .peaks = {{.path = "bf16_matrix", .dtype = Dtype::bf16, .flops_per_s = 148e12},
                    {.path = "f8_e4m3fn_matrix", .dtype = Dtype::f8_e4m3fn, .flops_per_s = 296e12},
                    {.path = "s8_matrix", .dtype = Dtype::s8, .flops_per_s = 296e12},
                    {.path = "f32_vector", .dtype = Dtype::f32, .flops_per_s = 44e12}},
          .bandwidths = {{.level = "memory", .bytes_per_s = 4e12}},
          .links = {{.bytes_per_s = 450e9}}};
}

KernelAccount account(std::string_view flow, const OperatorGraph& graph) {
  return account_kernels(read_kernel_flow(parse_json(flow, "flow.json"), "flow.json"), graph, h20(),
                         {});
}

std::string refusal(std::string_view flow, const OperatorGraph& graph) {
  return test::error_of([&] { account(flow, graph); }).line();
}

void expect_conserved(const KernelAccount& a) {
  EXPECT_EQ(a.assigned_ps + a.overhead_ps + a.unknown_ps, a.total_ps);
  std::int64_t rows_ps = 0;
  for (const AccountedKernel& row : a.rows) rows_ps += row.time.duration_ps;
  EXPECT_EQ(rows_ps + a.between_kernels_ps, a.total_ps);
}

// One layer of Qwen3-235B-A22B on 8 ranks at context 1, whose operators are the first worked
// example of the model's specification: q 67,108,864 / 8, kv 8,388,608 / 4, score and AV 16,384 / 8
// each, router whole, experts 301,989,888 / 8 FLOPs on a rank.
constexpr std::string_view qwen_layer = R"({
  "metadata": {"layer_id": 3, "total_dur_us": 80.0},
  "kernels": [
    {"name": "norm_1", "category": "rmsnorm", "half": "attn", "dur_us": 2.125},
    {"name": "qkv", "category": "gemm_bf16", "half": "attn", "dur_us": 5.4,
     "operator": ["q_proj", "kv_proj"]},
    {"name": "norm_rope", "category": "rope", "half": "attn", "dur_us": 2.0,
     "operator": ["q_norm", "k_norm", "rope"]},
    {"name": "store", "category": "mla_cache_store", "half": "attn", "dur_us": 1.5},
    {"name": "flash", "category": "attention", "half": "attn", "dur_us": 6.0},
    {"name": "o", "category": "gemm_bf16", "half": "attn", "dur_us": 4.2},
    {"name": "ar_1", "category": "allreduce", "half": "attn", "dur_us": 8.0},
    {"name": "norm_2", "category": "rmsnorm", "half": "ffn", "dur_us": 2.0},
    {"name": "gate", "category": "moe_gate", "half": "ffn", "dur_us": 3.0},
    {"name": "top", "category": "topk", "half": "ffn", "dur_us": 2.0},
    {"name": "fused_moe", "category": "moe", "half": "ffn", "dur_us": 31.2},
    {"name": "ar_2", "category": "allreduce", "half": "ffn", "dur_us": 7.0},
    {"name": "memset", "category": "other", "dur_us": 1.1},
    {"name": "mystery", "category": "fancy_new_thing", "dur_us": 0.9}]})";

OperatorGraph qwen_graph() { return graph_of(shipped("qwen3-235b-a22b"), decode(1, 1, {.tp = 8})); }

TEST(KernelAccount, a_layer_of_qwen3_235b_has_the_flops_of_the_worked_example_on_its_rows) {
  const KernelAccount a = account(qwen_layer, qwen_graph());
  expect_conserved(a);
  ASSERT_EQ(a.rows.size(), 14u);
  const auto flops = [&](std::size_t i) { return a.rows[i].flops.value(); };
  EXPECT_EQ(flops(1), 67'108'864 / 8 + 8'388'608 / 4);
  EXPECT_EQ(flops(4), 2 * 16'384 / 8);
  EXPECT_EQ(flops(5), 67'108'864 / 8);
  EXPECT_EQ(flops(8), 1'048'576);
  EXPECT_EQ(flops(10), 301'989'888 / 8);
  EXPECT_THAT(a.rows[0].operators, ElementsAre("input_norm"));
  EXPECT_THAT(a.rows[5].operators, ElementsAre("o_proj"));
  EXPECT_THAT(a.rows[7].operators, ElementsAre("post_norm"));
  EXPECT_THAT(a.rows[6].operators, ElementsAre("attention_all_reduce"));
  EXPECT_THAT(a.rows[11].operators, ElementsAre("ffn_all_reduce"));
  EXPECT_THAT(a.unmeasured, IsEmpty());
  // By hand: 10,485,760 / 148e12 s of 5.4 us.
  EXPECT_NEAR(a.rows[1].mfu.value(), 10'485'760 / 148e12 / 5.4e-6, 1e-12);
  EXPECT_EQ(a.rows[1].peak_flops_per_s, 148e12);
}

// One layer of DeepSeek-V4-Flash of ratio 4 on 8 ranks at context 1: the fourth worked example.
constexpr std::string_view v4_layer = R"({
  "metadata": {"compress_ratio": 4},
  "kernels": [
    {"category": "mhc_pre_gemm", "half": "attn", "dur_us": 3},
    {"category": "mhc_pre_fuse", "half": "attn", "dur_us": 2},
    {"category": "gemm_fp8", "half": "attn", "name": "q_a", "dur_us": 6},
    {"category": "gemm_fp8", "half": "attn", "name": "q_b", "dur_us": 5},
    {"category": "gemm_fp8", "half": "attn", "name": "kv", "dur_us": 4},
    {"category": "gemm_bf16", "half": "attn", "name": "compressor", "dur_us": 12},
    {"category": "indexer", "half": "attn", "dur_us": 9},
    {"category": "hadamard", "half": "attn", "dur_us": 1},
    {"category": "paged_mqa", "half": "attn", "dur_us": 4},
    {"category": "c4_prefill", "half": "attn", "dur_us": 5},
    {"category": "gemm_fp8", "half": "attn", "name": "o_a", "dur_us": 4},
    {"category": "gemm_fp8", "half": "attn", "name": "o_b", "dur_us": 4},
    {"category": "allreduce", "half": "attn", "dur_us": 8},
    {"category": "mhc_post", "half": "attn", "dur_us": 2},
    {"category": "mhc_pre_gemm", "half": "ffn", "dur_us": 3},
    {"category": "moe_gate", "half": "ffn", "dur_us": 3},
    {"category": "moe", "half": "ffn", "dur_us": 21},
    {"category": "gemm_fp8", "half": "ffn", "name": "shared_up", "dur_us": 5},
    {"category": "gemm_fp8", "half": "ffn", "name": "shared_down", "dur_us": 4},
    {"category": "mla_metadata", "dur_us": 1}]})";

TEST(KernelAccount, a_layer_of_deepseek_v4_has_the_flops_of_the_worked_example_on_its_rows) {
  const KernelAccount a = account(
      v4_layer, graph_of(shipped("deepseek-v4-flash"), decode(1, 1, {.tp = 8, .ep = 8}, fp8())));
  expect_conserved(a);
  EXPECT_EQ(a.rows[0].layer_type, "decoder_moe_compressed_4");
  const auto flops = [&](std::size_t i) { return a.rows[i].flops.value_or(-1); };
  EXPECT_EQ(flops(0), 1'572'864 / 2);
  EXPECT_EQ(flops(2), 8'388'608);
  EXPECT_EQ(flops(3), 67'108'864 / 8);
  EXPECT_EQ(flops(4), 4'194'304);
  EXPECT_EQ(flops(5), 16'777'216);
  EXPECT_EQ(flops(6), 16'777'216 / 8 + 524'288 / 8 + 4'194'304);
  EXPECT_EQ(flops(8), 0);
  EXPECT_EQ(flops(9), 2 * 65'536 / 8);
  EXPECT_EQ(flops(10), 67'108'864 / 8);
  EXPECT_EQ(flops(11), 67'108'864 / 8);
  EXPECT_EQ(flops(14), 1'572'864 / 2);
  EXPECT_EQ(flops(15), 2'097'152);
  EXPECT_EQ(flops(16), 301'989'888 / 8);
  EXPECT_EQ(flops(17) + flops(18), 50'331'648 / 8);
  EXPECT_EQ(a.rows[2].peak_flops_per_s, 296e12);
  EXPECT_EQ(a.rows[5].peak_flops_per_s, 148e12) << "an fp8 run does not make this row fp8";
  EXPECT_EQ(a.rows[19].bucket, KernelBucket::assigned);
  EXPECT_EQ(a.unknown_ps, 0);
  EXPECT_THAT(a.unmeasured, IsEmpty());
}

TEST(KernelAccount, unassigned_categories_keep_their_time) {
  const KernelAccount a = account(qwen_layer, qwen_graph());
  EXPECT_EQ(a.rows[13].bucket, KernelBucket::unknown);
  EXPECT_FALSE(a.rows[13].flops);
  EXPECT_EQ(a.unknown_ps, 900'000);
  EXPECT_EQ(a.total_ps, 80'000'000);
  EXPECT_EQ(a.between_kernels_ps, 80'000'000 - 76'425'000);
  EXPECT_EQ(a.overhead_ps, 1'100'000 + a.between_kernels_ps);
  EXPECT_TRUE(a.is_lower_bound);
}

TEST(KernelAccount, flops_come_from_the_operator_and_never_from_the_duration) {
  const OperatorGraph graph = qwen_graph();
  const auto at = [&](const std::string& us) {
    return account(R"({"kernels": [{"category": "gemm", "operator": "q_proj", "dur_us": )" + us +
                       R"(}, {"category": "gemm", "operator": "o_proj", "dur_us": 4}]})",
                   graph);
  };
  const KernelAccount fast = at("3"), slow = at("30");
  EXPECT_EQ(fast.rows[0].flops, slow.rows[0].flops);
  EXPECT_EQ(fast.rows[1].flops, slow.rows[1].flops);
  EXPECT_NEAR(fast.rows[0].mfu.value(), 10 * slow.rows[0].mfu.value(), 1e-15);
  EXPECT_EQ(fast.rows[1].mfu, slow.rows[1].mfu);
}

// 8192 x 4096 / 8 weights of two bytes take 2.097 us at 4 TB/s; 2 % less is the scatter of probes.
TEST(KernelAccount, a_time_below_what_weights_and_products_need_makes_no_figure) {
  const auto at = [&](const std::string& us) {
    return account(R"({"kernels": [{"category": "gemm", "operator": "o_proj", "dur_us": )" + us +
                       R"(}, {"category": "gemm", "operator": "q_proj", "dur_us": 4}]})",
                   qwen_graph());
  };
  const KernelAccount kept = at("2.06"), refused = at("2.05");
  EXPECT_FALSE(kept.rows[0].is_quarantined);
  EXPECT_EQ(kept.quarantined.kernels, 0u);
  EXPECT_TRUE(refused.rows[0].is_quarantined);
  EXPECT_FALSE(refused.rows[0].mfu);
  EXPECT_FALSE(refused.mfu) << "a sum with a false part is none";
  EXPECT_EQ(refused.quarantined.kernels, 1u);
  EXPECT_EQ(refused.quarantined.asked, 2u);
  EXPECT_NEAR(refused.quarantined.lower_bound_ns, 2097.152, 1e-6);
  EXPECT_THAT(refused.quarantined.reason, HasSubstr("at least 2.097 us"));
}

TEST(KernelAccount, a_fused_kernel_has_the_flops_of_all_its_operators_and_two_kernels_their_own) {
  const OperatorGraph graph = qwen_graph();
  const KernelAccount one = account(R"({"kernels": [{"category": "moe", "dur_us": 30}]})", graph);
  const KernelAccount two = account(
      R"({"kernels": [{"category": "moe", "dur_us": 20}, {"category": "moe", "dur_us": 10}]})",
      graph);
  EXPECT_EQ(one.rows[0].flops, 37'748'736);
  EXPECT_THAT(one.rows[0].operators, testing::Contains("expert_down"));
  EXPECT_EQ(two.rows[0].flops, 2 * 37'748'736 / 3);
  EXPECT_EQ(two.rows[1].flops, 37'748'736 / 3);
  EXPECT_EQ(two.rows[0].how, "order");
}

TEST(KernelAccount, rows_of_one_operator_share_its_flops_by_launches_and_say_so) {
  const KernelAccount a = account(R"({"kernels": [
      {"category": "gemm", "operator": "q_proj", "dur_us": 9, "count": 3},
      {"category": "gemm", "operator": "q_proj", "dur_us": 1}]})",
                                  qwen_graph());
  EXPECT_EQ(a.rows[0].status, BindingStatus::shared);
  EXPECT_EQ(a.rows[0].flops, 8'388'608 * 0.75);
  EXPECT_EQ(a.rows[1].flops, 8'388'608 * 0.25);
  EXPECT_THAT(a.rows[1].how, HasSubstr("shared"));
}

TEST(KernelAccount, what_is_not_unique_stays_ambiguous_with_its_candidates_and_its_time) {
  const KernelAccount a = account(R"({"kernels": [
      {"name": "g", "category": "gemm_bf16", "half": "attn", "dur_us": 4},
      {"name": "n", "category": "rmsnorm", "dur_us": 2}]})",
                                  qwen_graph());
  EXPECT_EQ(a.rows[0].status, BindingStatus::ambiguous);
  EXPECT_THAT(a.rows[0].candidates, ElementsAre("q_proj", "kv_proj", "o_proj"));
  EXPECT_THAT(a.rows[0].operators, IsEmpty());
  EXPECT_FALSE(a.rows[0].flops);
  EXPECT_FALSE(a.rows[0].mfu);
  EXPECT_EQ(a.assigned_ps, 6'000'000);
  EXPECT_FALSE(a.mfu);
  EXPECT_THAT(a.reason, HasSubstr("ambiguous"));
  expect_conserved(a);
}

TEST(KernelAccount, as_many_products_as_rows_bind_in_order) {
  const OperatorGraph graph = graph_of(tiny(), decode(1, 4));
  std::string rows;
  for (int i = 0; i < 5; ++i) rows += R"({"category": "gemm_bf16", "dur_us": 1},)";
  rows.pop_back();
  const KernelAccount a = account("{\"kernels\": [" + rows + "]}", graph);
  const char* expected[] = {"q_proj", "kv_proj", "o_proj", "gate_up_proj", "down_proj"};
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_THAT(a.rows[i].operators, ElementsAre(expected[i]));
  }
  EXPECT_EQ(a.rows[3].flops, 2.0 * 1 * 8 * 32);
}

TEST(KernelAccount, every_row_has_the_peak_of_its_own_type) {
  const std::string rows = R"({"kernels": [
      {"category": "gemm_fp8", "operator": "q_proj", "dur_us": 4},
      {"category": "gemm_bf16", "operator": "o_proj", "dur_us": 4},
      {"category": "moe", "dur_us": 30},
      {"category": "gemm_f32", "operator": "router", "dur_us": 4}]})";
  const KernelAccount a = account(rows, qwen_graph());
  EXPECT_EQ(a.rows[0].peak_flops_per_s, 296e12);
  EXPECT_EQ(a.rows[1].peak_flops_per_s, 148e12);
  EXPECT_EQ(a.rows[2].peak_flops_per_s, 148e12) << "fp8 products around do not make experts fp8";
  EXPECT_EQ(a.rows[3].peak_flops_per_s, 44e12);
  const auto int8_graph = graph_of(shipped("qwen3-0.6b"), decode(1, 16, {}, int8()));
  const KernelAccount b = account(
      R"({"kernels": [{"category": "gemm_bf16", "operator": "q_proj", "dur_us": 4},
                      {"category": "gemm", "operator": "o_proj", "dur_us": 4}]})",
      int8_graph);
  EXPECT_EQ(b.rows[0].peak_flops_per_s, 148e12) << "a narrow run does not make this row narrow";
  EXPECT_EQ(b.rows[1].peak_flops_per_s, 296e12);
  // The whole sums ideal times, each at its own peak.
  const double ideal = *b.rows[0].flops / 148e12 + *b.rows[1].flops / 296e12;
  EXPECT_NEAR(b.mfu.value(), ideal / 8e-6, 1e-12);
}

TEST(KernelAccount, totals_of_a_category_are_all_its_operators) {
  const OperatorGraph graph = qwen_graph();
  const KernelProfile table =
      read_kernel_ms(parse_json(R"({"gemm_bf16": 0.010, "moe": 0.03, "allreduce": 0.02,
                                    "attention": 0.006, "rmsnorm": 0.008, "other": 0.001})",
                                "k"),
                     "k");
  const KernelAccount a = account_kernels(table, graph, h20(), {});
  expect_conserved(a);
  EXPECT_EQ(a.rows[0].flops, 2 * 8'388'608 + 2'097'152 + 1'048'576);
  EXPECT_EQ(a.rows[1].flops, 37'748'736);
  EXPECT_EQ(a.rows[2].operators.size(), 2u);
  EXPECT_EQ(a.rows[4].operators.size(), 4u);
  EXPECT_TRUE(a.mfu);
}

TEST(KernelAccount, a_table_is_of_one_layer_and_says_which) {
  const OperatorGraph graph = graph_of(shipped("glm-4.5-air"), decode(1, 1));
  const std::string rows =
      R"("kernels": [{"category": "gemm", "operator": "down_proj", "dur_us": 9}]})";
  EXPECT_EQ(account(R"({"metadata": {"layer_id": 0}, )" + rows, graph).rows[0].layer_type,
            "decoder");
  test::expect_each(
      [&](const std::string& metadata) { return refusal("{" + metadata + rows, graph); },
      {{R"("metadata": {"layer_id": 1}, )",
        "unknown operator 'down_proj' of layer type decoder_moe"},
       {"", "several types"},
       {R"("metadata": {"layer_id": 1, "layer_type": "decoder"}, )",
        "layer 1 of glm-4.5-air is of type decoder_moe"},
       {R"("metadata": {"layer_id": 99}, )", "beyond"},
       {R"("metadata": {"layer_type": "decodr"}, )", "did you mean"},
       {R"("metadata": {"layer_id": 0, "compress_ratio": 4}, )",
        "compress_ratio 4: no such layer in glm-4.5-air"},
       {R"("metadata": {"layer_id": 0, "cached": 7}, )", "--context 8 fits the table"}});
}

TEST(KernelAccount, without_a_device_or_a_peak_nothing_is_invented) {
  const OperatorGraph graph = qwen_graph();
  const KernelProfile table = read_kernel_flow(
      parse_json(R"({"kernels": [{"category": "gemm_bf16", "operator": "q_proj", "dur_us": 4}]})",
                 "f"),
      "f");
  const KernelAccount a = account_kernels(table, graph, std::nullopt, {});
  EXPECT_FALSE(a.rows[0].mfu);
  EXPECT_EQ(a.rows[0].reason, "no device named (--device)");
  EXPECT_EQ(a.rows[0].flops, 8'388'608);
  EXPECT_FALSE(a.mfu);
  Device bare = h20();
  bare.peaks.clear();
  const KernelAccount b = account_kernels(table, graph, bare, {});
  EXPECT_EQ(b.rows[0].reason, "no peak for bf16 on h20");
}

TEST(KernelAccount, operators_that_no_row_is_are_listed) {
  const KernelAccount a =
      account(R"({"kernels": [{"category": "moe", "dur_us": 4}]})", qwen_graph());
  EXPECT_THAT(a.unmeasured,
              ElementsAre("decoder_moe.q_proj", "decoder_moe.kv_proj", "decoder_moe.attention",
                          "decoder_moe.o_proj", "decoder_moe.router"));
}

// Any table, whatever nonsense its categories are: every row is there once, every picosecond has a
// place, and no figure is infinite.
TEST(KernelAccount, time_is_conserved_over_random_tables) {
  const OperatorGraph graph = qwen_graph();
  std::mt19937_64 random(20261121);
  const auto below = [&](std::size_t n) { return random() % n; };
  const auto categories = all_kernel_categories();
  for (int repetition = 0; repetition < 300; ++repetition) {
    KernelProfile table;
    std::int64_t sum_ps = 0;
    for (std::size_t l = 0; l <= below(3); ++l) {
      KernelLayer layer{.where = "t"};
      for (std::size_t k = 0; k <= below(40); ++k) {
        ProfiledKernel row{.category = "nonsense", .half = static_cast<LayerHalf>(below(3))};
        if (below(8) != 0) row.category = categories[below(categories.size())].name;
        row.duration_ps = 1 + static_cast<std::int64_t>(below(1'000'000'000));
        row.count = 1 + static_cast<std::int64_t>(below(4));
        if (below(10) == 0) row.operators = {"q_proj"};
        if (below(10) == 0) row.dtype = Dtype::f8_e4m3fn;
        row.is_category_total = below(10) == 0;
        layer.kernels.push_back(row);
      }
      const auto gap = static_cast<std::int64_t>(below(2) * below(1'000'000));
      if (below(2) == 0) layer.total_ps = layer.kernels_ps() + gap;
      sum_ps += layer.total_ps.value_or(layer.kernels_ps());
      table.layers.push_back(layer);
    }
    const KernelAccount a = account_kernels(table, graph, h20(), {});
    expect_conserved(a);
    EXPECT_EQ(a.total_ps, sum_ps);
    std::size_t rows = 0;
    for (const KernelLayer& layer : table.layers) {
      for (const ProfiledKernel& row : layer.kernels) {
        EXPECT_EQ(a.rows[rows].time.category, row.category);
        EXPECT_EQ(a.rows[rows++].time.duration_ps, row.duration_ps);
      }
    }
    EXPECT_EQ(a.rows.size(), rows);
    for (const AccountedKernel& row : a.rows) {
      EXPECT_EQ(row.status == BindingStatus::ambiguous, !row.candidates.empty());
      if (row.mfu) {
        EXPECT_TRUE(std::isfinite(*row.mfu));
      }
      if (row.status == BindingStatus::ambiguous) {
        EXPECT_FALSE(row.mfu);
      }
    }
  }
}

// Shares of an operator add to one: nothing is counted twice, nothing is lost.
TEST(KernelAccount, the_rows_of_a_layer_never_have_more_flops_than_the_layer) {
  const OperatorGraph graph = qwen_graph();
  double layer_flops = 0;
  for (const Operator& op : graph.operators) {
    if (op.layer_type == "decoder_moe") layer_flops += op.rank_work.matmul_flops;
  }
  std::mt19937_64 random(7);
  const auto categories = all_kernel_categories();
  for (int repetition = 0; repetition < 200; ++repetition) {
    KernelLayer layer{.where = "t"};
    for (std::size_t k = 0; k < 30; ++k) {
      layer.kernels.push_back(
          {.category = std::string(categories[random() % categories.size()].name),
           .duration_ps = 1'000'000,
           .count = 1 + static_cast<std::int64_t>(random() % 3)});
    }
    double sum = 0;
    for (const AccountedKernel& row : account_kernels({{layer}}, graph, h20(), {}).rows) {
      sum += row.flops.value_or(0);
    }
    EXPECT_LE(sum, layer_flops * (1 + 1e-12));
  }
}

}  // namespace
}  // namespace halmark
