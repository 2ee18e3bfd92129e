// The sharding table against the memory of the graph, closed forms, and the rules that strategies
// keep.
#include "core/numeric/cast.hpp"
#include "simulate/sharding/shard_table.hpp"

#include "../../case_name.hpp"
#include "../../model/fixtures.hpp"
#include "model/pricing/memory.hpp"
#include "tests/unit/simulate/suite.hpp"

namespace halmark::simulate {
namespace {

using model_test::bf16;
using model_test::shipped;

Configuration step(const ModelSpec& spec, const Parallel& parallel, Phase phase = Phase::decode) {
  const std::int64_t batch = std::int64_t{parallel.dp} * parallel.pp;
  const std::int64_t tokens = phase == Phase::decode ? 1 : 64;
  return {.model = spec.id,
          .parallel = parallel,
          .precision = bf16(),
          .workload = {.phase = phase, .batch = batch, .new_tokens = tokens, .context = 64}};
}

std::optional<OperatorGraph> graph_of(const ModelSpec& spec, const Parallel& parallel,
                                      Phase phase = Phase::decode) {
  auto built = build_graph(spec, step(spec, parallel, phase));
  if (!built) return std::nullopt;
  return *std::move(built);
}

const std::vector<Parallel>& layouts() {
  static const std::vector<Parallel> out = {
      {},
      {.tp = 2},
      {.pp = 2},
      {.dp = 2},
      {.tp = 4},
      {.dp = 2, .tp = 2, .pp = 2},
      {.tp = 4, .ep = 4},
      {.dp = 4, .ep = 4},
      {.dp = 2, .tp = 2, .pp = 2, .ep = 4},
      {.tp = 16},
  };
  return out;
}

std::int64_t product(const std::vector<std::int64_t>& dims) {
  return std::accumulate(dims.begin(), dims.end(), std::int64_t{1}, std::multiplies<>());
}

class ShippedModel : public testing::TestWithParam<std::string> {};

TEST_P(ShippedModel, conserves_bytes_in_every_layout) {
  const ModelSpec spec = shipped(GetParam());
  std::optional<std::int64_t> whole;
  for (const Parallel& parallel : layouts()) {
    const auto graph = graph_of(spec, parallel);
    if (!graph) continue;
    const ShardTable table = shard_table(*graph);
    const MemoryUse memory = memory_use(*graph);
    // The weights of all ranks, summed there by operator and stage and here by tensor.
    EXPECT_EQ(table.held_bytes, memory.weight_bytes_total) << parallel.text();
    EXPECT_NEAR(table.replication() * as_double(table.tensor_bytes),
                as_double(table.held_bytes - table.padding_bytes), 1)
        << parallel.text();
    // A tied table exists a second time where the head is not with it.
    const bool copies_table = spec.tied && parallel.pp > 1;
    if (!whole) whole = table.tensor_bytes;
    if (!copies_table) {
      EXPECT_EQ(table.tensor_bytes, *whole) << parallel.text();
    }
    for (const ShardRow& row : table.rows) {
      EXPECT_EQ(row.bytes, dtype_bytes(row.dtype, product(row.shape))) << row.tensor;
      EXPECT_EQ(row.shard_bytes, dtype_bytes(row.dtype, product(row.shard_shape))) << row.tensor;
      EXPECT_GE(row.held_bytes(), row.bytes) << row.tensor << " lost a part";
      EXPECT_LE(row.shard_bytes, row.bytes) << row.tensor;
    }
  }
}

TEST_P(ShippedModel, has_no_strategy_that_does_not_fit_its_layer) {
  const ModelSpec spec = shipped(GetParam());
  for (const Parallel& parallel : layouts()) {
    const auto graph = graph_of(spec, parallel);
    if (!graph) continue;
    for (const ShardRow& row : shard_table(*graph).rows) {
      std::vector<ShardStrategy> all = row.also;
      all.push_back(row.strategy);
      const OperatorKind kind = graph->operators[row.op].kind;
      for (const ShardStrategy s : all) {
        const bool is_split = row.shard_bytes < row.bytes;
        switch (s) {
          case ShardStrategy::expert:
            EXPECT_TRUE(graph->spec.moe && parallel.ep > 1 && is_split) << row.tensor;
            break;
          case ShardStrategy::vocab:
            EXPECT_TRUE(kind == OperatorKind::embedding || kind == OperatorKind::head);
            EXPECT_GT(parallel.tp, 1);
            break;
          case ShardStrategy::pipeline:
            EXPECT_GT(parallel.pp, 1);
            EXPECT_NE(kind, OperatorKind::norm) << row.tensor;
            break;
          case ShardStrategy::tensor_column:
          case ShardStrategy::tensor_row:
            EXPECT_TRUE(parallel.tp > 1 && is_split) << row.tensor;
            break;
          case ShardStrategy::data:
            EXPECT_GT(parallel.dp, 1);
            break;
          case ShardStrategy::replicate:
            EXPECT_EQ(row.shard_bytes, row.bytes);
            break;
          default:
            ADD_FAILURE() << row.tensor << " is " << strategy_name(s) << " in an inference step";
        }
      }
    }
  }
}

TEST_P(ShippedModel, replicates_everything_and_exchanges_nothing_on_one_shard) {
  const ModelSpec spec = shipped(GetParam());
  const auto graph = graph_of(spec, {});
  ASSERT_TRUE(graph);
  const ShardTable table = shard_table(*graph);
  EXPECT_GT(table.rows.size(), as_size(spec.layers));
  EXPECT_EQ(table.collective_bytes, 0);
  EXPECT_EQ(table.held_bytes, table.tensor_bytes);
  for (const ShardRow& row : table.rows) {
    EXPECT_EQ(row.strategy, ShardStrategy::replicate);
    EXPECT_TRUE(row.also.empty());
    EXPECT_EQ(row.collective, "");
    EXPECT_EQ(row.shape, row.shard_shape);
  }
}

TEST_P(ShippedModel, says_of_every_message_of_a_step_which_tensor_needs_it) {
  const ModelSpec spec = shipped(GetParam());
  for (const Parallel& parallel : layouts()) {
    const auto graph = graph_of(spec, parallel);
    if (!graph) continue;
    double expected = 0;
    for (std::size_t s = 0; s < graph->stages.size(); ++s) {
      for (const Operator& op : graph->operators) {
        if (op.kind != OperatorKind::collective) continue;
        expected += op.local_work.message_bytes * as_double(op.stage_counts[s]) *
                    as_double(graph->micro_batches());
      }
    }
    EXPECT_DOUBLE_EQ(shard_table(*graph).collective_bytes, expected) << parallel.text();
  }
}

INSTANTIATE_TEST_SUITE_P(All, ShippedModel, testing::ValuesIn(model_test::shipped_ids()),
                         [](const auto& info) { return model_test::test_name(info.param); });

const ShardRow& row_of(const ShardTable& table, std::int64_t layer, const std::string& tensor) {
  for (const ShardRow& row : table.rows) {
    if (row.layer == layer && row.tensor.starts_with(tensor)) return row;
  }
  throw std::logic_error("no row " + tensor);
}

// 8 KiB in 16 bits; the contract of norms keeps gains in f32. Nothing near the 8 MB of a matrix.
TEST(ShardTable, gives_a_norm_of_width_4096_as_many_values) {
  const ModelSpec spec = shipped("llama-3.1-8b");
  const ShardTable table = shard_table(*graph_of(spec, {.tp = 2}));
  const ShardRow& norm = row_of(table, 3, "input_norm");
  EXPECT_EQ(norm.shape, (std::vector<std::int64_t>{4096}));
  EXPECT_EQ(norm.dtype, Dtype::f32);
  EXPECT_EQ(norm.bytes, 4096 * 4);
  EXPECT_EQ(norm.shard_bytes, 4096 * 4);
  EXPECT_EQ(norm.strategy, ShardStrategy::replicate);
}

TEST(ShardTable, splits_a_layer_as_megatron_does) {
  // 1909.08053, section 3: columns, then rows, and one all-reduce behind each pair.
  const ModelSpec spec = shipped("llama-3.1-8b");
  const ShardTable table = shard_table(*graph_of(spec, {.tp = 2}));
  const ShardRow& down = row_of(table, 0, "down_proj");
  EXPECT_EQ(down.shape, (std::vector<std::int64_t>{4096, 14336}));
  EXPECT_EQ(down.shard_shape, (std::vector<std::int64_t>{4096, 7168}));
  EXPECT_EQ(down.strategy, ShardStrategy::tensor_row);
  EXPECT_EQ(down.collective, "all_reduce");
  EXPECT_EQ(down.collective_bytes, 4096 * 2);  // one token of 4096 values in bf16
  EXPECT_EQ(row_of(table, 0, "gate_up_proj").strategy, ShardStrategy::tensor_column);
  EXPECT_EQ(row_of(table, 0, "gate_up_proj").collective, "");
}

TEST(ShardTable, a_tied_head_exchanges_because_of_the_table) {
  const ModelSpec spec = shipped("qwen3-0.6b");
  ASSERT_TRUE(spec.tied);
  const ShardTable table = shard_table(*graph_of(spec, {.tp = 2}));
  const ShardRow& embedding = row_of(table, ShardRow::no_layer, "embedding");
  EXPECT_EQ(embedding.strategy, ShardStrategy::vocab);
  EXPECT_EQ(embedding.collective, "all_reduce + all_gather");
  EXPECT_EQ(row_of(table, ShardRow::no_layer, "final_norm").collective, "");
}

TEST(ShardTable, states_where_uneven_stages_lie) {
  const ModelSpec spec = shipped("qwen3-0.6b");
  const auto graph = graph_of(spec, {.tp = 2, .pp = 2, .stages = {10, 18}});
  ASSERT_TRUE(graph);
  std::set<std::int64_t> first, second;
  const ShardTable table = shard_table(*graph);
  for (const ShardRow& row : table.rows) {
    if (row.layer >= 0) (row.stage == 0 ? first : second).insert(row.layer);
  }
  EXPECT_EQ(first.size(), 10u);
  EXPECT_EQ(*first.rbegin(), 9);
  EXPECT_EQ(*second.begin(), 10);
  EXPECT_EQ(second.size(), 18u);
  EXPECT_EQ(owners_text(owners_of(graph->configuration.parallel, 0)), "0-1");
  EXPECT_EQ(owners_text(owners_of(graph->configuration.parallel, 1)), "2-3");
  EXPECT_EQ(owners_text(owners_of({.dp = 4, .tp = 2}, 0)), "0-7");
  EXPECT_EQ(owners_text(owners_of({.dp = 2, .tp = 2, .pp = 2}, 1)), "2-3, 6-7");
}

TEST(ShardTable, holds_a_training_states_as_zero_shares_them_out) {
  const ModelSpec spec = shipped("qwen3-0.6b");
  const auto graph = graph_of(spec, {.dp = 4}, Phase::training);
  ASSERT_TRUE(graph);
  const ShardTable copied = shard_table(*graph, TrainingPlan{});
  const ShardTable shared = shard_table(*graph, TrainingPlan{.zero = 3});
  EXPECT_EQ(copied.held_bytes, 4 * copied.tensor_bytes);
  EXPECT_EQ(shared.held_bytes - shared.padding_bytes, shared.tensor_bytes);
  EXPECT_EQ(row_of(copied, 0, "down_proj").strategy, ShardStrategy::data);
  EXPECT_EQ(row_of(shared, 0, "down_proj").strategy, ShardStrategy::zero3);
  // One all-reduce of all gradients in bf16: two bytes a parameter.
  EXPECT_DOUBLE_EQ(copied.collective_bytes, 2.0 * as_double(graph->totals.parameters));
}

}  // namespace
}  // namespace halmark::simulate
