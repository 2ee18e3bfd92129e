// Context parallelism: shares of the ranks against the whole model, against pairs counted one by
// one, and by hand.
#include "core/numeric/cast.hpp"
#include "model/graph/context_split.hpp"

#include "fixtures.hpp"
#include "model/pricing/memory.hpp"
#include "model/training/training.hpp"
#include "model/utilisation/explain.hpp"
#include "model/utilisation/utilisation.hpp"

namespace halmark {
namespace {

using namespace model_test;

Configuration over(Configuration configuration, int cp) {
  configuration.parallel.cp = cp;
  return configuration;
}
OperatorGraph split_over(const ModelSpec& spec, const Configuration& configuration, int cp) {
  return graph_of(spec, over(configuration, cp));
}

// New tokens of every sequence that rank `rank` has, as positions.
std::vector<std::int64_t> positions_of(const OperatorGraph& graph, int rank) {
  const std::int64_t size = graph.rank_tokens() / 2, cp = graph.configuration.parallel.cp;
  const std::int64_t cached = graph.configuration.workload.cached();
  std::vector<std::int64_t> out;
  for (const std::int64_t block : {std::int64_t{rank}, 2 * cp - 1 - rank}) {
    for (std::int64_t i = 0; i < size; ++i) out.push_back(cached + block * size + i);
  }
  return out;
}

// By hand. 8 tokens over 2 ranks are blocks of 2: rank 0 has tokens 0, 1, 6, 7, which see 1 + 2 + 7
// + 8 = 18 keys, rank 1 has 2 to 5, which see 3 + 4 + 5 + 6 = 18; together 8 x 9 / 2. 4 heads of
// width 4: 2 x 2 x 4 x 4 FLOPs a pair.
TEST(ContextSplit, a_decoder_of_8_tokens_on_2_ranks_by_hand) {
  const OperatorGraph graph = split_over(tiny(), prefill(1, 8, 8), 2);
  EXPECT_EQ(graph.configuration.devices(), 2);
  EXPECT_EQ(graph.configuration.parallel.text(), "dp1 tp1 pp1 ep1 cp2");
  const Operator& attention = find_operator(graph, "attention");
  EXPECT_EQ(attention.whole_work.matmul_flops, 64 * 36);
  EXPECT_EQ(attention.rank_work.matmul_flops, 64 * 18);
  ASSERT_EQ(attention.of_context_rank.size(), 2u);
  EXPECT_EQ(work_of(attention.of_context_rank[0]).matmul_flops, 64 * 18);
  EXPECT_EQ(work_of(attention.of_context_rank[1]).matmul_flops, 64 * 18);
  // Queries and output: 4 tokens x 4 heads x 4 values of 2 bytes, each once. Keys and values: the
  // blocks of rank 0 see 2 and 8 keys of 2 heads x 4 + 4 values.
  EXPECT_EQ(attention.rank_work.bytes_read, 4 * 16 * 2 + (2 + 8) * 16 * 2);
  EXPECT_EQ(attention.rank_work.bytes_written, 4 * 16 * 2);
  EXPECT_EQ(attention.strategy, "context");

  // One step a layer: the 4 keys and values of a rank.
  const Operator& ring = find_operator(graph, "attention_ring");
  EXPECT_EQ(ring.split, Split::context);
  EXPECT_EQ(ring.local.op, "send_recv");
  EXPECT_EQ(ring.local.params.at("bytes"), 4 * 16 * 2);
  EXPECT_EQ(ring.local.params.at("ranks"), 2);
  EXPECT_EQ(ring.count, 4 * 1);
  EXPECT_EQ(ring.rank_work.transfer_bytes, 4 * 16 * 2);

  const Operator& q = find_operator(graph, "q_proj");
  EXPECT_EQ(q.local.params.at("m"), 4);
  EXPECT_EQ(q.weight_bytes_local, q.weight_bytes_whole);
}

TEST(ContextSplit, four_ranks_pass_their_keys_on_three_times_a_layer) {
  const OperatorGraph graph = split_over(tiny(), prefill(3, 8, 8, {.tp = 2}), 4);
  const Operator& ring = find_operator(graph, "attention_ring");
  EXPECT_EQ(ring.count, 4 * 3);
  EXPECT_EQ(ring.stage_counts, std::vector<std::int64_t>{12});
  // 3 sequences, 2 tokens of a rank, one of 2 KV heads, 4 + 4 values.
  EXPECT_EQ(ring.local.params.at("bytes"), 3 * 2 * 8 * 2);
  // Formula: T k (d + dv) bytes (CP - 1) / CP for a layer, where T k (d + dv) is on one device.
  EXPECT_EQ(3 * ring.rank_work.transfer_bytes, 3.0 * 8 * 8 * 2 * (4 - 1) / 4);
}

TEST(ContextSplit, one_rank_is_no_split) {
  for (const Configuration& d : {prefill(2, 8, 12), decode(2, 9), training(2, 8)}) {
    const OperatorGraph one = split_over(tiny(), d, 1), plain = graph_of(tiny(), d);
    EXPECT_FALSE(has_operator(one, "attention_ring"));
    EXPECT_EQ(one.totals.bytes_per_rank, plain.totals.bytes_per_rank);
    EXPECT_EQ(one.totals.matmul_flops_per_rank, plain.totals.matmul_flops_per_rank);
    EXPECT_EQ(one.configuration.parallel.text(), plain.configuration.parallel.text());
  }
}

// Attention of one rank from its positions alone: every query sees min(position + 1, window) keys.
TEST(ContextSplit, the_pairs_of_every_rank_equal_those_counted_one_by_one) {
  for (const std::int64_t window : {0, 3, 7, 30}) {
    for (const int cp : {2, 3, 4}) {
      for (const std::int64_t cached : {std::int64_t{0}, std::int64_t{12}}) {
        ModelSpec spec = tiny();
        spec.windows.assign(4, window);
        const OperatorGraph graph = split_over(spec, prefill(2, 24, 24 + cached), cp);
        const Operator& op = find_operator(graph, "attention");
        double heaviest = 0;
        for (int rank = 0; rank < cp; ++rank) {
          double pairs = 0;
          for (const std::int64_t p : positions_of(graph, rank)) {
            pairs += as_double(window > 0 ? std::min(p + 1, window) : p + 1);
          }
          const Work work = work_of(op.of_context_rank[as_size(rank)]);
          EXPECT_EQ(work.matmul_flops, 2 * 64 * pairs) << window << ' ' << cp << ' ' << rank;
          heaviest = std::max(heaviest, work.matmul_flops);
          if (window == 0) {
            EXPECT_EQ(cp * work.matmul_flops, op.whole_work.matmul_flops);
          }
        }
        EXPECT_EQ(op.rank_work.matmul_flops, heaviest);
      }
    }
  }
}

bool is_last_position(const Operator& op, const OperatorGraph& graph) {
  return op.layer_type == "head" && graph.configuration.workload.phase == Phase::prefill;
}

double row_bytes(const Work& work) { return work.bytes() - work.constant_bytes; }

// What the context ranks do together is what one rank of the same tensor and expert group does
// without them; its weights every one of them has.
void expect_same_work(const char* model, std::int64_t new_tokens, std::int64_t cached,
                      Phase phase) {
  const ModelSpec spec = shipped(model);
  std::set<OperatorKind> seen;
  for (const int cp : {2, 4, 8}) {
    for (const int tp : {1, 2}) {
      const Parallel parallel{.dp = 2, .tp = tp, .pp = 2, .ep = spec.moe ? 2 : 1};
      Configuration d = prefill(8, new_tokens, new_tokens + cached, parallel);
      d.workload.phase = phase;
      const OperatorGraph one = graph_of(spec, d), split = split_over(spec, d, cp);
      SCOPED_TRACE(model + split.configuration.key());
      EXPECT_EQ(split.configuration.devices(), one.configuration.devices() * cp);
      EXPECT_EQ(split.totals.matmul_flops, one.totals.matmul_flops);
      EXPECT_EQ(split.totals.parameters, one.totals.parameters);
      for (const Operator& op : split.operators) {
        if (op.split == Split::context && op.kind == OperatorKind::collective) continue;
        SCOPED_TRACE(op.name);
        const Operator* whole = nullptr;
        for (const Operator& other : one.operators) {
          if (other.name == op.name && other.layer_type == op.layer_type) whole = &other;
        }
        ASSERT_NE(whole, nullptr);
        seen.insert(op.kind);
        EXPECT_EQ(op.weight_bytes_local, whole->weight_bytes_local);
        EXPECT_EQ(op.stage_counts, whole->stage_counts);
        double flops = 0, rows = 0;
        for (int rank = 0; rank < cp; ++rank) {
          if (is_last_position(op, split) && rank > 0) continue;  // rank 0 has it
          const Work work = op.of_context_rank.empty() ? op.rank_work
                                                       : work_of(op.of_context_rank[as_size(rank)]);
          flops += work.flops();
          rows += op.of_context_rank.empty() ? row_bytes(work) : work.bytes_written;
        }
        double expected = op.of_context_rank.empty() ? row_bytes(whole->rank_work)
                                                     : whole->rank_work.bytes_written;
        // Each rank reads how many rows every expert that it holds has, an s32 each.
        if (op.kind == OperatorKind::experts && op.local.op == "grouped_gemm") {
          expected += (cp - 1) * 4.0 * as_double(split.expert_use->held_per_rank);
        }
        EXPECT_NEAR(flops, whole->rank_work.flops(), 1e-9 * flops);
        EXPECT_NEAR(rows, expected, 1e-9 * expected);
      }
    }
  }
  EXPECT_GE(seen.size(), 5u);
}

TEST(ContextSplit, the_ranks_together_do_the_work_of_one_without_the_split) {
  expect_same_work("llama-3.1-8b", 4096, 0, Phase::prefill);
  expect_same_work("llama-3.1-8b", 1024, 2048, Phase::prefill);
  expect_same_work("llama-3.1-8b", 4096, 0, Phase::training);
  expect_same_work("gpt-3-175b", 2048, 0, Phase::training);
  expect_same_work("gemma-2-9b", 8192, 0, Phase::prefill);
  expect_same_work("gpt-oss-20b", 4096, 64, Phase::prefill);
  expect_same_work("llama-4-scout-17b-16e", 16384, 0, Phase::prefill);
  expect_same_work("qwen3-30b-a3b", 4096, 0, Phase::training);
  expect_same_work("deepseek-v2-lite", 4096, 0, Phase::training);
  expect_same_work("deepseek-v3", 2048, 1024, Phase::prefill);
}

// Without a window and the head of prefill alone on one rank, a rank's share is a cp-th.
TEST(ContextSplit, a_training_step_is_the_same_share_on_every_rank) {
  const Configuration d = training(4, 1024, {.tp = 2});
  const OperatorGraph one = graph_of("llama-3.1-8b", d);
  const OperatorGraph split = split_over(shipped("llama-3.1-8b"), d, 4);
  EXPECT_EQ(4 * split.totals.matmul_flops_per_rank, one.totals.matmul_flops_per_rank);
}

TEST(ContextSplit, a_rank_keeps_the_cache_of_its_own_tokens) {
  const MemoryUse one = memory_use(graph_of(tiny(), prefill(2, 16, 24)));
  const MemoryUse split = memory_use(split_over(tiny(), prefill(2, 16, 24), 4));
  EXPECT_EQ(4 * split.largest.kv_bytes, one.largest.kv_bytes);
  EXPECT_EQ(split.kv_bytes_total, one.kv_bytes_total);
  EXPECT_EQ(split.largest.weight_bytes, one.largest.weight_bytes);
  EXPECT_EQ(split.weight_bytes_total, 4 * one.weight_bytes_total);
  EXPECT_EQ(split.kv_bytes_per_token, one.kv_bytes_per_token);
  // Logits of the last position: 2 x 32 values of 4 bytes, on the rank that has it.
  EXPECT_EQ(4 * (split.largest.activation_bytes - 256), one.largest.activation_bytes - 256);
}

// The fullest rank of those that hold the last `window` tokens, found token by token.
TEST(ContextSplit, a_window_leaves_the_fullest_rank_what_is_counted_one_by_one) {
  for (const int cp : {2, 3, 4}) {
    for (std::int64_t window = 1; window <= 40; ++window) {
      const OperatorGraph graph = split_over(tiny(), prefill(1, 24, 24), cp);
      std::int64_t fullest = 0;
      for (int rank = 0; rank < cp; ++rank) {
        std::int64_t kept = 0;
        for (const std::int64_t p : positions_of(graph, rank)) kept += p >= 24 - window ? 1 : 0;
        fullest = std::max(fullest, kept);
      }
      EXPECT_EQ(kept_tokens(graph, LayerCache{.tokens_max = window}), fullest)
          << cp << ' ' << window;
    }
  }
}

TEST(ContextSplit, training_keeps_a_share_of_the_activations_and_all_of_the_states) {
  const ModelSpec spec = shipped("llama-3.1-8b");
  const Configuration d = training(2, 4096, {.dp = 2});
  const OperatorGraph one = graph_of(spec, d), split = split_over(spec, d, 4);
  for (const Recompute recompute : {Recompute::none, Recompute::selective, Recompute::full}) {
    const TrainingPlan plan{.recompute = recompute};
    const TrainingMemory a = training_memory(one, plan)[0], b = training_memory(split, plan)[0];
    EXPECT_EQ(a.activation_bytes, 4 * b.activation_bytes);
    EXPECT_EQ(a.working_bytes, 4 * b.working_bytes);
    EXPECT_EQ(a.optimizer_bytes, b.optimizer_bytes);
    EXPECT_EQ(a.weight_bytes, b.weight_bytes);
  }
  // The optimizer's states are shared out over all copies of a weight.
  const TrainingMemory zero = training_memory(split, {.zero = 1})[0];
  EXPECT_EQ(training_memory(split, {})[0].optimizer_bytes, 8 * zero.optimizer_bytes);
  const OperatorGraph alone = split_over(spec, training(2, 4096), 2);
  EXPECT_GT(training_memory(alone, {})[0].gradient_message_bytes, 0);
  EXPECT_FALSE(check_training(alone, {.zero = 1}));
}

TEST(ContextSplit, keys_travel_once_forward_and_with_their_gradients_backward) {
  const OperatorGraph graph = split_over(tiny(), training(2, 16), 2);
  const auto passes = [&](Recompute recompute) {
    const TrainingCost cost = training_cost(graph, {.recompute = recompute});
    for (std::size_t i = 0; i < graph.operators.size(); ++i) {
      if (graph.operators[i].name == "attention_ring") return cost.operators[i].passes;
    }
    return 0.0;
  };
  EXPECT_EQ(passes(Recompute::none), 3);
  EXPECT_EQ(passes(Recompute::selective), 4);
  EXPECT_EQ(passes(Recompute::full), 4);
}

// Twice the devices at half the time is the same utilisation.
TEST(ContextSplit, utilisation_counts_the_devices_of_all_ranks) {
  const auto of = [](const OperatorGraph& graph, double ns) {
    MeasuredStep step{
        .ns = ns, .device = device_of(1e12, 1e12), .convention = model_convention(true, false)};
    step.training = TrainingPlan{};
    return utilisation(graph, step);
  };
  const Configuration d = training(2, 64);
  const StepUtilisation one = of(graph_of(tiny(), d), 4e6);
  const StepUtilisation split = of(split_over(tiny(), d, 4), 1e6);
  EXPECT_NEAR(*split.model, *one.model, 1e-12);
  EXPECT_NEAR(*split.executed, *one.executed, 1e-12);
}

TEST(ContextSplit, explain_shows_both_blocks_of_a_rank) {
  const OperatorGraph graph = split_over(tiny(), prefill(1, 8, 8), 2);
  std::size_t index = 0;
  while (graph.operators[index].name != "attention") ++index;
  const std::string text = explain_operator(graph, index, std::nullopt, std::nullopt);
  for (const char* part : {"over dp1 tp1 pp1 ep1 cp2", "1 sequences, S 2, P 0 = 3\n",
                           "1 sequences, S 2, P 6 = 15\n", "both blocks = 1,152 FLOPs"}) {
    says(text, part);
  }
}

TEST(ContextSplit, is_refused_with_its_reason) {
  struct Case {
    const char *reason, *model;
    Configuration configuration;
    int cp;
    const char *word, *other = "";
  };
  const Configuration eight = prefill(1, 8, 8);
  for (const auto& [reason, model, configuration, cp, word, other] :
       {Case{"nonpositive_input", "gpt2", eight, 0, "cp 0"},
        {"cp_does_not_divide_sequence", "gpt2", prefill(1, 12, 12), 4, "cp 4 = 8", "12"},
        {"cp_does_not_divide_sequence", "gpt2", prefill(1, 8, 11), 2, "cp 2", "3 cached"},
        {"cp_without_sequence", "gpt2", decode(1, 8), 2, "cp 2", "decode"},
        {"too_many_devices", "gpt2", eight, 1 << 21, "cp2097152"},
        {"cp_not_defined", "qwen3-next-80b-a3b", eight, 2, "recurrent"},
        {"cp_not_defined", "kimi-linear-48b-a3b", eight, 2, "recurrent"},
        {"cp_not_defined", "nemotron-h-56b", eight, 2, "recurrent"},
        {"cp_not_defined", "deepseek-v3.2", eight, 2, "indexer"},
        {"cp_not_defined", "deepseek-v4-flash", eight, 2, "compressed"}}) {
    EXPECT_THAT(text_of(build_graph(shipped(model), over(configuration, cp)).why()),
                AllOf(StartsWith(reason), HasSubstr(word), HasSubstr(other)))
        << model;
  }
}

}  // namespace
}  // namespace halmark
