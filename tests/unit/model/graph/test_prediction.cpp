// Multi-token prediction: parameters beside the model's, and steps that draft and verify.

#include "core/numeric/cast.hpp"
#include "fixtures.hpp"
#include "model/pricing/memory.hpp"
#include "model/utilisation/utilisation.hpp"

namespace halmark {
namespace {

using namespace model_test;

OperatorGraph drafting(std::string_view id, const Configuration& configuration,
                       std::int64_t drafted) {
  return graph_of(id, configuration, Speculation{drafted});
}

// H 7168, 128 heads of 128 + 64 and 128, ranks 1536 and 512, 256 experts and a shared one of 2048.
constexpr std::int64_t deepseek_module = 2 * 7168 * 7168 +                     // join
                                         3 * 7168 +                            // norms around it
                                         2 * 7168 + 1536 + 512 +               // norms inside
                                         7168 * 1536 + 1536 * 128 * 192 +      // queries
                                         7168 * 576 + 512 * 128 * 256 +        // keys and values
                                         128 * 128 * 7168 +                    // output
                                         7168 * 256 + 257L * 3 * 7168 * 2048;  // experts

// README_WEIGHTS.md of DeepSeek-V3: "11.5B unique parameters (excluding the shared 0.9B Embedding
// and 0.9B output Head)"; "total size on Hugging Face is 685B", which stores the shared ones twice.
TEST(Prediction, deepseek_v3_has_the_published_module_beside_its_671_billion) {
  const ModelSpec spec = shipped("deepseek-v3");
  EXPECT_EQ(spec.prediction_modules, 1);
  EXPECT_EQ(prediction_parameters(spec), deepseek_module);
  EXPECT_NEAR(as_double(deepseek_module), 11.5e9, 0.01 * 11.5e9);
  const GraphTotals drafts = drafting("deepseek-v3", decode(1, 8), 1).totals;
  const GraphTotals plain = graph_of(spec, decode(1, 8)).totals;
  EXPECT_EQ(drafts.parameters, plain.parameters);
  EXPECT_EQ(drafts.prediction_parameters, deepseek_module);
  EXPECT_EQ(drafts.active_parameters, plain.active_parameters);
}

// Parameters that the model pages of the checkpoints show, with the module and its copies of
// embedding and head; the figure of MiMo-7B counts its module, which shares both.
TEST(Prediction, totals_with_modules_equal_the_published_sizes_of_the_checkpoints) {
  struct Published {
    const char* id;
    double billions;
    bool copies_tables;
  };
  for (const auto& [id, billions, copies_tables] : {Published{"deepseek-v3", 685, true},
                                                    {"glm-4.5", 358, true},
                                                    {"glm-4.5-air", 110, true},
                                                    {"mimo-7b", 7.8, false}}) {
    const ModelSpec spec = shipped(id);
    double total =
        as_double(graph_of(spec, decode(1, 2)).totals.parameters + prediction_parameters(spec));
    if (copies_tables) total += as_double(2 * spec.vocab * spec.hidden);
    EXPECT_NEAR(total / 1e9, billions, 0.005 * billions) << id;
  }
}

TEST(Prediction, models_without_modules_have_no_parameters_of_them) {
  for (const char* id : {"llama-3.1-8b", "kimi-k2", "qwen3-30b-a3b"}) {
    EXPECT_EQ(shipped(id).prediction_modules, 0) << id;
    EXPECT_EQ(prediction_parameters(shipped(id)), 0) << id;
  }
}

// Training: a block, the join of two hidden vectors and the head once more, on every token; and two
// predictions are two passes of one module.
TEST(Prediction, a_training_step_passes_every_token_through_the_module) {
  constexpr double T = 2 * 4096.0, H = 7168, V = 129280;
  const ModelSpec spec = shipped("deepseek-v3");
  const Configuration d = training(2, 4096);
  const OperatorGraph plain = graph_of(spec, d);
  for (const std::int64_t predicted : {1, 2}) {
    const OperatorGraph graph = *build_graph(spec, d, StepForm{.predicted = predicted});
    const auto n = as_double(predicted);
    EXPECT_EQ(operator_of(graph, "prediction", "draft_join").matmul_flops, n * 4 * T * H * H);
    EXPECT_EQ(operator_of(graph, "prediction", "draft_lm_head").matmul_flops, n * 2 * T * H * V);
    EXPECT_EQ(operator_of(graph, "prediction", "router").matmul_flops, n * 2 * T * H * 256);
    double layer = 0;  // one of the 58 with experts
    for (const Operator& op : plain.operators) {
      if (op.layer_type == "decoder_moe") layer += op.matmul_flops / 58;
    }
    EXPECT_NEAR((graph.totals.matmul_flops - plain.totals.matmul_flops) /
                    (n * (layer + 4 * T * H * H + 2 * T * H * V)),
                1, 1e-12);
    EXPECT_EQ(graph.totals.parameters, plain.totals.parameters);
    EXPECT_EQ(graph.totals.prediction_parameters, deepseek_module);
  }
}

// Nemotron-3 Super: attention and experts in a module; DeepSeek-V4-Flash: the embedding and four
// streams projected on their own, then a windowed layer.
TEST(Prediction, modules_of_nemotron_3_and_deepseek_v4_have_their_own_layers) {
  const Configuration d = training(1, 8192);
  const ModelSpec super = shipped("nemotron-3-super-120b-a12b");
  EXPECT_EQ(super.prediction_modules, 1);
  const OperatorGraph nemotron = graph_of(super, d, StepForm{.predicted = 2});
  constexpr double T = 8192;
  EXPECT_EQ(operator_of(nemotron, "prediction", "o_proj").matmul_flops, 2 * 2 * T * 4096 * 4096);
  EXPECT_EQ(operator_of(nemotron, "prediction", "expert_up").matmul_flops,
            2 * 2 * T * 22 * 1024 * 2688);
  const OperatorGraph flash = graph_of("deepseek-v4-flash", d, StepForm{.predicted = 1});
  EXPECT_EQ(operator_of(flash, "prediction", "draft_join").matmul_flops, 4 * 2 * T * 4096 * 4096);
  EXPECT_EQ(operator_of(flash, "prediction", "draft_join_embedding").matmul_flops,
            2 * T * 4096 * 4096);
  EXPECT_THAT(names_of(flash, "prediction"), Not(Contains("compressor")));
}

TEST(Prediction, training_refuses_modules_that_are_not_there) {
  const auto reason = [](const char* id, const Configuration& c, std::int64_t predicted) {
    return text_of(build_graph(shipped(id), c, StepForm{.predicted = predicted}).why());
  };
  EXPECT_EQ(reason("deepseek-v3", training(1, 8), 1), "");
  EXPECT_THAT(reason("llama-3.1-8b", training(1, 8), 1), StartsWith("no_prediction_modules"));
  EXPECT_THAT(reason("deepseek-v3", training(1, 8), 65), StartsWith("drafted_out_of_range"));
  EXPECT_THAT(reason("deepseek-v3", prefill(1, 8, 8), 1), StartsWith("drafts_without_decode"));
}

// One drafted token: every sequence brings one token to the module, and two to the model.
TEST(Prediction, a_draft_of_deepseek_v3_costs_what_one_counts_by_hand) {
  constexpr double B = 4, H = 7168, n = 128, c = 1000, V = 129280;
  const OperatorGraph graph = drafting("deepseek-v3", decode(4, 1000), 1);
  const auto draft = [&](const char* name) {
    return operator_of(graph, "prediction", name).matmul_flops;
  };
  EXPECT_EQ(draft("draft_join"), 4 * B * H * H);
  EXPECT_EQ(draft("q_a_proj"), 2 * B * H * 1536);
  EXPECT_EQ(draft("q_b_proj"), 2 * B * 1536 * n * 192);
  EXPECT_EQ(draft("kv_a_proj"), 2 * B * H * 576);
  EXPECT_EQ(draft("q_up"), 2 * B * n * 128 * 512);
  EXPECT_EQ(draft("attention_absorbed"), 2 * B * n * (576 + 512) * c);
  EXPECT_EQ(draft("o_proj"), 2 * B * n * 128 * H);
  EXPECT_EQ(draft("router"), 2 * B * H * 256);
  EXPECT_EQ(draft("expert_gate_up") + draft("expert_down"), 6 * B * 8 * H * 2048);
  EXPECT_EQ(draft("shared_gate_up_proj") + draft("shared_down_proj"), 6 * B * H * 2048);
  EXPECT_EQ(draft("draft_lm_head"), 2 * B * H * V);
}

TEST(Prediction, verifying_takes_all_drafted_tokens_at_once_and_logits_of_each) {
  constexpr double B = 4, H = 7168, n = 128, V = 129280, L = 61;
  for (const std::int64_t drafted : {1, 3}) {
    const OperatorGraph graph = drafting("deepseek-v3", decode(4, 1000), drafted);
    const double S = as_double(1 + drafted);
    EXPECT_EQ(graph.configuration.workload.new_tokens, 1 + drafted);
    EXPECT_EQ(operator_of(graph, "decoder_moe", "q_a_proj").matmul_flops,
              (L - 3) * 2 * B * S * H * 1536);
    const double pairs = S * (1000 - S) + S * (S + 1) / 2;
    EXPECT_EQ(operator_of(graph, "decoder_moe", "attention_absorbed").matmul_flops,
              (L - 3) * 2 * B * n * (576 + 512) * pairs);
    EXPECT_EQ(operator_of(graph, "head", "lm_head").matmul_flops, 2 * B * S * H * V);
    EXPECT_EQ(operator_of(graph, "prediction", "draft_join").count, drafted);
    EXPECT_EQ(operator_of(graph, "prediction", "draft_join").matmul_flops,
              as_double(drafted) * 4 * B * H * H);
  }
}

TEST(Prediction, a_step_is_its_verification_and_its_drafts) {
  const OperatorGraph graph = drafting("glm-4.5-air", decode(2, 64), 2);
  double drafts = 0;
  for (const Operator& op : graph.operators) {
    if (graph.is_prediction(op)) drafts += op.matmul_flops;
  }
  // The same tokens without a word about drafts: a prefill of 3 behind 61, and two more heads.
  const OperatorGraph plain = graph_of("glm-4.5-air", prefill(2, 3, 64));
  const double head = 2.0 * 2 * 4096 * 151552;
  EXPECT_EQ(graph.totals.matmul_flops, plain.totals.matmul_flops + 2 * head + drafts);
  EXPECT_GT(drafts, 0);
}

// One module drafts several tokens by running again: its weights and its cache are there once.
TEST(Prediction, memory_has_each_module_and_its_cache_once) {
  const MemoryUse plain = memory_use(graph_of("deepseek-v3", decode(2, 100)));
  for (const std::int64_t drafted : {1, 3}) {
    const MemoryUse use = memory_use(drafting("deepseek-v3", decode(2, 100), drafted));
    const std::int64_t more = use.largest.weight_bytes - plain.largest.weight_bytes;
    const std::int64_t gains = 5 * 7168 + 1536 + 512;  // f32, all other weights bf16
    EXPECT_EQ(more, 2 * deepseek_module + 2 * gains);
    EXPECT_EQ(use.kv_bytes_per_token, 62 * 576 * 2);
    EXPECT_EQ(use.largest.kv_bytes, 2 * 100 * 62 * 576 * 2);
  }
}

TEST(Prediction, ranks_share_a_draft_as_they_share_a_layer) {
  const OperatorGraph graph = drafting("deepseek-v3", decode(8, 64, {.tp = 8, .ep = 8}), 1);
  const Operator& join = operator_of(graph, "prediction", "draft_join");
  EXPECT_EQ(join.matmul_flops_per_rank, join.matmul_flops);  // replicated
  const Operator& output = operator_of(graph, "prediction", "o_proj");
  EXPECT_EQ(output.matmul_flops_per_rank * 8, output.matmul_flops);
}

TEST(Prediction, drafts_run_on_the_last_stage_which_keeps_a_copy_of_the_embedding) {
  const ModelSpec spec = shipped("mimo-7b");
  const OperatorGraph graph = drafting("mimo-7b", decode(2, 64, {.pp = 2}), 1);
  const Operator& table = operator_of(graph, "prediction", "draft_embedding");
  EXPECT_EQ(table.stage_counts, (std::vector<std::int64_t>{0, 1}));
  EXPECT_EQ(table.weight_bytes_local, spec.vocab * spec.hidden * 2);
  EXPECT_EQ(operator_of(drafting("mimo-7b", decode(2, 64), 1), "prediction", "draft_embedding")
                .weight_bytes_local,
            0);
}

// Every product of the step is in the numerator: nothing is lost to the drafts' own row counts.
TEST(Prediction, the_convention_counts_what_the_step_computes) {
  const OperatorGraph graph = drafting("deepseek-v3", decode(4, 1000), 2);
  Convention convention = model_convention(false, false);
  convention.lm_head = HeadRule::all_positions;
  const double flops = step_flops(graph, convention, std::nullopt);
  EXPECT_NEAR(flops / graph.totals.matmul_flops, 1, 1e-12);
}

TEST(Prediction, expected_tokens_are_a_geometric_sum) {
  EXPECT_EQ(expected_tokens_per_step(0, 0.9), 1);
  EXPECT_DOUBLE_EQ(expected_tokens_per_step(1, 0.8), 1.8);
  EXPECT_DOUBLE_EQ(expected_tokens_per_step(3, 0.5), 1.875);
  EXPECT_EQ(expected_tokens_per_step(3, 1), 4);
  EXPECT_EQ(expected_tokens_per_step(3, 0), 1);
  for (const double a : {0.1, 0.6, 0.95}) {
    for (const std::int64_t drafted : {1, 4, 16}) {
      const auto power = as_double(drafted + 1);
      EXPECT_NEAR(expected_tokens_per_step(drafted, a), (1 - std::pow(a, power)) / (1 - a), 1e-12);
    }
  }
}

TEST(Prediction, what_cannot_be_drafted_is_refused) {
  struct Case {
    const char* id;
    Configuration configuration;
    std::int64_t drafted;
    const char* reason;
  };
  for (const auto& [id, configuration, drafted, reason] :
       {Case{"llama-3.1-8b", decode(1, 64), 1, "no_prediction_modules"},
        {"deepseek-v3", prefill(1, 8, 8), 1, "drafts_without_decode"},
        {"deepseek-v3", decode(1, 64), 65, "drafted_out_of_range"},
        {"deepseek-v3", decode(1, 64), -1, "drafted_out_of_range"},
        {"deepseek-v3", decode(1, 2), 2, "nonpositive_input"},
        {"deepseek-v3", decode(1, 3), 2, ""}}) {
    const auto built = build_graph(shipped(id), configuration, Speculation{drafted});
    EXPECT_EQ(built.failure.reason, reason) << id << ' ' << drafted;
  }
}

TEST(Prediction, a_hostile_count_of_modules_is_refused) {
  EXPECT_THROW((void)read_model(R"({"model_type": "mimo", "num_hidden_layers": 1, "hidden_size": 8,
    "num_attention_heads": 2, "num_key_value_heads": 1, "head_dim": 4, "intermediate_size": 16,
    "vocab_size": 32, "num_nextn_predict_layers": 2147483647})",
                                "hostile.json"),
               Error);
}

}  // namespace
}  // namespace halmark
