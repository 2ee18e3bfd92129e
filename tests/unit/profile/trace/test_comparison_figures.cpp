// Figures, notes and sizes of a comparison, by hand: one layer with H 8, 4 heads of width 4 on 2
// heads of keys and values, FFN 16; two sequences of 3 tokens.
#include <gmock/gmock.h>

#include <functional>

#include "trace_text.hpp"

#include "model/spec/model_spec.hpp"

namespace halmark::trace_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

ModelSpec one_layer() {
  return read_model(R"({"model_type": "llama", "num_hidden_layers": 1, "hidden_size": 8,
    "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 4, "intermediate_size": 16,
    "vocab_size": 32, "tie_word_embeddings": false, "max_position_embeddings": 128})",
                    "one.json");
}

// `attention` stands inside the attention module, at 10 to 18 us.
TraceText layer(const std::function<void(TraceText&)>& attention) {
  TraceText t;
  t.module("LlamaForCausalLM_0", 0, 100).module("LlamaModel_0", 1, 90);
  t.module("LlamaDecoderLayer_0", 2, 80).module("LlamaAttention_0", 3, 40);
  attention(t);
  t.module("RowParallelLinear_0", 30, 4).op("aten::mm", 31, 1, "[[6, 16], [16, 8]]");
  return t;
}

TraceText& sdpa(TraceText& t, const char* causal, const char* mask = "[]", double at = 10) {
  return t.op(
      "aten::scaled_dot_product_attention", at, 3,
      "[[2, 4, 3, 4], [2, 2, 3, 4], [2, 2, 3, 4], " + std::string(mask) + ", [], [], [], []]",
      R"(["", "", "", "", "0.", ")" + std::string(causal) + R"(", "", "True"])");
}

Comparison compared(const TraceText& t, const LayerRange& layers = {}) {
  const Read r = read_text(t.text());
  const Workload sizes{.phase = Phase::prefill, .batch = 2, .new_tokens = 3, .context = 3};
  auto graph = build_graph(one_layer(), {"m", {}, {"f32"}, sizes});
  Comparison out;
  compare_pass(r.recording, r.attribution, 0, *std::move(graph), 0.01, layers, out);
  return out;
}

ComparedRow row_of(const Comparison& c, std::string_view operators) {
  for (const ComparedRow& row : c.rows) {
    if (row.operators == operators) return row;
  }
  throw std::runtime_error("no row " + std::string(operators));
}

// 2 sequences x 4 heads x 2 products of width 4, of 6 causal or 9 pairs.
constexpr double causal_flops = 2. * 2 * 4 * 6 * (4 + 4);
constexpr double full_flops = 2. * 2 * 4 * 9 * (4 + 4);

TEST(ComparisonFigures, attention_is_compared_by_the_pairs_that_it_computes) {
  const auto row = [](const char* causal, const char* mask) {
    return row_of(compared(layer([&](TraceText& t) { sdpa(t, causal, mask); })), "attention");
  };
  const ComparedRow causal = row("True", "[]");
  EXPECT_EQ(causal.trace_flops, causal_flops);
  EXPECT_EQ(causal.model_flops, causal_flops);
  EXPECT_EQ(causal.verdict, Verdict::ok);
  EXPECT_EQ(causal.note, "");
  const ComparedRow full = row("False", "[]");
  EXPECT_EQ(full.trace_flops, full_flops);
  EXPECT_EQ(full.model_flops, full_flops);
  EXPECT_EQ(full.verdict, Verdict::ok);
  EXPECT_EQ(full.note,
            "no mask: every pair is computed and compared; a causal count has 768 FLOPs");
  EXPECT_EQ(row("False", "[2, 1, 3, 3]").note,
            "the mask is a tensor: every pair is computed and compared; a causal count has 768 "
            "FLOPs");
  EXPECT_EQ(row("False", "[2, 1, 3, 3]").verdict, Verdict::ok);
}

TEST(ComparisonFigures, what_is_missing_or_unknown_has_the_figure_of_the_model_alone) {
  const Comparison without = compared(layer([](TraceText&) {}));
  const ComparedRow missing = row_of(without, "attention");
  EXPECT_EQ(missing.verdict, Verdict::missing_in_trace);
  EXPECT_EQ(missing.model_flops, causal_flops);
  EXPECT_EQ(missing.trace_flops, std::nullopt);
  EXPECT_THAT(missing.sources, IsEmpty());
  EXPECT_EQ(without.unexplained(), 0u);
  const Comparison vague = compared(layer([](TraceText& t) { sdpa(t, ""); }));
  const ComparedRow unknown = row_of(vague, "attention");
  EXPECT_EQ(unknown.verdict, Verdict::unknown);
  EXPECT_EQ(unknown.note, "FLOPs unknown: whether it is causal is not in the trace");
  EXPECT_EQ(unknown.trace_flops, std::nullopt);
  EXPECT_THAT(unknown.sources,
              ElementsAre("model.layers.0.self_attn aten::scaled_dot_product_attention x1"));
  EXPECT_EQ(vague.unexplained(), 1u);
}

TEST(ComparisonFigures, executions_and_calls_add) {
  const Comparison twice = compared(layer([](TraceText& t) {
    sdpa(t, "True");
    sdpa(t, "True", "[]", 14);
  }));
  const ComparedRow row = row_of(twice, "attention");
  EXPECT_EQ(row.trace_flops, 2 * causal_flops);
  EXPECT_EQ(row.verdict, Verdict::mismatch);
  EXPECT_THAT(row.sources,
              ElementsAre("model.layers.0.self_attn aten::scaled_dot_product_attention x2"));
  const ComparedRow o = row_of(twice, "o_proj");
  EXPECT_EQ(o.trace_flops, 2. * 6 * 16 * 8);
  EXPECT_EQ(o.model_flops, 2. * 6 * 16 * 8);
}

TEST(ComparisonFigures, products_that_the_model_does_not_have_keep_their_figure) {
  TraceText t = layer([](TraceText& inner) { sdpa(inner, "True"); });
  t.module("Mystery_0", 60, 9).op("aten::mm", 61, 1, "[[6, 5], [5, 7]]");
  t.op("aten::mm", 63, 1, "[[6, 5], [5, 7]]").op("aten::mm", 65, 1, "[[6, 5], [9, 7]]");
  const Comparison c = compared(t);
  std::vector<ComparedRow> strange;
  for (const ComparedRow& row : c.rows) {
    if (row.verdict == Verdict::not_in_model) strange.push_back(row);
  }
  ASSERT_EQ(strange.size(), 2u);
  EXPECT_EQ(strange[0].trace_flops, 2 * 2. * 6 * 5 * 7);
  EXPECT_EQ(strange[0].model_flops, std::nullopt);
  EXPECT_EQ(strange[0].note, "");
  EXPECT_EQ(strange[1].trace_flops, std::nullopt);
  EXPECT_EQ(strange[1].note, "the inner sizes of its matrices differ");
  EXPECT_EQ(c.unexplained(), 2u);
}

TEST(ComparisonFigures, rows_stand_in_the_order_of_the_model) {
  const Comparison c = compared(layer([](TraceText& t) { sdpa(t, "True"); }));
  std::vector<std::string> names;
  for (const ComparedRow& row : c.rows) names.push_back(row.operators);
  EXPECT_THAT(names, ElementsAre("lm_head", "q_proj", "kv_proj", "attention", "o_proj",
                                 "gate_up_proj", "down_proj"));
  EXPECT_EQ(c.rows[0].layer, -1);
  EXPECT_EQ(c.rows[1].layer, 0);
  for (const LayerRange range : {LayerRange{0, 0}, LayerRange{0, 7}}) {
    const Comparison some = compared(layer([](TraceText& t) { sdpa(t, "True"); }), range);
    EXPECT_EQ(some.rows.size(), 6u) << "without what is outside of layers";
  }
  EXPECT_EQ(compared(layer([](TraceText& t) { sdpa(t, "True"); }), {1, 7}).rows.size(), 0u);
}

TEST(ComparisonFigures, work_without_products_is_counted_by_name_and_explanation) {
  TraceText t = layer([](TraceText& inner) {
    sdpa(inner, "True").op("aten::mul", 20, 1).op("aten::add", 22, 1).op("aten::mul", 24, 1);
  });
  t.op("aten::mul", 60, 1).op("mylib::fused", 62, 1).op("mylib::fused", 64, 1);
  const Comparison c = compared(t);
  std::vector<std::string> work;
  for (const ExplainedWork& w : c.work) {
    work.push_back(w.operator_name + " x" + std::to_string(w.count) + " " + w.explanation);
  }
  EXPECT_THAT(work, ElementsAre("aten::mul x2 layer: rope, cache and masks of attention",
                                "aten::add x1 layer: rope, cache and masks of attention",
                                "aten::mul x1 layer: residual_add", "mylib::fused x2 "));
  EXPECT_EQ(c.unexplained(), 2u);
  EXPECT_EQ(c.work[0].path, "model.layers.0.self_attn");
}

std::optional<Workload> seen(const TraceText& t, const Parallel& parallel = {}) {
  const Read r = read_text(t.text());
  return workload_of(r.attribution, 0, one_layer(), parallel);
}

TraceText& attention_of(TraceText& t, int queries, int keys, double at = 10) {
  const std::string q = std::to_string(queries), k = std::to_string(keys);
  return t.op("aten::scaled_dot_product_attention", at, 3,
              "[[2, 4, " + q + ", 4], [2, 2, " + k + ", 4], [2, 2, " + k + ", 4], [], [], []]",
              R"(["", "", "", "", "0.", "False"])");
}

TEST(WorkloadSeen, is_that_of_the_whole_deployment_and_of_the_longest_context) {
  const auto one = layer([](TraceText& t) { attention_of(t, 3, 3); });
  EXPECT_EQ(seen(one), (Workload{Phase::prefill, 2, 3, 3}));
  EXPECT_EQ(seen(one, {.dp = 2}), (Workload{Phase::prefill, 4, 3, 3}));
  EXPECT_EQ(seen(one, {.pp = 3}), (Workload{Phase::prefill, 6, 3, 3}));
  EXPECT_EQ(seen(one, {.dp = 2, .pp = 3}), (Workload{Phase::prefill, 12, 3, 3}));
  for (const auto& [first, second] : {std::pair{5, 9}, {9, 5}}) {
    const auto two = layer([first = first, second = second](TraceText& t) {
      attention_of(t, 3, first);
      attention_of(t, 3, second, 14);
    });
    EXPECT_EQ(seen(two), (Workload{Phase::prefill, 2, 3, 9}));
  }
  EXPECT_EQ(seen(layer([](TraceText&) {})), std::nullopt);
}

TEST(WorkloadSeen, decodes_where_the_stage_and_the_single_query_say_so) {
  EXPECT_EQ(seen(layer([](TraceText& t) { attention_of(t, 1, 7); })),
            (Workload{Phase::decode, 2, 1, 7}));
  const auto said = [](const char* stage, int queries) {
    TraceText t;
    t.annotation(stage, 0, 90).annotation("model.layers.0.self_attn", 1, 80);
    return seen(attention_of(t, queries, 7))->phase;
  };
  EXPECT_EQ(said("decode", 1), Phase::decode);
  EXPECT_EQ(said("prefill", 1), Phase::prefill);
  EXPECT_EQ(said("decode", 3), Phase::prefill);
}

TEST(WorkloadSeen, follows_from_products_of_the_attention_too) {
  const auto product = [](const char* dims) {
    return layer([dims](TraceText& t) { t.op("aten::bmm", 10, 3, dims); });
  };
  // Scores [batch x heads, queries, width] x [.., width, keys], and weights times values.
  EXPECT_EQ(seen(product("[[8, 3, 4], [8, 4, 7]]")), (Workload{Phase::prefill, 2, 3, 7}));
  EXPECT_EQ(seen(product("[[8, 3, 7], [8, 7, 4]]")), (Workload{Phase::prefill, 2, 3, 7}));
  EXPECT_EQ(seen(product("[[8, 1, 4], [8, 4, 7]]")), (Workload{Phase::decode, 2, 1, 7}));
  EXPECT_EQ(seen(product("[[4, 3, 4], [4, 4, 7]]"), {.tp = 2}),
            (Workload{Phase::prefill, 2, 3, 7}));
  EXPECT_EQ(seen(product("[[3, 3, 4], [3, 4, 7]]"), {.tp = 4}),
            (Workload{Phase::prefill, 3, 3, 7}));
  EXPECT_EQ(seen(product("[[6, 3, 4], [6, 4, 7]]")), std::nullopt) << "no multiple of the heads";
}

}  // namespace
}  // namespace halmark::trace_test
