// Where configurations begin to be refused, the last that is accepted beside each, and what graphs
// are called and warn of.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <tuple>

#include "fixtures.hpp"
#include "model/graph/expert_imbalance.hpp"

namespace halmark {
namespace {

using model_test::decode;
using model_test::graph_of;
using model_test::prefill;
using model_test::tiny;
using model_test::tiny_moe;
using testing::ElementsAre;
using testing::StrEq;

// "reason: text"; "" where it is accepted.
std::string refusal(const ModelSpec& spec, const Configuration& configuration) {
  const auto found = check_configuration(spec, configuration);
  return found ? found->reason + ": " + found->text : "";
}

Configuration training(std::int64_t batch, std::int64_t tokens, std::int64_t micro_batch,
                       Parallel parallel = {}) {
  Configuration out = prefill(batch, tokens, tokens, parallel);
  out.workload.phase = Phase::training;
  out.workload.micro_batch = micro_batch;
  return out;
}

TEST(GraphLimits, lengths_are_whole_and_in_order) {
  EXPECT_EQ(refusal(tiny(), prefill(1, 8, 8)), "");
  EXPECT_EQ(refusal(tiny(), prefill(1, 0, 8)), "nonpositive_input: new_tokens 0 is below 1");
  EXPECT_EQ(refusal(tiny(), prefill(1, 9, 8)),
            "nonpositive_input: context 8 is below new_tokens 9");
  Configuration two = decode(1, 8);
  two.workload.new_tokens = 2;
  EXPECT_EQ(refusal(tiny(), two), "nonpositive_input: decode takes new_tokens 1, found 2");
  EXPECT_EQ(refusal(tiny(), decode(1, 8, {.dp = 0})), "nonpositive_input: dp 0 is below 1");
}

TEST(GraphLimits, micro_batches_are_of_training_and_divide_its_batch) {
  EXPECT_EQ(refusal(tiny(), training(4, 8, 2)), "");
  EXPECT_EQ(refusal(tiny(), training(4, 8, 0)), "");
  EXPECT_EQ(refusal(tiny(), training(4, 8, -1)), "nonpositive_input: micro_batch -1 is below 1");
  EXPECT_EQ(refusal(tiny(), training(8, 8, 3, {.dp = 2})),
            "micro_batch_does_not_divide_batch: micro_batch 3 does not divide the batch of one "
            "replica, 4");
  EXPECT_EQ(refusal(tiny(), training(6, 8, 3, {.dp = 2, .pp = 2})), "") << "whatever the stages";
  Configuration cached = training(4, 8, 2);
  cached.workload.context = 9;
  EXPECT_EQ(refusal(tiny(), cached),
            "training_with_cache: context 9 exceeds new_tokens 8: training has no cached tokens");
  Configuration stated = decode(4, 8);
  stated.workload.micro_batch = 2;
  EXPECT_EQ(refusal(tiny(), stated),
            "micro_batch_without_training: micro_batch 2 is stated for decode: only training takes "
            "one");
}

TEST(GraphLimits, workloads_have_two_to_the_31_tokens_at_most) {
  constexpr std::int64_t most = std::int64_t{1} << 31;
  ModelSpec endless = tiny();
  endless.max_position.reset();
  EXPECT_EQ(refusal(endless, decode(most, 8)), "");
  EXPECT_EQ(refusal(endless, decode(1, most)), "");
  EXPECT_EQ(refusal(endless, prefill(2, most / 2, most / 2)), "");
  const std::string what = "workload_too_large: ";
  EXPECT_EQ(refusal(endless, decode(most + 1, 8)),
            what + "batch 2147483649 of new_tokens 1 exceeds 2147483648 tokens");
  EXPECT_THAT(refusal(endless, decode(1, most + 1)), testing::StartsWith(what));
  EXPECT_THAT(refusal(endless, prefill(2, most / 2 + 1, most / 2 + 1)), testing::StartsWith(what));
}

TEST(GraphLimits, devices_are_two_to_the_20_at_most) {
  EXPECT_EQ(refusal(tiny(), decode(1 << 20, 8, {.dp = 1 << 20})), "");
  EXPECT_EQ(refusal(tiny(), decode(1 << 20, 8, {.dp = 1 << 19, .tp = 2})), "");
  EXPECT_THAT(refusal(tiny(), decode(1 << 20, 8, {.dp = 1 << 19, .tp = 4})),
              testing::AllOf(testing::StartsWith("too_many_devices: "),
                             testing::EndsWith(" exceeds 1048576 devices")));
}

TEST(GraphLimits, heads_and_widths_divide) {
  EXPECT_EQ(refusal(tiny(), decode(1, 8, {.tp = 4})), "");
  EXPECT_EQ(refusal(tiny(), decode(1, 8, {.tp = 3})),
            "tp_does_not_divide_heads: tp 3 does not divide 4 query heads");
  ModelSpec spec = tiny();
  spec.heads = 12;
  spec.kv_heads = 6;
  EXPECT_EQ(refusal(spec, decode(1, 8, {.tp = 4})),
            "tp_kv_mismatch: tp 4 and 6 KV heads: neither divides the other");
  spec = tiny();
  spec.intermediate = 18;
  EXPECT_EQ(refusal(spec, decode(1, 8, {.tp = 4})),
            "tp_does_not_divide_ffn: tp 4 does not divide the FFN width 18");
  spec = tiny_moe();
  spec.moe->shared_width = 6;
  EXPECT_EQ(refusal(spec, decode(1, 8, {.tp = 4})),
            "tp_does_not_divide_ffn: tp 4 does not divide the width of the shared experts, 6");
}

TEST(GraphLimits, batches_are_shared_out_to_replicas_and_stages) {
  EXPECT_EQ(refusal(tiny(), decode(4, 8, {.dp = 2, .pp = 2})), "");
  EXPECT_EQ(refusal(tiny(), decode(3, 8, {.dp = 2})),
            "dp_does_not_divide_batch: dp 2 does not divide batch 3");
  EXPECT_EQ(refusal(tiny(), decode(10, 8, {.dp = 2, .pp = 2})),
            "pp_does_not_divide_batch: pp 2 does not divide the batch of one replica, 5");
  EXPECT_EQ(refusal(tiny(), decode(1, 8, {.pp = 2})), "") << "one stage stands idle";
  EXPECT_EQ(refusal(tiny(), decode(4, 8, {.pp = 4})), "");
  EXPECT_EQ(refusal(tiny(), decode(5, 8, {.pp = 5})), "pp_exceeds_layers: pp 5 exceeds 4 layers");
}

TEST(GraphLimits, stages_are_stated_for_all_layers) {
  EXPECT_EQ(refusal(tiny(), decode(2, 8, {.pp = 2, .stages = {1, 3}})), "");
  EXPECT_EQ(refusal(tiny(), decode(2, 8, {.pp = 2, .stages = {4}})),
            "stages_do_not_match_pp: the layers of 1 stages are stated for pp 2");
  EXPECT_EQ(refusal(tiny(), decode(2, 8, {.pp = 2, .stages = {1, 2}})),
            "stages_do_not_match_layers: stages of 3 layers in all for a model of 4");
  EXPECT_EQ(refusal(tiny(), decode(2, 8, {.pp = 2, .stages = {0, 4}})),
            "empty_stage: a stage of 0 layers");
}

TEST(GraphLimits, a_skew_or_an_imbalance_is_within_what_ranks_can_have) {
  Configuration c = decode(4, 8, {.dp = 4, .ep = 4});
  for (const auto& [skew, ppm, text] :
       {std::tuple{std::int64_t{1000}, Workload::balanced_ppm, ""},
        {std::int64_t{1001}, Workload::balanced_ppm,
         "routing_skew_out_of_range: routing skew 1001 is not in 0..1000 percent"},
        {std::int64_t{-1}, Workload::balanced_ppm,
         "routing_skew_out_of_range: routing skew -1 is not in 0..1000 percent"},
        {std::int64_t{0}, std::int64_t{4'000'000}, ""},
        {std::int64_t{0}, std::int64_t{4'000'001},
         "expert_imbalance_out_of_range: expert imbalance 4000001 is not in 1000000..4000000 "
         "millionths: the slowest of ep 4 ranks has at least the mean and at most all rows"},
        {std::int64_t{0}, std::int64_t{1'000'001}, ""},
        {std::int64_t{0}, Workload::uniform_ppm, ""},
        {std::int64_t{5}, std::int64_t{1'000'001},
         "expert_imbalance_with_skew: an expert imbalance and routing skew 5 both state the load "
         "of "
         "the slowest rank; give one"}}) {
    c.workload.routing_skew = skew;
    c.workload.expert_imbalance_ppm = ppm;
    EXPECT_THAT(refusal(tiny_moe(), c), StrEq(text));
  }
  c.workload.routing_skew = 0;
  c.workload.expert_imbalance_ppm = 999'999;
  EXPECT_THAT(refusal(tiny_moe(), c), testing::StartsWith("expert_imbalance_out_of_range"));
  Configuration dense = decode(4, 8);
  dense.workload.expert_imbalance_ppm = 2'000'000;
  EXPECT_THAT(refusal(tiny(), dense), testing::StartsWith("expert_imbalance_without_experts"));
  EXPECT_EQ(refusal(tiny_moe(), decode(2, 8, {.tp = 2, .ep = 2})), "");
  EXPECT_EQ(refusal(tiny_moe(), decode(3, 8, {.dp = 3, .ep = 3})),
            "ep_does_not_divide_experts: ep 3 does not divide 8 experts");
}

TEST(GraphLimits, a_context_is_as_long_as_the_positions) {
  EXPECT_EQ(refusal(tiny(), decode(1, 128)), "");
  EXPECT_EQ(refusal(tiny(), decode(1, 129)),
            "context_exceeds_model: context 129 exceeds max_position_embeddings 128");
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
  spec.rope_scaling = true;
  EXPECT_THAT(graph_of(spec, decode(1, 129)).warnings,
              ElementsAre("context_exceeds_model: context 129 exceeds 128; the configuration "
                          "declares rope scaling"));
  EXPECT_TRUE(graph_of(spec, decode(1, 128)).warnings.empty());
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
