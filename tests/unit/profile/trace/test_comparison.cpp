// Real traces (tests/data/README.md says how they were made) against the operator graph, and what
// a difference looks like.
#include <gmock/gmock.h>

#include <map>

#include "tests/unit/expect.hpp"
#include "trace_text.hpp"

#include "model/spec/model_spec.hpp"
#include "profile/comparison/model_comparison.hpp"

namespace halmark::trace_test {
namespace {

using testing::HasSubstr;

Precision f32() { return {"f32"}; }

ModelSpec tiny() { return load_model(data_file("tiny-qwen3.json"), {}); }

OperatorGraph graph_of(const ModelSpec& spec, const Workload& workload, Parallel parallel = {}) {
  auto built = build_graph(spec, {"m", parallel, f32(), workload});
  if (const auto* refusal = built.why()) throw std::runtime_error(refusal->text);
  return *std::move(built);
}

Read read_file(std::string_view name) {
  const auto source = open_bytes(data_file(name));
  return read_bytes(*source);
}

Comparison compare_all(const Read& r, const ModelSpec& spec, const Parallel& parallel = {}) {
  Comparison out;
  for (std::uint32_t i = 0; i < r.attribution.passes.size(); ++i) {
    const auto workload = workload_of(r.attribution, i, spec, parallel);
    if (!workload) throw std::runtime_error("pass without attention");
    compare_pass(r.recording, r.attribution, i, graph_of(spec, *workload, parallel), 0.01, {}, out);
  }
  return out;
}

std::string faults_of(const Comparison& comparison) {
  std::string out;
  for (const ComparedRow& row : comparison.rows) {
    if (row.verdict == Verdict::ok) continue;
    out += row.operators + ": " + std::string(verdict_name(row.verdict)) + ' ' + row.note + '\n';
  }
  for (const ExplainedWork& w : comparison.work) {
    if (w.explanation.empty()) out += "unexplained: " + w.path + ' ' + w.operator_name + '\n';
  }
  return out;
}

class RealTrace : public testing::TestWithParam<const char*> {};

TEST_P(RealTrace, every_operator_of_every_layer_is_the_model_s_and_nothing_is_unexplained) {
  const Read r = read_file(GetParam());
  const ModelSpec spec = tiny();
  ASSERT_EQ(r.attribution.passes.size(), 2u);
  EXPECT_EQ(r.attribution.passes[0].stage, TraceStage::prefill);
  EXPECT_EQ(r.attribution.passes[1].stage, TraceStage::decode);
  // What the script asked for: two sequences of 16 tokens, then one more token each.
  EXPECT_EQ(workload_of(r.attribution, 0, spec, {}),
            (Workload{.phase = Phase::prefill, .batch = 2, .new_tokens = 16, .context = 16}));
  EXPECT_EQ(workload_of(r.attribution, 1, spec, {}),
            (Workload{.phase = Phase::decode, .batch = 2, .new_tokens = 1, .context = 17}));
  const Comparison c = compare_all(r, spec);
  EXPECT_EQ(faults_of(c), "");
  EXPECT_EQ(c.unexplained(), 0u);
  // Per pass: q, kv, attention, o, gate and up, down in each of 3 layers, and the head.
  EXPECT_EQ(c.rows.size(), 2u * (3 * 6 + 1));
  for (const ComparedRow& row : c.rows)
    EXPECT_EQ(row.trace_flops, row.model_flops) << row.operators;
}

INSTANTIATE_TEST_SUITE_P(Files, RealTrace,
                         testing::Values("tiny-qwen3-sdpa.trace.json.gz",
                                         "tiny-qwen3-eager.trace.json.gz"),
                         [](const auto& info) {
                           return std::string(info.param).find("sdpa") != std::string::npos
                                      ? "sdpa"
                                      : "eager";
                         });

TEST(RealTraceFlops, the_sum_is_that_of_the_weights) {
  const Read r = read_file("tiny-qwen3-eager.trace.json.gz");
  // 2 x parameters of the matrices x tokens, the head for the last tokens, and full attention.
  const double layer = 64 * 128 + 2. * 64 * 64 + 128 * 64 + 3. * 64 * 160;
  const double prefill = 2 * (3 * layer * 32 + 512. * 64 * 2) + 3 * 4. * 2 * 4 * 16 * 16 * 32;
  const double decode = 2 * (3 * layer * 2 + 512. * 64 * 2) + 3 * 4. * 2 * 4 * 17 * 32;
  // The rotary embedding computes its angles as a product of 16 frequencies and the positions.
  const double angles = 2. * 16 * (16 + 1);
  const double rest = r.flops() - prefill - decode;
  EXPECT_TRUE(rest == 0 || rest == angles) << rest;
}

ModelSpec twice_as_wide(ModelSpec spec) {
  for (auto* size : {&spec.heads, &spec.kv_heads, &spec.intermediate, &spec.vocab}) *size *= 2;
  return spec;
}

// The recorded model is the share of one of two ranks of a model twice as wide: the same trace,
// scaled, is that model's step. Norms and what else is replicated have no products to multiply.
TEST(RealTraceOfARank, scaled_to_the_model_it_is_what_the_whole_model_computes) {
  const Read r = read_file("tiny-qwen3-sdpa.trace.json.gz");
  const ModelSpec wide = twice_as_wide(tiny());
  const ModelComparison c = compare_model(
      r.recording, r.attribution, {.spec = wide, .configuration = {"m", {.tp = 2}, f32(), {}}}, {});
  EXPECT_EQ(faults_of(c.comparison), "");
  for (std::uint32_t pass = 0; pass < 2; ++pass) {
    const PassFlops flops = c.flops(pass);
    const double whole = graph_of(wide, *c.passes[pass].workload).totals.matmul_flops;
    EXPECT_EQ(flops.scaled, whole);
    EXPECT_EQ(flops.whole, whole);
    EXPECT_EQ(flops.trace, flops.model);
    EXPECT_EQ(2 * flops.trace, flops.scaled) << "no product of this model is replicated";
    EXPECT_EQ(flops.unknown, 0u);
  }
}

// Latent attention: both ranks compute the low-rank projections, so the model has them once.
TEST(RealTraceOfARank, what_ranks_replicate_is_not_multiplied) {
  const Read r = read_file("tiny-deepseek-v3.2.trace.json.gz");
  const ModelSpec wide = twice_as_wide(load_model(data_file("tiny-deepseek-v3.2.json"), {}));
  const ModelComparison c = compare_model(
      r.recording, r.attribution, {.spec = wide, .configuration = {"m", {.tp = 2}, f32(), {}}}, {});
  std::map<std::string, double> factors;
  for (const ComparedRow& row : c.comparison.rows) {
    if (row.scaled_flops) factors[row.operators] = *row.scaled_flops / *row.trace_flops;
  }
  EXPECT_THAT(factors, test::HasValues(R"({"/o_proj": 2, "/q_a_proj": 1})"));
}

TEST(RealTraceDifference, another_model_is_not_the_same) {
  const Read r = read_file("tiny-qwen3-sdpa.trace.json.gz");
  ModelSpec wide = tiny(), deep = tiny(), shallow = tiny();
  wide.intermediate = 176;
  deep.layers = 4;
  shallow.layers = 2;
  for (ModelSpec* spec : {&wide, &deep, &shallow}) {
    spec->windows.assign(static_cast<std::size_t>(spec->layers), 0);
  }
  const Comparison c = compare_all(r, wide);
  EXPECT_EQ(c.count(Verdict::mismatch), 2u * 3 * 2);  // gate and up, down
  EXPECT_EQ(c.count(Verdict::ok), c.rows.size() - 12);
  EXPECT_EQ(compare_all(r, deep).count(Verdict::missing_in_trace), 2u * 6);
  EXPECT_GT(compare_all(r, shallow).count(Verdict::not_in_model), 0u);
}

// One layer on one of two ranks of a decoder with H 8, 4 heads of width 4, FFN 16.
TraceText rank_of_two() {
  TraceText t;
  t.module("LlamaForCausalLM_0", 0, 100).module("LlamaModel_0", 1, 90);
  t.module("LlamaDecoderLayer_0", 2, 80).module("LlamaAttention_0", 3, 40);
  t.module("QKVParallelLinear_0", 4, 4).op("aten::mm", 5, 1, "[[6, 8], [8, 16]]");
  t.op("aten::scaled_dot_product_attention", 10, 3,
       "[[2, 2, 3, 4], [2, 1, 3, 4], [2, 1, 3, 4], [], [], [], [], []]",
       R"(["", "", "", "", "0.", "True", "", "True"])");
  t.module("RowParallelLinear_0", 15, 4).op("aten::mm", 16, 1, "[[6, 8], [8, 8]]");
  t.op("c10d::allreduce_", 20, 2);
  t.module("LlamaMLP_0", 50, 30);
  t.module("MergedColumnParallelLinear_0", 51, 4).op("aten::mm", 52, 1, "[[6, 8], [8, 16]]");
  t.module("RowParallelLinear_1", 60, 4).op("aten::mm", 61, 1, "[[6, 8], [8, 8]]");
  return t;
}

ModelSpec one_layer() {
  return read_model(R"({"model_type": "llama", "num_hidden_layers": 1, "hidden_size": 8,
    "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 4, "intermediate_size": 16,
    "vocab_size": 32, "tie_word_embeddings": false, "max_position_embeddings": 128})",
                    "one.json");
}

TEST(RankComparison, a_rank_is_compared_with_its_share_and_fused_projections_with_their_sum) {
  const Read r = read_text(rank_of_two().text());
  const Comparison c = compare_all(r, one_layer(), {.tp = 2});
  // The head was not profiled; all else is there.
  EXPECT_EQ(faults_of(c), "lm_head: missing in trace \n");
  bool has_fused = false;
  for (const ComparedRow& row : c.rows) has_fused |= row.operators == "q_proj + kv_proj";
  EXPECT_TRUE(has_fused);
  // The same trace is not that of a whole model.
  EXPECT_GT(compare_all(r, one_layer()).count(Verdict::mismatch), 0u);
}

TEST(RankComparison, an_operator_of_unknown_flops_is_unknown_and_a_custom_one_unexplained) {
  TraceText t = rank_of_two();
  t.module("MarlinLinear_0", 70, 9).op("_C::marlin_gemm", 71, 5);
  const Comparison c = compare_all(read_text(t.text()), one_layer(), {.tp = 2});
  EXPECT_EQ(c.unexplained(), 1u);
  EXPECT_THAT(faults_of(c), HasSubstr("_C::marlin_gemm"));
}

TEST(RankComparison, tolerance_decides) {
  const Read r = read_text(rank_of_two().text());
  ModelSpec spec = one_layer();
  spec.intermediate = 18;  // 9 columns on a rank instead of 8: 11 % less than the model
  const auto mismatches = [&](double tolerance) {
    Comparison out;
    const auto workload = workload_of(r.attribution, 0, spec, {.tp = 2});
    compare_pass(r.recording, r.attribution, 0, graph_of(spec, *workload, {.tp = 2}), tolerance,
                 {.first = 0, .last = 0}, out);
    return out.count(Verdict::mismatch);
  };
  EXPECT_EQ(mismatches(0.01), 2u);
  EXPECT_EQ(mismatches(0.12), 0u);
}

}  // namespace
}  // namespace halmark::trace_test
