// Worked examples, every operator to the last FLOP: matmul work, causal, head on the last position,
// embedding out, balanced experts.

#include <initializer_list>

#include "core/numeric/cast.hpp"
#include "fixtures.hpp"

namespace halmark {
namespace {

using namespace model_test;

// One layer of `layer_type` before the split, and one rank's share of it.
struct Row {
  std::initializer_list<const char*> operators;
  double flops;
  double ranks;  // whole over share; 1 = replicated
};

struct Sum {
  double whole = 0, rank = 0;
};
Sum sum_of(const OperatorGraph& graph, std::string_view layer_type,
           std::initializer_list<const char*> names) {
  Sum out;
  for (const char* name : names) {
    bool is_found = false;
    for (const Operator& op : graph.operators) {
      if (op.layer_type != layer_type || op.name != name) continue;
      is_found = true;
      out.whole += op.matmul_flops / as_double(op.count);
      out.rank += op.matmul_flops_per_rank / as_double(op.count);
    }
    EXPECT_TRUE(is_found) << layer_type << ' ' << name;
  }
  return out;
}

void expect_rows(const OperatorGraph& graph, std::string_view layer_type,
                 std::initializer_list<Row> rows) {
  double listed = 0, all = 0;
  for (const Row& row : rows) {
    const Sum sum = sum_of(graph, layer_type, row.operators);
    EXPECT_EQ(sum.whole, row.flops) << layer_type << ' ' << *row.operators.begin();
    EXPECT_EQ(sum.rank * row.ranks, row.flops) << layer_type << ' ' << *row.operators.begin();
    listed += row.flops;
  }
  for (const Operator& op : graph.operators) {
    if (op.layer_type == layer_type) all += op.matmul_flops / as_double(op.count);
  }
  EXPECT_EQ(all, listed) << layer_type << " has matmuls that no row lists";
}

const Parallel eight{.tp = 8, .ep = 8};

TEST(WorkedExample, qwen3_235b_decodes_one_token) {
  const OperatorGraph graph = graph_of("qwen3-235b-a22b", decode(1, 1, eight));
  expect_rows(graph, "decoder_moe",
              {{{"q_proj"}, 67'108'864, 8},
               {{"kv_proj"}, 8'388'608, 4},
               {{"attention"}, 16'384 + 16'384, 8},
               {{"o_proj"}, 67'108'864, 8},
               {{"router"}, 1'048'576, 1},
               {{"expert_gate_up", "expert_down"}, 301'989'888, 8}});
  expect_rows(graph, "head", {{{"lm_head"}, 1'244'659'712, 8}});
  EXPECT_EQ(graph.totals.matmul_flops, 43'138'351'104);
  EXPECT_EQ(graph.totals.matmul_flops_per_rank, 5'577'105'408);
  EXPECT_EQ(graph_of("qwen3-235b-a22b", decode(1, 4096, eight)).totals.matmul_flops,
            55'751'737'344);
}

TEST(WorkedExample, qwen3_235b_prefills_8192_tokens) {
  const OperatorGraph graph = graph_of("qwen3-235b-a22b", prefill(1, 8192, 8192, eight));
  expect_rows(graph, "decoder_moe",
              {{{"q_proj"}, 549'755'813'888, 8},
               {{"kv_proj"}, 68'719'476'736, 4},
               {{"attention"}, 549'822'922'752 + 549'822'922'752.0, 8},
               {{"o_proj"}, 549'755'813'888, 8},
               {{"router"}, 8'589'934'592, 1},
               {{"expert_gate_up", "expert_down"}, 2'473'901'162'496, 8}});
  EXPECT_EQ(graph.totals.matmul_flops, 446'535'841'087'488);
  EXPECT_EQ(graph.totals.matmul_flops_per_rank, 57'330'956'107'776);
  EXPECT_DOUBLE_EQ(graph.expert_use->imbalance, 1) << "8192 x 8 rows over 128 experts";
  EXPECT_EQ(graph.expert_use->held_per_rank, 16);
}

TEST(WorkedExample, deepseek_v3_prefills_4096_tokens_in_the_explicit_form) {
  for (const Precision& precision : {bf16(), fp8()}) {
    const OperatorGraph graph = graph_of("deepseek-v3", prefill(1, 4096, 4096, eight, precision));
    const std::initializer_list<Row> moe = {
        {{"q_a_proj"}, 90'194'313'216, 1},
        {{"q_b_proj"}, 309'237'645'312, 8},
        {{"kv_a_proj"}, 33'822'867'456, 1},
        {{"kv_b_proj"}, 137'438'953'472, 8},
        {{"attention_explicit"}, 412'417'523'712 + 274'945'015'808.0, 8},
        {{"o_proj"}, 962'072'674'304, 8},
        {{"router"}, 15'032'385'536, 1},
        {{"expert_gate_up", "expert_down"}, 2'886'218'022'912, 8},
        {{"shared_gate_up_proj", "shared_down_proj"}, 360'777'252'864, 8}};
    expect_rows(graph, "decoder_moe", moe);
    const Sum dense = sum_of(graph, "decoder", {"gate_up_proj", "down_proj"});
    EXPECT_EQ(dense.whole, 3'246'995'275'776);
    EXPECT_EQ(dense.rank * 8, 3'246'995'275'776);
    EXPECT_EQ(graph.totals.matmul_flops, 334'368'312'131'584);
    EXPECT_EQ(graph.totals.matmul_flops_per_rank, 49'178'349'600'768);
  }
}

TEST(WorkedExample, deepseek_v4_flash_decodes_one_token) {
  const OperatorGraph graph = graph_of("deepseek-v4-flash", decode(1, 1, eight, fp8()));
  const auto expect_layer = [&](std::string_view type, std::int64_t layers, double compressor,
                                bool has_indexer) {
    const Sum compressing = compressor > 0 ? sum_of(graph, type, {"compressor"}) : Sum{};
    EXPECT_EQ(compressing.whole, compressor);
    EXPECT_EQ(compressing.rank, compressor);
    if (has_indexer) {
      const Sum query = sum_of(graph, type, {"index_q_proj"});
      EXPECT_EQ(query.whole, 16'777'216);
      EXPECT_EQ(query.rank * 8, 16'777'216);
      const Sum weights = sum_of(graph, type, {"index_weights_proj"});
      EXPECT_EQ(weights.whole, 524'288);
      EXPECT_EQ(weights.rank * 8, 524'288);
      const Sum keys = sum_of(graph, type, {"index_compressor"});
      EXPECT_EQ(keys.whole, 4'194'304);
      EXPECT_EQ(keys.rank, 4'194'304);
      EXPECT_EQ(sum_of(graph, type, {"index_score"}).whole, 0);
    }
    const std::initializer_list<Row> rows = {
        {{"attention_mix", "ffn_mix"}, 1'572'864, 1},
        {{"q_a_proj"}, 8'388'608, 1},
        {{"q_b_proj"}, 67'108'864, 8},
        {{"kv_proj"}, 4'194'304, 1},
        {{"attention"}, 65'536 + 65'536, 8},
        {{"o_a_proj"}, 67'108'864, 8},
        {{"o_b_proj"}, 67'108'864, 8},
        {{"router"}, 2'097'152, 1},
        {{"expert_gate_up", "expert_down"}, 301'989'888, 8},
        {{"shared_gate_up_proj", "shared_down_proj"}, 50'331'648, 8}};
    for (const Row& row : rows) {
      const Sum sum = sum_of(graph, type, row.operators);
      EXPECT_EQ(sum.whole, row.flops) << type << ' ' << *row.operators.begin();
      EXPECT_EQ(sum.rank * row.ranks, row.flops) << type << ' ' << *row.operators.begin();
    }
    EXPECT_EQ(std::ranges::count_if(
                  graph.layers,
                  [&](std::int32_t i) { return graph.layer_types[as_size(i)].name == type; }),
              layers);
  };
  expect_layer("decoder_moe_window", 2, 0, false);
  expect_layer("decoder_moe_compressed_4", 21, 16'777'216, true);
  expect_layer("decoder_moe_compressed_128", 20, 8'388'608, false);
  expect_rows(graph, "head", {{{"lm_head"}, 1'059'061'760, 8}});
  EXPECT_EQ(graph.totals.matmul_flops, 26'541'948'928);
  EXPECT_EQ(graph.totals.matmul_flops_per_rank, 4'461'412'352);
}

// Keys per query 128, 640 and 160 for ratios 0, 4 and 128.
TEST(WorkedExample, deepseek_v4_flash_decodes_at_context_4096) {
  const OperatorGraph graph = graph_of("deepseek-v4-flash", decode(1, 4096, eight, fp8()));
  EXPECT_EQ(graph.totals.matmul_flops, 29'103'226'880);
  double attention = 0, index = 0;
  for (const Operator& op : graph.operators) {
    if (op.name == "attention") attention += op.matmul_flops;
    if (op.name == "index_score") index += op.matmul_flops;
  }
  EXPECT_EQ(attention, 2 * 1'107'296'256.0);
  EXPECT_EQ(index, 352'321'536);
  const auto keys = [&](std::string_view type) {
    return sum_of(graph, type, {"attention"}).whole / (4 * 64 * 512);
  };
  EXPECT_EQ(keys("decoder_moe_window"), 128);
  EXPECT_EQ(keys("decoder_moe_compressed_4"), 640);
  EXPECT_EQ(keys("decoder_moe_compressed_128"), 160);
}

// Half of the FLOPs of a token at context 1: 36.6, 31.7, 40.8 and 13.3 billion.
TEST(WorkedExample, half_the_flops_of_a_decoded_token_are_the_active_parameters) {
  const auto half = [](std::string_view id) {
    return graph_of(id, decode(1, 1)).totals.matmul_flops / 2e9;
  };
  EXPECT_NEAR(half("deepseek-v3"), 36.6, 0.05);
  EXPECT_NEAR(half("kimi-k2"), 31.7, 0.05);
  EXPECT_NEAR(half("glm-5"), 40.8, 0.05);
  EXPECT_NEAR(half("deepseek-v4-flash"), 13.3, 0.05);
}

}  // namespace
}  // namespace halmark
