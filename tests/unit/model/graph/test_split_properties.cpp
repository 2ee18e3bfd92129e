// Splits of random models over random layouts: what all ranks execute and hold together is the
// whole model, plus copies that this file states by itself, operator by operator.

#include <numeric>

#include "core/numeric/cast.hpp"
#include "fixtures.hpp"
#include "model/graph/expert_layout.hpp"
#include "tests/unit/case_name.hpp"

namespace halmark {
namespace {

using namespace model_test;

struct Draw {
  ModelSpec spec;
  Configuration configuration;
};

class Drawing {
 public:
  explicit Drawing(std::uint32_t seed) : engine_(seed) {}

  // A refused draw is drawn again: nothing here knows which layouts are valid.
  Draw next() {
    for (;;) {
      Draw draw{spec(), {}};
      draw.configuration = configuration();
      if (!draw.spec.moe) draw.configuration.parallel.ep = 1;
      if (!draw.spec.moe) draw.configuration.workload.routing_skew = 0;
      if (!check_configuration(draw.spec, draw.configuration)) return draw;
    }
  }

 private:
  template <typename T>
  T one_of(std::initializer_list<T> values) {
    std::uniform_int_distribution<std::size_t> index(0, values.size() - 1);
    return *(values.begin() + index(engine_));
  }

  ModelSpec spec() {
    ModelSpec out = tiny();
    out.layers = one_of<std::int64_t>({1, 3, 4, 7});
    out.hidden = one_of<std::int64_t>({8, 24, 40});
    out.kv_heads = one_of<std::int64_t>({1, 2, 4});
    out.heads = out.kv_heads * one_of<std::int64_t>({1, 2, 6});
    out.head_dim = one_of<std::int64_t>({4, 10});
    out.rotary_dim = out.head_dim;
    out.vocab = one_of<std::int64_t>({33, 64});
    out.intermediate = one_of<std::int64_t>({12, 48});
    out.qk_norm = one_of({true, false});
    out.qkv_bias = one_of({true, false});
    out.windows.assign(as_size(out.layers), 0);
    if (one_of({true, false})) out.windows.back() = 3;
    if (one_of({true, true, false})) add_experts(out);
    return out;
  }

  void add_experts(ModelSpec& out) {
    out.family = "qwen3_moe";
    const auto experts = one_of<std::int64_t>({4, 8, 12, 24});
    out.moe = ExpertSpec{.experts = experts,
                         .top_k = one_of<std::int64_t>({1, 2, 4}),
                         .width = one_of<std::int64_t>({6, 12}),
                         .shared_width = one_of<std::int64_t>({0, 12}),
                         .shared_gate = one_of({true, false})};
    for (std::int64_t layer = 0; layer < out.layers; ++layer) {
      out.is_sparse.push_back(one_of({true, true, false}));
    }
    out.is_sparse.back() = true;
  }

  Configuration configuration() {
    const Parallel parallel{.dp = one_of({1, 1, 2, 3, 4}),
                            .tp = one_of({1, 1, 2, 3, 4, 6}),
                            .pp = one_of({1, 1, 2, 3}),
                            .ep = one_of({1, 2, 3, 4, 6, 8, 12})};
    const auto batch = parallel.dp * parallel.pp * one_of<std::int64_t>({1, 2, 5});
    const Precision precision = one_of({0, 1}) ? bf16() : int8();
    Configuration out = one_of({true, false}) ? decode(batch, 9, parallel, precision)
                                              : prefill(batch, 4, 9, parallel, precision);
    out.workload.routing_skew = one_of<std::int64_t>({0, 50, 150});
    return out;
  }

  std::mt19937 engine_;
};

struct Sum {
  double flops = 0, weight_bytes = 0, row_bytes = 0;
};

// Over every rank of every stage and all micro-batches, each rank with its own problem. Weights are
// held once, whatever the micro-batches.
Sum over_ranks(const OperatorGraph& graph, const Operator& op) {
  const Parallel& parallel = graph.configuration.parallel;
  const ExpertLayout layout = expert_layout(parallel);
  const OpContract& contract = *find_contract(op.local.op);
  Sum out;
  for (const std::int64_t count : op.stage_counts) {
    for (int replica = 0; replica < parallel.dp; ++replica) {
      for (int tensor = 0; tensor < parallel.tp; ++tensor) {
        out.weight_bytes += as_double(count * op.weight_bytes_local);
        const Problem* problem = &op.local;
        if (!op.of_expert_rank.empty()) {
          const auto& own = op.of_expert_rank[as_size(layout.rank(replica, tensor))];
          if (!own) continue;
          problem = &*own;
        }
        const Work work = contract.work(problem->params);
        const auto executions = as_double(count * parallel.pp);
        out.flops += executions * work.flops();
        out.row_bytes += executions * work.bytes_written;
      }
    }
  }
  return out;
}

// How often the ranks together do each part of the work, and hold each weight.
struct Copies {
  double work = 1, weights = 1;
};

Copies copies_of(const std::string& name, const ModelSpec& spec, const Parallel& parallel) {
  const double tp = parallel.tp, dp = parallel.dp;
  const double kv = std::max(1.0, tp / as_double(spec.kv_heads));
  // The ranks that split an expert's width all gather, quantise and combine its rows.
  const double of_width = tp / std::gcd(parallel.tp, parallel.ep);
  const double held = dp / (parallel.ep / std::gcd(parallel.tp, parallel.ep));
  const double heads = as_double(spec.heads), kv_heads = as_double(spec.kv_heads);
  const std::map<std::string, Copies> stated = {
      {"kv_proj", {kv, kv * dp}},
      {"kv_proj_dequantize", {kv, kv * dp}},
      {"k_norm", {kv, tp * dp}},
      {"q_norm", {1, tp * dp}},
      {"kv_append", {kv, 0}},
      {"rope", {(heads + kv_heads * kv) / (heads + kv_heads), 0}},
      {"moe_dispatch", {of_width, 0}},
      {"moe_combine", {of_width, 0}},
      {"expert_gate_up_quantize", {of_width, 0}},
      {"expert_down_dequantize", {of_width, 0}},
      {"expert_gate_up", {1, held}},
      {"expert_down", {1, held}},
  };
  if (const auto it = stated.find(name); it != stated.end()) return it->second;
  // Whole on every rank of a tensor group: norms, additions, the router, what quantises whole rows.
  static constexpr std::string_view whole_on_every_rank =
      " input_norm post_norm final_norm attention_residual_add ffn_residual_add router moe_route "
      "shared_expert_gate shared_expert_add qkv_quantize gate_up_quantize shared_gate_up_quantize "
      "lm_head_quantize o_proj_dequantize down_proj_dequantize shared_down_proj_dequantize ";
  if (whole_on_every_rank.find(' ' + name + ' ') != std::string_view::npos) return {tp, tp * dp};
  return {1, dp};
}

// Bytes that a rank writes, where FLOPs are none.
bool only_moves(const Operator& op) { return op.whole_work.flops() == 0; }

class SplitProperties : public testing::TestWithParam<std::uint32_t> {};

TEST_P(SplitProperties, the_ranks_together_do_the_whole_work_plus_the_stated_copies) {
  Drawing drawing(GetParam());
  std::set<OperatorKind> seen;
  for (int i = 0; i < 60; ++i) {
    const Draw draw = drawing.next();
    const Parallel& parallel = draw.configuration.parallel;
    const OperatorGraph graph = graph_of(draw.spec, draw.configuration);
    // The padded vocabulary is more than the model has.
    const bool pads = draw.spec.vocab % parallel.tp != 0;
    for (const Operator& op : graph.operators) {
      seen.insert(op.kind);
      if (!op.whole) continue;
      if (pads && op.split == Split::vocab) continue;
      SCOPED_TRACE(op.name + " of " + draw.configuration.key());
      const Sum sum = over_ranks(graph, op);
      const Copies copies = copies_of(op.name, draw.spec, parallel);
      const auto count = as_double(op.count);
      EXPECT_NEAR(sum.flops, copies.work * op.flops, 1e-9 * op.flops);
      // The embedding writes whole rows on every rank; a combine writes every token.
      if (only_moves(op) && op.kind != OperatorKind::embedding) {
        const double written = count * op.whole_work.bytes_written;
        EXPECT_NEAR(sum.row_bytes, copies.work * written, 1e-9 * written);
      }
      if (op.weight_bytes_whole > 0 && op.parameters > 0) {
        EXPECT_DOUBLE_EQ(sum.weight_bytes,
                         copies.weights * count * as_double(op.weight_bytes_whole));
      }
    }
  }
  EXPECT_GE(seen.size(), 9u) << "some kind of operator was never drawn";
}

INSTANTIATE_TEST_SUITE_P(Seeds, SplitProperties, testing::Range(1u, 9u), [](const auto& info) {
  return test::case_name({"seed", info.param});
});

TEST(SplitProperties, rows_of_all_expert_ranks_are_the_tokens_choices) {
  Drawing drawing(99);
  int checked = 0;
  for (int i = 0; i < 300; ++i) {
    const Draw draw = drawing.next();
    if (draw.configuration.parallel.ep == 1) continue;
    const OperatorGraph graph = graph_of(draw.spec, draw.configuration);
    const Operator& op = find_operator(graph, "expert_gate_up");
    std::int64_t rows = 0;
    for (const auto& problem : op.of_expert_rank) {
      if (problem) rows += problem->params.at("rows");
    }
    const ExpertLayout layout = expert_layout(draw.configuration.parallel);
    const Workload& w = draw.configuration.workload;
    EXPECT_EQ(rows,
              graph.micro_batch() * w.new_tokens * layout.across_replicas * draw.spec.moe->top_k);
    ++checked;
  }
  EXPECT_GT(checked, 30);
}

TEST(SplitProperties, a_graph_for_the_heaviest_ranks_differs_in_those_of_the_others_alone) {
  Drawing drawing(7);
  int differ = 0;
  for (int i = 0; i < 100; ++i) {
    const Draw draw = drawing.next();
    const OperatorGraph each = graph_of(draw.spec, draw.configuration);
    const auto heaviest = build_graph(draw.spec, draw.configuration, {}, ExpertRanks::heaviest);
    ASSERT_TRUE(heaviest);
    ASSERT_EQ(heaviest->operators.size(), each.operators.size());
    for (std::size_t op = 0; op < each.operators.size(); ++op) {
      const Operator &a = each.operators[op], &b = heaviest->operators[op];
      EXPECT_EQ(a.local, b.local) << a.name;
      EXPECT_EQ(a.strategy, b.strategy) << a.name;
      EXPECT_EQ(a.flops_per_rank, b.flops_per_rank) << a.name;
      EXPECT_EQ(a.bytes_per_rank, b.bytes_per_rank) << a.name;
      EXPECT_TRUE(b.of_expert_rank.empty());
      differ += a.of_expert_rank.empty() ? 0 : 1;
    }
  }
  EXPECT_GT(differ, 30);
}

}  // namespace
}  // namespace halmark
