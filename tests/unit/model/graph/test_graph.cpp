

#include "fixtures.hpp"
#include "model/graph/sizing.hpp"

namespace halmark {
namespace {

using namespace model_test;

TEST(Graph, a_qwen3_layer_executes_in_order) {
  const OperatorGraph graph = graph_of("qwen3-0.6b", decode(2, 64));
  EXPECT_THAT(names_of(graph, "decoder"),
              ElementsAre("input_norm", "q_proj", "kv_proj", "q_norm", "k_norm", "rope",
                          "kv_append", "attention", "o_proj", "attention_residual_add", "post_norm",
                          "gate_up_proj", "gated_activation", "down_proj", "ffn_residual_add"));
  EXPECT_THAT(names_of(graph, "embedding"), ElementsAre("embedding"));
  EXPECT_THAT(names_of(graph, "head"), ElementsAre("final_norm", "lm_head"));
  EXPECT_EQ(find_operator(graph, "q_proj").count, 28);
  EXPECT_EQ(find_operator(graph, "lm_head").count, 1);
}

TEST(Graph, int8_brings_its_quantize_and_dequantize) {
  const OperatorGraph graph = graph_of("qwen3-0.6b", decode(2, 64, {}, int8()));
  EXPECT_THAT(names_of(graph, "decoder"),
              ElementsAre("input_norm", "qkv_quantize", "q_proj", "q_proj_dequantize", "kv_proj",
                          "kv_proj_dequantize", "q_norm", "k_norm", "rope", "kv_append",
                          "attention", "o_quantize", "o_proj", "o_proj_dequantize",
                          "attention_residual_add", "post_norm", "gate_up_quantize", "gate_up_proj",
                          "gate_up_proj_dequantize", "gated_activation", "down_quantize",
                          "down_proj", "down_proj_dequantize", "ffn_residual_add"));
  EXPECT_THAT(names_of(graph, "head"),
              ElementsAre("final_norm", "lm_head_quantize", "lm_head", "lm_head_dequantize"));
  const Params& gemm = find_operator(graph, "q_proj").local.params;
  EXPECT_EQ(gemm.dtype("src_dtype"), Dtype::s8);
  EXPECT_EQ(gemm.dtype("wei_dtype"), Dtype::s8);
  EXPECT_EQ(gemm.dtype("dst_dtype"), Dtype::s32);
  EXPECT_EQ(find_operator(graph, "q_proj").dtype, Dtype::s8);
}

TEST(Graph, precision_changes_no_flop_and_no_parameter) {
  const ModelSpec spec = shipped("qwen3-0.6b");
  const GraphTotals base = graph_of(spec, decode(4, 256)).totals;
  for (const Precision& precision : {f32(), int8(), fp8()}) {
    const GraphTotals other = graph_of(spec, decode(4, 256, {}, precision)).totals;
    EXPECT_EQ(other.matmul_flops, base.matmul_flops) << precision.name;
    EXPECT_EQ(other.parameters, base.parameters) << precision.name;
    EXPECT_EQ(other.active_parameters, base.active_parameters) << precision.name;
  }
}

TEST(Graph, weights_are_read_as_the_checkpoints_store_them) {
  const OperatorGraph graph = graph_of(tiny(), decode(2, 8));
  const Problem& gate_up = find_operator(graph, "gate_up_proj").local;
  EXPECT_EQ(gate_up.op, "gemm");
  EXPECT_EQ(gate_up.params.at("m"), 2);
  EXPECT_EQ(gate_up.params.at("n"), 32);  // gate and up
  EXPECT_EQ(gate_up.params.at("k"), 8);
  EXPECT_EQ(gate_up.params.at("wei_trans"), 1);
}

TEST(Graph, tensor_parallel_adds_its_collectives) {
  const OperatorGraph graph = graph_of(tiny(), decode(2, 8, {.tp = 2}));
  EXPECT_THAT(names_of(graph, "decoder"),
              testing::IsSupersetOf({"attention_all_reduce", "ffn_all_reduce"}));
  const Operator& reduce = find_operator(graph, "attention_all_reduce");
  EXPECT_EQ(reduce.local.params.at("bytes"), 2 * 8 * 2);  // tokens x hidden x bf16
  EXPECT_EQ(reduce.local.params.at("ranks"), 2);
  EXPECT_FALSE(reduce.whole.has_value());
  EXPECT_EQ(reduce.flops, 0);
  const Operator& gather = find_operator(graph, "logits_all_gather");
  EXPECT_EQ(gather.local.params.at("bytes"), 2 * 16 * 2);  // rows x vocabulary shard x bf16
  EXPECT_FALSE(has_operator(graph, "stage_send_recv"));
}

TEST(Graph, one_device_has_no_collective) {
  for (const Operator& op : graph_of(tiny(), decode(2, 8)).operators) {
    EXPECT_NE(op.kind, OperatorKind::collective) << op.name;
    EXPECT_EQ(op.strategy, "replicate") << op.name;
    EXPECT_EQ(op.flops, op.flops_per_rank) << op.name;
    EXPECT_EQ(op.bytes, op.bytes_per_rank) << op.name;
  }
}

TEST(Graph, the_strategy_of_every_kernel_follows_from_the_split) {
  const OperatorGraph graph = graph_of(tiny(), decode(4, 8, {.dp = 2, .tp = 2, .pp = 2}));
  EXPECT_EQ(find_operator(graph, "q_proj").strategy, "tensor+pipeline+replicate");
  EXPECT_EQ(find_operator(graph, "input_norm").strategy, "pipeline+replicate");
  EXPECT_EQ(find_operator(graph_of(tiny(), decode(4, 8, {.dp = 2})), "q_proj").strategy,
            "replicate");
  EXPECT_EQ(find_operator(graph_of(tiny(), decode(4, 8, {.tp = 2})), "o_proj").strategy, "tensor");
}

TEST(Graph, a_pipeline_is_cut_where_its_stages_are_stated) {
  const OperatorGraph graph = graph_of(tiny(), decode(6, 8, {.pp = 3, .stages = {1, 2, 1}}));
  ASSERT_EQ(graph.stages.size(), 3u);
  EXPECT_EQ(graph.stages[1].first_layer, 1);
  EXPECT_EQ(graph.stages[1].layers, 2);
  EXPECT_EQ(graph.stages[2].first_layer, 3);
  EXPECT_THAT(find_operator(graph, "q_proj").stage_counts, ElementsAre(1, 2, 1));
  EXPECT_THAT(graph.warnings, Not(Contains(HasSubstr("uneven"))));
  const OperatorGraph even = graph_of(tiny(), decode(6, 8, {.pp = 3}));
  EXPECT_EQ(graph.totals.parameters, even.totals.parameters);
  EXPECT_EQ(graph.totals.flops, even.totals.flops);
}

TEST(Graph, pipeline_stages_share_the_layers_and_each_ends_with_its_exchange) {
  const OperatorGraph graph = graph_of(tiny(), decode(6, 8, {.pp = 3}));
  ASSERT_EQ(graph.stages.size(), 3u);
  EXPECT_EQ(graph.stages[0].layers, 2);  // 4 layers over 3 stages: the remainder goes first
  EXPECT_EQ(graph.stages[1].layers, 1);
  EXPECT_EQ(graph.stages[2].layers, 1);
  EXPECT_EQ(graph.stages[2].first_layer, 3);
  EXPECT_TRUE(graph.stages[0].has_embedding);
  EXPECT_FALSE(graph.stages[0].has_head);
  EXPECT_TRUE(graph.stages[2].has_head);
  EXPECT_EQ(graph.micro_batch(), 2);
  EXPECT_THAT(graph.warnings, Contains(HasSubstr("uneven_stages")));
  EXPECT_THAT(find_operator(graph, "q_proj").stage_counts, ElementsAre(2, 1, 1));
  EXPECT_THAT(find_operator(graph, "lm_head").stage_counts, ElementsAre(0, 0, 1));
  const Operator& exchange = find_operator(graph, "stage_send_recv");
  EXPECT_THAT(exchange.stage_counts, ElementsAre(1, 1, 1));
  EXPECT_EQ(exchange.local.params.at("bytes"), 2 * 8 * 2);  // micro-batch x hidden x bf16
  EXPECT_EQ(exchange.local.params.at("ranks"), 3);
}

TEST(Graph, sliding_windows_make_a_layer_type_of_their_own) {
  ModelSpec spec = tiny();
  spec.windows = {4, 0, 4, 0};
  const OperatorGraph graph = graph_of(spec, decode(1, 64));
  EXPECT_EQ(graph.layers[0], graph.layers[2]);
  EXPECT_NE(graph.layers[0], graph.layers[1]);
  double attention = 0;
  for (const Operator& op : graph.operators) {
    if (op.kind == OperatorKind::attention) attention += op.matmul_flops;
  }
  EXPECT_EQ(attention, 2 * 4 * 4 * 4 * (4 + 64));  // two layers each; 4 FLOPs x 4 heads x 4 wide
}

TEST(Graph, a_vocabulary_that_does_not_divide_is_padded_and_said_so) {
  ModelSpec spec = tiny();
  spec.vocab = 33;
  const OperatorGraph graph = graph_of(spec, decode(1, 8, {.tp = 2}));
  EXPECT_EQ(find_operator(graph, "lm_head").local.params.at("n"), 17);
  EXPECT_EQ(find_operator(graph, "lm_head").whole->params.at("n"), 33);
  EXPECT_THAT(graph.warnings, ElementsAre(HasSubstr("33 is padded to 34")));
}

TEST(Graph, a_cached_prefix_saves_its_projections_but_not_its_attention) {
  const ModelSpec spec = tiny();
  const OperatorGraph cached = graph_of(spec, prefill(1, 16, 32));
  const OperatorGraph fresh = graph_of(spec, prefill(1, 16, 16));
  EXPECT_EQ(find_operator(cached, "q_proj").flops, find_operator(fresh, "q_proj").flops);
  EXPECT_EQ(find_operator(cached, "attention").matmul_flops -
                find_operator(fresh, "attention").matmul_flops,
            4.0 * 4 * 4 * 4 * (16 * 16));  // layers x FLOPs x heads x width x pairs with the cache
}

// Operators moved to another load against graphs that are built for it: every shipped model, in the
// layouts and precisions that it allows, around the lengths where windows, chunks, compressed
// entries and blocks of tokens begin to matter.

// A layout in which loads are compared.
struct Case {
  Parallel parallel;
  int cp = 1;
  std::int64_t drafted = 0, skew = 0, delta_chunk = 0;
};

std::vector<Case> cases(const ModelSpec& spec) {
  std::vector<Case> out = {{}, {.parallel = {.dp = 2, .tp = 2, .pp = 2}}, {.parallel = {.tp = 8}}};
  if (spec.moe) {
    out.push_back({.parallel = {.tp = 4, .ep = 2}});
    out.push_back({.parallel = {.dp = 4, .tp = 2, .ep = 8}, .skew = 60});
  }
  out.push_back({.parallel = {.tp = 2}, .cp = 4});
  if (spec.prediction_modules > 0) out.push_back({.drafted = 2});
  if (spec.delta_rule) out.push_back({.delta_chunk = 64});
  return out;
}

Result<OperatorGraph, Refusal> built(const ModelSpec& spec, const Case& of,
                                     const Precision& precision, Phase phase,
                                     const RankLoad& load) {
  Parallel parallel = of.parallel;
  parallel.cp = of.cp;
  const Configuration configuration{spec.id,
                                    parallel,
                                    precision,
                                    {.phase = phase,
                                     .batch = load.sequences * of.parallel.dp * of.parallel.pp,
                                     .new_tokens = load.new_tokens,
                                     .context = load.context,
                                     .routing_skew = of.skew}};
  if (of.drafted > 0) return build_graph(spec, configuration, Speculation{of.drafted});
  StepForm form;
  form.delta_chunk = of.delta_chunk;
  return build_graph(spec, configuration, form);
}

// Half of the loads are within one token of a limit, on either side of it.
RankLoad random_load(const Case& of, Phase phase, const std::vector<std::int64_t>& limits,
                     std::mt19937_64& random) {
  const auto below = [&](std::int64_t n) { return static_cast<std::int64_t>(random() % n); };
  RankLoad out{.sequences = 1 + below(20)};
  std::int64_t length = 1 + below(5000);
  if (below(2) == 0) length = limits[random() % limits.size()] + below(3) - 1;
  length = std::max<std::int64_t>(1 + of.drafted, length);
  if (phase == Phase::decode) {
    out.context = length;
  } else {
    const std::int64_t blocks = 2 * of.cp;
    out.new_tokens = blocks * (1 + below(300));
    std::int64_t cached = below(2) == 0 ? 0 : length;
    if (below(4) == 0) out.new_tokens = (length + blocks - 1) / blocks * blocks;
    out.context = out.new_tokens + cached / of.cp * of.cp;
  }
  return out;
}

// That of a graph's own; where drafts are verified, more queries than the configuration says.
RankLoad load_of(const OperatorGraph& graph) {
  const Workload& w = graph.configuration.workload;
  return {graph.micro_batch(), w.new_tokens, w.context};
}

void expect_same_operators(const OperatorGraph& moved, const OperatorGraph& direct,
                           const std::string& where) {
  const RankLoad load = load_of(direct);
  ASSERT_EQ(moved.operators.size(), direct.operators.size()) << where;
  for (std::size_t i = 0; i < moved.operators.size(); ++i) {
    const Operator &from = moved.operators[i], &to = direct.operators[i];
    ASSERT_EQ(from.layer_type + ' ' + from.name, to.layer_type + ' ' + to.name) << where;
    ASSERT_EQ(local_problem(from, load).text(), to.local.text())
        << where << ' ' << from.name << ", moved from " << from.local.text();
  }
}

bool agrees(const OperatorGraph& graph, const RankLoad& load) {
  return std::ranges::all_of(graph.branches, [&](const LoadBranch& branch) {
    return (branch.size->at(load) > 0) == branch.is_any;
  });
}

class LoadTerms : public testing::TestWithParam<std::string> {};

TEST_P(LoadTerms, give_the_problems_of_the_graph_that_is_built_for_the_load) {
  const ModelSpec spec = shipped(GetParam());
  std::mt19937_64 random(7);
  std::size_t compared = 0;
  for (const Case& of : cases(spec)) {
    for (const Precision& precision : precisions(spec)) {
      for (const Phase phase : {Phase::decode, Phase::prefill}) {
        std::vector<OperatorGraph> graphs;  // one for each set of branches met so far
        for (int i = 0; i < 6; ++i) {
          const RankLoad load = random_load(of, phase, length_limits(spec), random);
          auto direct = built(spec, of, precision, phase, load);
          auto* graph = direct.get();
          if (graph == nullptr) continue;
          const std::string where = spec.id + ' ' + graph->configuration.key();
          const auto known = std::ranges::find_if(
              graphs, [&](const OperatorGraph& g) { return agrees(g, load_of(*graph)); });
          if (known == graphs.end()) {
            graphs.push_back(std::move(*graph));
            continue;
          }
          expect_same_operators(*known, *graph, where);
          if (HasFatalFailure()) return;
          ++compared;
        }
      }
    }
  }
  EXPECT_GE(compared, 8u);
}

INSTANTIATE_TEST_SUITE_P(Shipped, LoadTerms, testing::ValuesIn(shipped_ids()),
                         [](const auto& info) { return test_name(info.param); });

}  // namespace
}  // namespace halmark
