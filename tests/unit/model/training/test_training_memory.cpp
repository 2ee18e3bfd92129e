// Memory of a training step: the published table of activations, states per parameter, and what
// ZeRO, pipelines and recomputation leave on a rank.

#include "core/json/json.hpp"
#include "core/numeric/cast.hpp"
#include "fixtures.hpp"
#include "model/training/training.hpp"

namespace halmark::model_test {
namespace {

std::int64_t number_of(Dtype dtype) { return static_cast<std::int64_t>(dtype); }

Operator priced(OperatorKind kind, Split split, const Problem& problem) {
  Operator op;
  op.name = problem.op;
  op.layer_type = "decoder";
  op.kind = kind;
  op.split = split;
  op.local = complete_problem(problem);
  op.local_work = find_contract(op.local.op)->work(op.local.params);
  op.rank_work = op.local_work;
  return op;
}

// One layer of a GPT with a plain FFN of width 4 H, as 2205.05198 has it: s tokens, b sequences, a
// heads of width 64, on one of t tensor-parallel ranks.
struct Gpt {
  std::int64_t s = 128, b = 4, a = 8, t = 1;
  std::int64_t hidden() const { return 64 * a; }

  OperatorGraph graph() const {
    OperatorGraph g;
    g.spec.hidden = hidden();
    g.spec.heads = a;
    g.configuration = {"gpt", {.tp = static_cast<int>(t)}, bf16(), {Phase::training, b, s, s}};
    const std::int64_t bf = number_of(Dtype::bf16), h = hidden(), rows = s * b;
    const auto norm = [&] {
      g.operators.push_back(priced(
          OperatorKind::norm, Split::replicated,
          {"layernorm", {{"rows", rows}, {"cols", h}, {"src_dtype", bf}, {"dst_dtype", bf}}}));
    };
    const auto linear = [&](Split split, std::int64_t in, std::int64_t out) {
      g.operators.push_back(priced(OperatorKind::linear, split,
                                   {"gemm",
                                    {{"m", rows},
                                     {"n", out},
                                     {"k", in},
                                     {"src_dtype", bf},
                                     {"wei_dtype", bf},
                                     {"dst_dtype", bf}}}));
    };
    norm();
    linear(Split::column, h, h / t);
    linear(Split::column, h, 2 * h / t);
    g.operators.push_back(priced(OperatorKind::attention, Split::head,
                                 {"attention",
                                  {{"batch", b},
                                   {"heads", a / t},
                                   {"kv_heads", a / t},
                                   {"head_dim", 64},
                                   {"new_tokens", s},
                                   {"context", s},
                                   {"q_dtype", bf},
                                   {"kv_dtype", bf},
                                   {"dst_dtype", bf}}}));
    linear(Split::row, h / t, h);
    norm();
    linear(Split::column, h, 4 * h / t);
    g.operators.push_back(priced(OperatorKind::elementwise, Split::column,
                                 {"activation",
                                  {{"rows", rows},
                                   {"cols", 4 * h / t},
                                   {"kind", 1},
                                   {"src_dtype", bf},
                                   {"dst_dtype", bf}}}));
    linear(Split::row, 4 * h / t, h);
    LayerType layer{"decoder", {}};
    for (std::int32_t i = 0; i < static_cast<std::int32_t>(g.operators.size()); ++i) {
      layer.operators.push_back(i);
    }
    g.layer_types.push_back(layer);
    return g;
  }

  std::int64_t bytes(TrainingPlan plan) const {
    plan.dropout = true;
    const OperatorGraph g = graph();
    return saved_activation_bytes(g, g.layer_types.front(), plan);
  }
};

// Table 2 of 2205.05198, section 4.
TEST(SavedActivations, are_those_of_the_published_table) {
  for (const std::int64_t s : {128, 512}) {
    Gpt g{.s = s};
    const std::int64_t sbh = s * g.b * g.hidden(), scores = 5 * g.a * s * s * g.b;
    const TrainingPlan unfused{.fused_attention = false};
    const TrainingPlan selective{.recompute = Recompute::selective, .fused_attention = false};
    EXPECT_EQ(g.bytes(unfused), 34 * sbh + scores);
    EXPECT_EQ(g.bytes(selective), 34 * sbh);
    EXPECT_EQ(g.bytes({}), 34 * sbh) << "a fused kernel stores no scores";
    EXPECT_EQ(g.bytes({.recompute = Recompute::full}), 2 * sbh);
    g.t = 4;
    EXPECT_EQ(g.bytes(unfused), 10 * sbh + 24 * sbh / 4 + scores / 4);
    TrainingPlan sequence = unfused;
    sequence.sequence_parallel = true;
    EXPECT_EQ(g.bytes(sequence), 34 * sbh / 4 + scores / 4);
    sequence.recompute = Recompute::selective;
    EXPECT_EQ(g.bytes(sequence), 34 * sbh / 4);
    sequence.recompute = Recompute::full;
    EXPECT_EQ(g.bytes(sequence), 2 * sbh / 4) << "between layers the tokens are split";
  }
}

// 2205.05198: selective recomputation saves 70 % of the activations of GPT-3 and 65 % of those of
// MT-NLG (section 5); with sequence parallelism a fifth of tensor parallelism alone is left, and
// full recomputation leaves 10 % (section 6.1).
TEST(SavedActivations, of_gpt_3_and_mt_nlg_shrink_as_printed) {
  struct Published {
    std::int64_t layers, hidden, heads;
    double saved;
  };
  for (const auto& [layers, hidden, heads, saved] :
       {Published{96, 12288, 96, 0.70}, {105, 20480, 128, 0.65}}) {
    const Json config = {{"model_type", "gpt2"}, {"n_layer", layers},   {"n_embd", hidden},
                         {"n_head", heads},      {"vocab_size", 51200}, {"n_positions", 2048}};
    const ModelSpec spec = read_model(config.dump(), "gpt");
    const auto bytes = [&](int tp, Recompute recompute, bool splits_sequence) {
      const OperatorGraph g =
          graph_of(spec, {"m", {.tp = tp}, bf16(), {Phase::training, 1, 2048, 2048}});
      const LayerType& layer = g.layer_types[as_size(g.layers.front())];
      return as_double(saved_activation_bytes(g, layer,
                                              {.recompute = recompute,
                                               .sequence_parallel = splits_sequence,
                                               .fused_attention = false,
                                               .dropout = true}));
    };
    const double whole = bytes(1, Recompute::none, false);
    EXPECT_NEAR(1 - bytes(1, Recompute::selective, false) / whole, saved, 0.005) << heads;
    const double split = bytes(8, Recompute::none, false);
    EXPECT_NEAR(split / bytes(8, Recompute::selective, true), 5, 0.5) << heads;
    EXPECT_NEAR(bytes(8, Recompute::full, false) / split, 0.1, 0.015) << heads;
  }
}

OperatorGraph training(Parallel parallel, std::int64_t batch, std::int64_t micro_batch = 1) {
  return graph_of(tiny(), {"m",
                           parallel,
                           bf16(),
                           {.phase = Phase::training,
                            .batch = batch,
                            .new_tokens = 16,
                            .context = 16,
                            .micro_batch = micro_batch}});
}

// Mixed-precision Adam: 2 + 2 bytes, and 12 for the master copy and both moments.
TEST(TrainingStates, adam_takes_sixteen_bytes_a_parameter) {
  const OperatorGraph g = training({}, 4);
  const TrainingMemory rank = training_memory(g, {}).front();
  const std::int64_t p = g.totals.parameters;
  EXPECT_EQ(rank.trained_parameters, p);
  EXPECT_EQ(rank.weight_bytes, 2 * p);
  EXPECT_EQ(rank.gradient_bytes, 2 * p);
  EXPECT_EQ(rank.optimizer_bytes, 12 * p);
  EXPECT_EQ(rank.gradient_message_bytes, 0) << "one replica has nobody to reduce with";
  EXPECT_EQ(training_memory(g, {.gradient = Dtype::f32}).front().gradient_bytes, 4 * p);
  EXPECT_EQ(training_memory(g, {.optimizer = Optimizer::sgd}).front().optimizer_bytes, 4 * p);
  EXPECT_EQ(training_memory(g, {.optimizer = Optimizer::adam8bit}).front().optimizer_bytes, 6 * p);
}

TEST(TrainingStates, zero_shares_out_one_kind_more_a_stage) {
  const OperatorGraph g = training({.dp = 4}, 4);
  const TrainingMemory whole = training_memory(g, {}).front();
  const auto at = [&](int zero) { return training_memory(g, {.zero = zero}).front(); };
  EXPECT_EQ(whole.gradient_message_bytes, 2 * g.totals.parameters);
  EXPECT_EQ(at(1).optimizer_bytes, whole.optimizer_bytes / 4);
  EXPECT_EQ(at(1).gradient_bytes, whole.gradient_bytes);
  EXPECT_EQ(at(2).gradient_bytes, whole.gradient_bytes / 4);
  EXPECT_EQ(at(2).weight_bytes, whole.weight_bytes);
  EXPECT_EQ(at(3).weight_bytes, whole.weight_bytes / 4);
  EXPECT_EQ(at(3).activation_bytes, whole.activation_bytes);
}

TEST(TrainingStates, ranks_together_hold_the_model_once) {
  const OperatorGraph one = training({}, 4);
  const OperatorGraph g = training({.tp = 2, .pp = 2}, 4);
  std::int64_t held = 0;
  for (const TrainingMemory& rank : training_memory(g, {})) held += 2 * rank.trained_parameters;
  // Norms are held by both tensor-parallel ranks: two a layer, and the last one.
  EXPECT_EQ(held, one.totals.parameters + (2 * 4 + 1) * 8);
}

TEST(TrainingStates, an_adapter_of_rank_r_adds_r_rows_and_columns_to_every_product) {
  const OperatorGraph g = training({}, 4);
  const TrainingMemory rank = training_memory(g, {.lora_rank = 2}).front();
  // Tiny: q [8 -> 16], kv [8 -> 16], o [16 -> 8], gate and up [8 -> 32], down [16 -> 8].
  const std::int64_t adapters = 4 * 2 * ((8 + 16) + (8 + 16) + (16 + 8) + (8 + 32) + (16 + 8));
  EXPECT_EQ(rank.trained_parameters, adapters);
  EXPECT_EQ(rank.weight_bytes, 2 * (g.totals.parameters + adapters));
  EXPECT_EQ(rank.optimizer_bytes, 12 * adapters);
}

// 1F1B: the first stage has filled the pipeline before its first backward pass.
TEST(TrainingActivations, a_stage_holds_the_micro_batches_in_front_of_it) {
  const OperatorGraph g = training({.pp = 4}, 3);
  const std::vector<TrainingMemory> stages = training_memory(g, {});
  ASSERT_EQ(stages.size(), 4u);
  EXPECT_EQ(stages[0].in_flight, 3);  // min(4, 3 micro-batches)
  EXPECT_EQ(stages[2].in_flight, 2);
  EXPECT_EQ(stages[3].in_flight, 1);
  EXPECT_EQ(stages[0].activation_bytes, 3 * stages[3].activation_bytes);
  EXPECT_EQ(stages[0].working_bytes, 0);
  EXPECT_EQ(stages[3].working_bytes, 16 * 32 * 4);  // logits in f32
}

TEST(TrainingCost, backward_is_twice_forward_and_recomputation_is_hardware_alone) {
  const OperatorGraph g = training({}, 4);
  const double f = g.totals.matmul_flops;
  const double head = find_operator(g, "lm_head").matmul_flops;
  const double attention = find_operator(g, "attention").matmul_flops;
  const TrainingCost none = training_cost(g, {});
  EXPECT_EQ(none.model_flops(), 3 * f);
  EXPECT_EQ(none.hardware_flops(), 3 * f);
  EXPECT_EQ(none.totals.matmul_flops_per_rank, 3 * f);
  const TrainingCost full = training_cost(g, {.recompute = Recompute::full});
  EXPECT_EQ(full.model_flops(), 3 * f);
  EXPECT_EQ(full.hardware_flops(), 4 * f - head);
  EXPECT_EQ(full.totals.matmul_flops_per_rank, 4 * f - head);
  const TrainingCost selective = training_cost(g, {.recompute = Recompute::selective});
  EXPECT_EQ(selective.hardware_flops(), 3 * f + attention);
  const TrainingCost lora = training_cost(g, {.lora_rank = 2});
  // Pairs of rank 2 beside q, kv, o, gate and up, and down, on 4 x 16 rows in 4 layers; forward and
  // both gradients.
  const double pairs = 4 * 2 * ((8 + 16) + (8 + 16) + (16 + 8) + (8 + 32) + (16 + 8));
  EXPECT_EQ(lora.adapters, 3 * 2 * (4 * 16) * pairs);
  EXPECT_EQ(lora.model_flops(), 2 * (f - attention) + 3 * attention + lora.adapters);
  EXPECT_EQ(lora.totals.matmul_flops_per_rank, lora.model_flops());
}

// Of q, k, v, o, gate, up and down every other is kept, q first: k, o and up are repeated, and
// neither attention nor the head.
TEST(TrainingCost, alternate_recomputation_repeats_every_other_product) {
  const OperatorGraph g = training({}, 4);
  const TrainingCost cost = training_cost(g, {.recompute = Recompute::alternate});
  const double repeated = find_operator(g, "kv_proj").matmul_flops / 2 +
                          find_operator(g, "o_proj").matmul_flops +
                          find_operator(g, "gate_up_proj").matmul_flops / 2;
  EXPECT_EQ(cost.recomputed, repeated);
  EXPECT_EQ(cost.model_flops(), 3 * g.totals.matmul_flops);
}

// The input, q, v, attention, gate and down of 16 tokens in 16 bits; tiny has 4 heads of width 4
// over a hidden width of 8 and networks of 16.
TEST(SavedActivations, of_alternate_recomputation_are_input_attention_and_every_other_product) {
  const OperatorGraph g = training({}, 4);
  const LayerType& layer = g.layer_types[as_size(g.layers.front())];
  EXPECT_EQ(saved_activation_bytes(g, layer, {.recompute = Recompute::alternate}),
            2 * 16 * (8 + 16 + 8 + 16 + 16 + 8));
}

// The head of 32 columns: one copy in f32, or three; over two ranks four and the logits' own.
TEST(TrainingActivations, a_plain_loss_holds_more_copies_of_the_logits) {
  const TrainingPlan plain{.loss = Loss::plain};
  EXPECT_EQ(training_memory(training({}, 4), {}).front().working_bytes, 16 * 32 * 4);
  EXPECT_EQ(training_memory(training({}, 4), plain).front().working_bytes, 16 * 32 * 12);
  EXPECT_EQ(training_memory(training({.tp = 2}, 4), plain).front().working_bytes, 16 * 16 * 18);
}

// Half of 16 tokens of width 8 in 16 bits are on the other rank: an input and its gradient.
TEST(TrainingActivations, sequence_parallelism_gathers_the_input_of_the_layer_at_work) {
  const OperatorGraph g = training({.tp = 2, .pp = 2}, 4);
  EXPECT_EQ(training_memory(g, {}).front().working_bytes, 0);
  EXPECT_EQ(training_memory(g, {.sequence_parallel = true}).front().working_bytes,
            2 * 2 * 16 * 8 / 2);
}

// ZeRO 3: tables of 2 x 32 x 8 and two layers whole in 16 bits, gradients of the larger of both.
TEST(TrainingStates, shared_weights_are_gathered_where_they_are_at_work) {
  const OperatorGraph g = training({.dp = 4}, 4);
  const std::int64_t tables = 2 * 32 * 8;
  const std::int64_t layer = (g.totals.parameters - tables - 8) / 4;
  const auto gathered = [&](int zero) {
    return training_memory(g, {.zero = zero}).front().gathered_bytes;
  };
  EXPECT_EQ(gathered(1), 0);
  EXPECT_EQ(gathered(2), 2 * std::max(tables, layer));
  EXPECT_EQ(gathered(3), gathered(2) + 2 * (tables + 2 * layer));
}

TEST(TrainingPlan, refuses_what_does_not_go_together) {
  const OperatorGraph one = training({}, 4);
  const auto reason = [](const OperatorGraph& g, const TrainingPlan& plan) {
    const auto refusal = check_training(g, plan);
    return refusal ? refusal->reason : "none";
  };
  EXPECT_EQ(reason(one, {}), "none");
  EXPECT_EQ(reason(one, {.zero = 4}), "zero_out_of_range");
  EXPECT_EQ(reason(one, {.zero = 1}), "zero_without_replicas");
  EXPECT_EQ(reason(one, {.lora_rank = 9}), "lora_rank_out_of_range");
  EXPECT_EQ(reason(one, {.sequence_parallel = true}), "sequence_parallel_without_tensor");
  EXPECT_EQ(reason(graph_of(tiny(), decode(1, 8)), {}), "training_plan_without_training");
}

}  // namespace
}  // namespace halmark::model_test
