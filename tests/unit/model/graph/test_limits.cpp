// Where configurations begin to be refused, the last that is accepted beside each, and what graphs
// are called and warn of.

#include "fixtures.hpp"
#include "model/graph/expert_imbalance.hpp"

namespace halmark {
namespace {

using namespace model_test;

struct Row {
  Configuration configuration;
  std::string text;  // "*" at its end: what follows is not looked at
  ModelSpec spec = tiny();
};

Configuration loaded(Configuration c, std::int64_t skew, std::int64_t imbalance_ppm) {
  c.workload.routing_skew = skew;
  c.workload.expert_imbalance_ppm = imbalance_ppm;
  return c;
}

Configuration of_tokens(Configuration c, std::int64_t new_tokens, std::int64_t context) {
  c.workload.new_tokens = new_tokens;
  c.workload.context = context;
  return c;
}

Configuration in_micro_batches(Configuration c, std::int64_t micro_batch) {
  c.workload.micro_batch = micro_batch;
  return c;
}

ModelSpec with(void (*change)(ModelSpec&), ModelSpec spec = tiny()) {
  change(spec);
  return spec;
}

constexpr std::int64_t most_tokens = std::int64_t{1} << 31, balanced = Workload::balanced_ppm;

// Tiny: 4 layers, 4 heads, 2 KV heads, FFN 16, 128 positions; of experts 8 of width 16.
TEST(GraphLimits, begin_where_their_refusals_say) {
  const ModelSpec moe = tiny_moe(), endless = with([](ModelSpec&s) { s.max_position.reset(); });
  const ModelSpec heads = with([](ModelSpec& s) { s.heads = 12, s.kv_heads = 6; });
  const ModelSpec wide = with([](ModelSpec& s) { s.intermediate = 18; });
  const ModelSpec shared = with([](ModelSpec& s) { s.moe->shared_width = 6; }, moe);
  const ModelSpec odd = with([](ModelSpec& s) { s.moe->width = 15; }, moe);
  const Configuration spread = decode(4, 8, {.dp = 4, .ep = 4});
  const Row rows[] = {
      {prefill(1, 8, 8), ""},
      {decode(0, 8), "nonpositive_input: batch 0 is below 1"},
      {decode(1, 0), "nonpositive_input: context 0 is below 1"},
      {prefill(1, 0, 8), "nonpositive_input: new_tokens 0 is below 1"},
      {prefill(1, 9, 8), "nonpositive_input: context 8 is below new_tokens 9"},
      {of_tokens(decode(1, 8), 2, 8), "nonpositive_input: decode takes new_tokens 1, found 2"},
      {decode(1, 8, {.dp = 0}), "nonpositive_input: dp 0 is below 1"},
      {decode(1, 8, {.tp = 0}), "nonpositive_input: tp 0 is below 1"},
      {decode(1, 8, {.pp = -1}), "nonpositive_input: pp -1 is below 1"},
      {decode(60, 8, {.ep = 0}), "nonpositive_input: ep 0 is below 1", moe},
      // Micro-batches are of training and divide its batch.
      {training(4, 8, {}, 2), ""},
      {training(4, 8, {}, 0), ""},
      {training(4, 8, {}, -1), "nonpositive_input: micro_batch -1 is below 1"},
      {training(8, 8, {.dp = 2}, 3),
       "micro_batch_does_not_divide_batch: micro_batch 3 does not divide the batch of one replica, "
       "4"},
      {training(6, 8, {.dp = 2, .pp = 2}, 3), ""},
      {of_tokens(training(4, 8, {}, 2), 8, 9),
       "training_with_cache: context 9 exceeds new_tokens 8: training has no cached tokens"},
      {in_micro_batches(decode(4, 8), 2),
       "micro_batch_without_training: micro_batch 2 is stated for decode: only training takes one"},
      // Tokens and devices.
      {decode(most_tokens, 8), "", endless},
      {decode(1, most_tokens), "", endless},
      {prefill(2, most_tokens / 2, most_tokens / 2), "", endless},
      {decode(most_tokens + 1, 8),
       "workload_too_large: batch 2147483649 of new_tokens 1 exceeds 2147483648 tokens", endless},
      {decode(1, most_tokens + 1), "workload_too_large: *", endless},
      {prefill(2, most_tokens / 2 + 1, most_tokens / 2 + 1), "workload_too_large: *", endless},
      {decode(std::int64_t{1} << 40, 8), "workload_too_large: *"},
      {prefill(1 << 20, 1 << 20, 1 << 20), "workload_too_large: *"},
      {decode(1 << 20, 8, {.dp = 1 << 20}), ""},
      {decode(1 << 20, 8, {.dp = 1 << 19, .tp = 2}), ""},
      {decode(1 << 20, 8, {.dp = 1 << 19, .tp = 4}),
       "too_many_devices: dp524288 tp4 pp1 ep1 exceeds 1048576 devices"},
      {decode(1 << 30, 8, {.dp = 1 << 30}),
       "too_many_devices: dp1073741824 tp1 pp1 ep1 exceeds 1048576 devices"},
      // Heads and widths.
      {decode(1, 8, {.tp = 4}), ""},
      {decode(1, 8, {.tp = 3}), "tp_does_not_divide_heads: tp 3 does not divide 4 query heads"},
      {decode(1, 8, {.tp = 8}), "tp_does_not_divide_heads: tp 8 does not divide 4 query heads"},
      {decode(1, 8, {.tp = 4}), "tp_kv_mismatch: tp 4 and 6 KV heads: neither divides the other",
       heads},
      {decode(1, 8, {.tp = 2}), "", heads},
      {decode(1, 8, {.tp = 4}), "tp_does_not_divide_ffn: tp 4 does not divide the FFN width 18",
       wide},
      {decode(1, 8, {.tp = 4}),
       "tp_does_not_divide_ffn: tp 4 does not divide the width of the shared experts, 6", shared},
      {decode(2, 8, {.tp = 2}),
       "tp_does_not_divide_ffn: expert tp 2 does not divide the expert width 15", odd},
      {decode(2, 8, {.tp = 2, .ep = 2}), "", odd},  // whole experts
      // Batches are shared out to replicas and stages.
      {decode(4, 8, {.dp = 2, .pp = 2}), ""},
      {decode(3, 8, {.dp = 2}), "dp_does_not_divide_batch: dp 2 does not divide batch 3"},
      {decode(10, 8, {.dp = 2, .pp = 2}),
       "pp_does_not_divide_batch: pp 2 does not divide the batch of one replica, 5"},
      {decode(1, 8, {.pp = 2}), ""},
      {decode(4, 8, {.pp = 4}), ""},
      {decode(5, 8, {.pp = 5}), "pp_exceeds_layers: pp 5 exceeds 4 layers"},
      {decode(2, 8, {.pp = 2, .stages = {1, 3}}), ""},
      {decode(2, 8, {.pp = 2, .stages = {4}}),
       "stages_do_not_match_pp: the layers of 1 stages are stated for pp 2"},
      {decode(2, 8, {.pp = 2, .stages = {1, 1, 2}}),
       "stages_do_not_match_pp: the layers of 3 stages are stated for pp 2"},
      {decode(2, 8, {.pp = 2, .stages = {1, 2}}),
       "stages_do_not_match_layers: stages of 3 layers in all for a model of 4"},
      {decode(2, 8, {.pp = 2, .stages = {0, 4}}), "empty_stage: a stage of 0 layers"},
      // Experts, and the load of their ranks.
      {decode(2, 8, {.tp = 2, .ep = 2}), "", moe},
      {decode(1, 8, {.ep = 2}), "ep_does_not_divide_experts: ep 2, but the model has 0 experts"},
      {decode(3, 8, {.dp = 3, .ep = 3}),
       "ep_does_not_divide_experts: ep 3 does not divide 8 experts", moe},
      {decode(60, 8, {.tp = 2, .ep = 4}),
       "ep_exceeds_group: ep 4 does not divide the 2 ranks of tp 2 x dp 1", moe},
      {decode(60, 8, {.ep = 2}),
       "ep_exceeds_group: ep 2 does not divide the 1 ranks of tp 1 x dp 1", moe},
      {loaded(spread, 1000, balanced), "", moe},
      {loaded(spread, 1001, balanced),
       "routing_skew_out_of_range: routing skew 1001 is not in 0..1000 percent", moe},
      {loaded(spread, -1, balanced),
       "routing_skew_out_of_range: routing skew -1 is not in 0..1000 percent", moe},
      {loaded(decode(1, 8), 50, balanced),
       "routing_skew_without_experts: routing skew 50, but the model has 0 experts"},
      {loaded(spread, 0, 4'000'000), "", moe},
      {loaded(spread, 0, 4'000'001),
       "expert_imbalance_out_of_range: expert imbalance 4000001 is not in 1000000..4000000 "
       "millionths: the slowest of ep 4 ranks has at least the mean and at most all rows",
       moe},
      {loaded(spread, 0, 1'000'001), "", moe},
      {loaded(spread, 0, Workload::uniform_ppm), "", moe},
      {loaded(spread, 0, 999'999), "expert_imbalance_out_of_range*", moe},
      {loaded(spread, 0, -1), "expert_imbalance_out_of_range*", moe},
      {loaded(spread, 5, 1'000'001),
       "expert_imbalance_with_skew: an expert imbalance and routing skew 5 both state the load of "
       "the slowest rank; give one",
       moe},
      {loaded(decode(4, 8), 0, 2'000'000), "expert_imbalance_without_experts*"},
      // Positions and types.
      {decode(1, 128), ""},
      {decode(1, 129), "context_exceeds_model: context 129 exceeds max_position_embeddings 128"},
      {decode(1, 8, {}, narrow("f32", Dtype::f32)),
       "dtype_unsupported: qkv in f32: the activations are bf16*"}};
  for (const auto& [configuration, text, spec] : rows) {
    std::string found = refusal_of(spec, configuration);
    if (text.ends_with('*')) found = found.substr(0, text.size() - 1) + '*';
    EXPECT_EQ(found, text) << configuration.key();
    if (!text.empty()) {
      EXPECT_FALSE(build_graph(spec, configuration)) << configuration.key();
    }
  }
}

TEST(GraphLimits, a_dtype_without_a_contract_is_a_row_and_no_exception) {
  const auto built = build_graph(tiny(), decode(1, 8, {}, Precision::uniform("u4", Dtype::u4)));
  ASSERT_FALSE(built);
  EXPECT_EQ(built.failure.reason, "operator_refused");
  says(built.failure.text, "u4");
}

TEST(GraphWarnings, fewer_sequences_than_stages_are_none_and_a_warning) {
  for (const std::int64_t batch : {1, 2, 3}) {
    const OperatorGraph graph = graph_of(tiny(), decode(batch, 8, {.pp = 4}));
    EXPECT_EQ(graph.micro_batch(), 1);
    EXPECT_EQ(graph.micro_batches(), batch);
    EXPECT_THAT(graph.warnings, ElementsAre(StartsWith("idle_stages: " + std::to_string(batch))));
  }
}

TEST(GraphWarnings, are_of_vocabulary_stages_and_idle_stages) {
  EXPECT_TRUE(graph_of(tiny(), decode(2, 8, {.pp = 2})).warnings.empty());
  EXPECT_THAT(graph_of(tiny(), decode(3, 8, {.pp = 3})).warnings,
              ElementsAre("uneven_stages: 4 layers over pp 3"));
  EXPECT_THAT(graph_of(tiny(), decode(1, 8, {.pp = 2})).warnings,
              ElementsAre("idle_stages: 1 micro-batches on pp 2: no more than 1 stages work at "
                          "once; a step takes at least the sum of all stages and hand-overs"));
  EXPECT_TRUE(graph_of(tiny(), decode(3, 8, {.pp = 3, .stages = {1, 2, 1}})).warnings.empty());
  ModelSpec spec = tiny();
  spec.vocab = 33;
  EXPECT_THAT(graph_of(spec, decode(1, 8, {.tp = 4})).warnings,
              ElementsAre("vocab_padding: vocabulary 33 is padded to 36 for tp 4"));
}

TEST(GraphNames, are_those_of_documents) {
  const std::pair<OperatorKind, std::string_view> kinds[] = {
      {OperatorKind::embedding, "embedding"}, {OperatorKind::linear, "linear"},
      {OperatorKind::attention, "attention"}, {OperatorKind::routing, "routing"},
      {OperatorKind::experts, "experts"},     {OperatorKind::head, "head"},
      {OperatorKind::norm, "norm"},           {OperatorKind::elementwise, "elementwise"},
      {OperatorKind::quantize, "quantize"},   {OperatorKind::collective, "collective"}};
  for (const auto& [kind, name] : kinds) EXPECT_EQ(operator_kind_name(kind), name);
  const std::pair<Split, std::string_view> splits[] = {{Split::replicated, "replicated"},
                                                       {Split::column, "column"},
                                                       {Split::row, "row"},
                                                       {Split::head, "head"},
                                                       {Split::vocab, "vocab"},
                                                       {Split::expert, "expert"},
                                                       {Split::pipeline, "pipeline"},
                                                       {Split::data, "data"},
                                                       {Split::context, "context"}};
  for (const auto& [split, name] : splits) EXPECT_EQ(split_name(split), name);
}

TEST(GraphCaches, keep_whole_entries_of_the_tokens_that_they_hold) {
  const LayerCache cache{
      .entry_bytes = {10, 5}, .tokens_per_entry = 4, .tokens_max = 50, .constant_bytes = {7, 3}};
  EXPECT_EQ(cache.bytes(11, &Extent::whole), 7 + 2 * 10);
  EXPECT_EQ(cache.bytes(12, &Extent::local), 3 + 3 * 5);
  EXPECT_EQ(cache.bytes(51, &Extent::whole), 7 + 12 * 10) << "50 tokens are twelve whole entries";
  LayerCache all = cache;
  all.tokens_max = 0;
  EXPECT_EQ(all.bytes(100, &Extent::whole), 7 + 25 * 10);
}

// A token's 8 of 128 experts are 16 ranks' hypergeometric; from 64 tokens on the normal law:
// 1 + 1.7660 sqrt(16 / (64 x 8) x 120 / 127) = 1.3035.
TEST(ExpertImbalance, is_of_the_normal_law_from_64_tokens_on) {
  EXPECT_NEAR(expected_imbalance(128, 8, 16, 64), 1.30345, 1e-4);
  const double below = expected_imbalance(128, 8, 16, 63);
  EXPECT_NE(below, 1 + 1.7659913931 * std::sqrt(16.0 / (63 * 8) * 120 / 127));
  EXPECT_NEAR(below, 1.306, 0.02);
}

}  // namespace
}  // namespace halmark
