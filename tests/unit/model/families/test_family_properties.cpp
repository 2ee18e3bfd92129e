// What must hold for every family: identities between phases, masks and splits.

#include <array>

#include "fixtures.hpp"

namespace halmark {
namespace {

using namespace model_test;

constexpr std::array ids = {"gpt2",
                            "qwen3-0.6b",
                            "opt-125m",
                            "phi-2",
                            "palm-540b",
                            "gemma-2-2b",
                            "gemma-3-1b",
                            "gpt-oss-20b",
                            "llama-4-maverick",
                            "minimax-m2",
                            "mimo-7b",
                            "mimo-v2-flash",
                            "phi-3.5-moe",
                            "dbrx",
                            "nemotron-4-340b",
                            "nemotron-super-49b",
                            "qwen3-next",
                            "qwen3.5-27b",
                            "nemotron-h-56b",
                            "nemotron-3-super"};

class EveryFamily : public testing::TestWithParam<const char*> {
 protected:
  ModelSpec spec = shipped(GetParam());
};

double without_head(const OperatorGraph& graph) {
  return graph.totals.matmul_flops - find_operator(graph, "lm_head").matmul_flops;
}

// Matrix products of layers: prefill of c tokens and a decode step are a prefill of c + 1.
TEST_P(EveryFamily, a_prefill_and_a_step_are_a_longer_prefill) {
  for (const std::int64_t c : {1, 127, 700}) {
    EXPECT_EQ(without_head(graph_of(spec, prefill(1, c, c))) +
                  without_head(graph_of(spec, decode(1, c + 1))),
              without_head(graph_of(spec, prefill(1, c + 1, c + 1))))
        << c;
  }
}

TEST_P(EveryFamily, half_the_flops_of_a_token_are_the_active_parameters) {
  const OperatorGraph graph = graph_of(spec, decode(1, 1));
  double mixing = 0;
  for (const Operator& op : graph.operators) {
    if (op.kind == OperatorKind::attention) mixing += op.matmul_flops;
  }
  EXPECT_EQ((graph.totals.matmul_flops - mixing) / 2,
            static_cast<double>(graph.totals.active_parameters));
}

TEST_P(EveryFamily, flops_are_linear_in_the_batch) {
  const auto flops = [&](const Configuration& c) { return graph_of(spec, c).totals.matmul_flops; };
  EXPECT_EQ(5 * flops(decode(1, 300)), flops(decode(5, 300)));
  EXPECT_EQ(5 * flops(prefill(1, 128, 300)), flops(prefill(5, 128, 300)));
}

// What is split over two ranks sums to the whole, and what is not is there twice.
TEST_P(EveryFamily, two_ranks_do_the_work_of_one_and_what_is_replicated) {
  if (check_configuration(spec, decode(1, 64, {.tp = 2}))) GTEST_SKIP() << "heads do not split";
  const OperatorGraph graph = graph_of(spec, decode(1, 64, {.tp = 2}));
  for (const Operator& op : graph.operators) {
    if (!op.whole || op.kind == OperatorKind::experts) continue;
    const double local = op.local_work.matmul_flops, whole = op.whole_work.matmul_flops;
    if (op.split == Split::replicated) {
      EXPECT_EQ(local, whole) << op.name;
    } else if (op.name != "lm_head") {  // a padded vocabulary is rounded up
      EXPECT_TRUE(2 * local == whole || local == whole) << op.layer_type << " " << op.name;
    }
  }
  const double one = graph_of(spec, decode(1, 64)).totals.matmul_flops;
  EXPECT_EQ(graph.totals.matmul_flops, one);
  EXPECT_GE(2 * graph.totals.matmul_flops_per_rank, one * 0.999);
}

TEST_P(EveryFamily, the_parts_of_a_pipeline_hold_all_weights) {
  const OperatorGraph one = graph_of(spec, decode(2, 64));
  const OperatorGraph two = graph_of(spec, decode(2, 64, {.pp = 2}));
  EXPECT_EQ(one.totals.parameters, two.totals.parameters);
  EXPECT_EQ(one.totals.matmul_flops, two.totals.matmul_flops);
}

INSTANTIATE_TEST_SUITE_P(Shipped, EveryFamily, testing::ValuesIn(ids), [](const auto& info) {
  std::string name = info.param;
  for (char& c : name) {
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  }
  return name;
});

TEST(FamilyMask, a_window_or_chunk_beyond_the_context_is_causal) {
  ModelSpec spec = shipped("llama-4-scout");
  const double bounded = graph_of(spec, prefill(1, 500, 500)).totals.matmul_flops;
  for (LayerMixer& mixer : spec.mixers) mixer.chunk = 0;
  EXPECT_EQ(graph_of(spec, prefill(1, 500, 500)).totals.matmul_flops, bounded);

  ModelSpec mimo = shipped("mimo-v2-flash");
  const double windowed = graph_of(mimo, prefill(1, 128, 128)).totals.matmul_flops;
  for (LayerMixer& mixer : mimo.mixers) mixer.window = 0;
  EXPECT_EQ(graph_of(mimo, prefill(1, 128, 128)).totals.matmul_flops, windowed);
}

Refusal refusal_of(const ModelSpec& spec, const Parallel& parallel) {
  return check_configuration(spec, decode(1, 8, parallel)).value_or(Refusal{});
}

// 16 key heads; the 32 query heads would split 32 ways.
TEST(FamilyRefusal, recurrent_heads_must_split_too) {
  const ModelSpec delta = shipped("qwen3.5-122b-a10b");
  EXPECT_EQ(refusal_of(delta, {.tp = 16}).reason, "");
  const Refusal refusal = refusal_of(delta, {.tp = 32});
  EXPECT_EQ(refusal.reason, "tp_does_not_divide_heads");
  EXPECT_THAT(refusal.text, AllOf(HasSubstr("32"), HasSubstr("16 key")));

  ModelSpec mamba = shipped("nemotron-3-nano");
  mamba.state_space->heads = 60;
  mamba.state_space->groups = 4;
  says(refusal_of(mamba, {.tp = 8}).text, "60 Mamba heads");
  mamba = shipped("nemotron-3-nano");
  mamba.state_space->groups = 3;
  mamba.state_space->heads = 96;
  EXPECT_EQ(refusal_of(mamba, {.tp = 8}).reason, "tp_kv_mismatch");
}

TEST(FamilyRefusal, heads_and_widths_of_single_layers_must_split) {
  ModelSpec mimo = shipped("mimo-v2-flash");
  for (LayerMixer& mixer : mimo.mixers) {
    if (mixer.window > 0) mixer.kv_heads = 6;
  }
  EXPECT_EQ(refusal_of(mimo, {.tp = 4}).reason, "tp_kv_mismatch");
  ModelSpec searched = shipped("nemotron-super-49b");
  searched.ffn_widths[3] = 250;
  EXPECT_EQ(refusal_of(searched, {.tp = 4}).reason, "tp_does_not_divide_ffn");
}

TEST(FamilyRefusal, learned_positions_end_the_context) {
  EXPECT_EQ(check_configuration(shipped("gpt2"), decode(1, 1025))->reason, "context_exceeds_model");
}

}  // namespace
}  // namespace halmark
