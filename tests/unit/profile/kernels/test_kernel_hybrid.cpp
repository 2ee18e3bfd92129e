// Kernel tables of models whose layers differ: recurrences beside attention, networks beside
// mixers. Every microsecond has a place in every type of layer.
#include <gmock/gmock.h>

#include <map>
#include <random>
#include <set>

#include "core/json/json.hpp"
#include "core/numeric/cast.hpp"
#include "fixtures.hpp"
#include "profile/kernels/kernel_account.hpp"
#include "tests/unit/case_name.hpp"

namespace halmark {
namespace {

using namespace model_test;
using testing::ElementsAre;
using testing::IsEmpty;

Device device() {
  return {.id = "d",
          .peaks = {{.path = "bf16", .dtype = Dtype::bf16, .flops_per_s = 1e15},
                    {.path = "f32", .dtype = Dtype::f32, .flops_per_s = 5e13}},
          .bandwidths = {{.level = "memory", .bytes_per_s = 4e12}},
          .links = {{.bytes_per_s = 450e9}}};
}

KernelAccount account(const Json& flow, const OperatorGraph& graph) {
  return account_kernels(read_kernel_flow(flow, "flow.json"), graph, device(), {});
}

// Assigned, overhead and unknown time, each summed from the rows by hand, are the whole time.
void expect_every_microsecond(const KernelAccount& a, std::int64_t stated_ps) {
  std::map<KernelBucket, std::int64_t> of_bucket;
  for (const AccountedKernel& row : a.rows) of_bucket[row.bucket] += row.time.duration_ps;
  EXPECT_EQ(a.total_ps, stated_ps);
  EXPECT_EQ(a.assigned_ps, of_bucket[KernelBucket::assigned]);
  EXPECT_EQ(a.unknown_ps, of_bucket[KernelBucket::unknown]);
  EXPECT_EQ(a.overhead_ps, of_bucket[KernelBucket::overhead] + a.between_kernels_ps);
  EXPECT_EQ(a.assigned_ps + a.overhead_ps + a.unknown_ps, stated_ps);
}

// What a profiler calls the kernel of an operator; "" where a kernel before it does the work too.
std::string category_of(const Operator& op) {
  static const std::map<std::string, std::string> of_op = {{"gemm", "gemm_bf16"},
                                                           {"grouped_gemm", "moe"},
                                                           {"delta_rule", "gated_delta_rule"},
                                                           {"state_scan", "mamba"},
                                                           {"short_convolution", "conv1d"},
                                                           {"attention", "attention"},
                                                           {"masked_attention", "attention"},
                                                           {"latent_attention", "mla"},
                                                           {"batched_gemm", "gemm_bf16"},
                                                           {"rmsnorm", "rmsnorm"},
                                                           {"rope", "rope"},
                                                           {"copy", "mla_cache_store"},
                                                           {"residual_add", "residual"},
                                                           {"activation", "activation"},
                                                           {"gated_activation", "activation"},
                                                           {"moe_route", "topk"},
                                                           {"moe_dispatch", "moe_align"},
                                                           {"moe_combine", "moe_align"},
                                                           {"all_reduce", "allreduce"}};
  if (op.name == "router") return "moe_gate";
  const bool is_fused = op.name.starts_with("expert_") && op.local.op != "grouped_gemm";
  return is_fused ? "" : of_op.at(op.local.op);
}

// The attention half ends with the residual behind it; layers of a network alone have one half.
const char* half_of(const OperatorGraph& graph, const LayerType& type, std::size_t place) {
  std::size_t end = 0;
  for (std::size_t i = 0; i < type.operators.size(); ++i) {
    const Operator& op = graph.operators[as_size(type.operators[i])];
    if (op.name == "attention_residual_add") end = i + 1;
  }
  return place < end ? "attn" : "ffn";
}

struct Hybrid {
  const char* model;
  int tp, ep;
  std::set<std::string> recurrences;  // ops that only some of its layers have
};
void PrintTo(const Hybrid& hybrid, std::ostream* out) { *out << hybrid.model; }
class Hybrids : public testing::TestWithParam<Hybrid> {
 protected:
  const Hybrid& param() const { return GetParam(); }
  OperatorGraph graph(const Configuration& d) const { return graph_of(shipped(param().model), d); }
  Parallel parallel() const { return {.tp = param().tp, .ep = param().ep}; }
};

// One row per kernel of each type of layer: all of it binds, and the products on the rows are those
// of the layer.
TEST_P(Hybrids, every_type_of_layer_is_accounted_for_whole) {
  std::mt19937 engine(7);
  std::uniform_int_distribution<int> ns(1, 99'999);
  std::set<std::string> seen;
  for (const Configuration& d : {decode(4, 4096, parallel()), prefill(1, 2048, 2048, parallel())}) {
    const OperatorGraph g = graph(d);
    const std::set<std::int32_t> types(g.layers.begin(), g.layers.end());
    EXPECT_GE(types.size(), 2u);
    for (const std::int32_t index : types) {
      const LayerType& type = g.layer_types[as_size(index)];
      SCOPED_TRACE(std::string(param().model) + ' ' + type.name);
      Json rows = Json::array();
      std::int64_t sum_ns = 0;
      double flops = 0;
      for (std::size_t i = 0; i < type.operators.size(); ++i) {
        const Operator& op = g.operators[as_size(type.operators[i])];
        flops += op.rank_work.matmul_flops;
        seen.insert(op.local.op);
        const std::string category = category_of(op);
        if (category.empty()) continue;
        const int own_ns = ns(engine);
        sum_ns += own_ns;
        rows.push_back({{"name", op.name},
                        {"category", category},
                        {"half", half_of(g, type, i)},
                        {"dur_us", own_ns / 1e3}});
      }
      rows.push_back({{"category", "other"}, {"dur_us", 2.5}});
      rows.push_back({{"category", "unheard_of"}, {"dur_us", 0.125}});
      const Json flow = {{"metadata",
                          {{"layer_type", type.name},
                           {"total_dur_us", as_double(sum_ns + 2500 + 125 + 1000) / 1e3}}},
                         {"kernels", rows}};
      const KernelAccount a = account(flow, g);
      expect_every_microsecond(a, (sum_ns + 3625) * 1000);
      EXPECT_EQ(a.between_kernels_ps, 1'000'000);
      EXPECT_EQ(a.unknown_ps, 125'000);
      EXPECT_THAT(a.unmeasured, IsEmpty());
      double on_rows = 0;
      for (const AccountedKernel& row : a.rows) {
        on_rows += row.flops.value_or(0);
        if (row.bucket == KernelBucket::assigned) {
          EXPECT_EQ(row.status, BindingStatus::bound) << row.time.name << ": " << row.how;
        }
        if (row.time.category == "gemm_bf16") {
          EXPECT_THAT(row.operators, ElementsAre(row.time.name));
        }
      }
      EXPECT_NEAR(on_rows, flops, 1e-9 * flops);
    }
  }
  for (const std::string& op : param().recurrences) EXPECT_TRUE(seen.contains(op)) << op;
}

// Whatever rows a table has and in whatever order: ambiguous, unknown and unpriced ones keep their
// time, and no row takes another's.
TEST_P(Hybrids, a_table_of_any_rows_loses_no_time) {
  static const std::vector<std::string> categories = {
      "gemm_bf16", "gemm", "moe",  "gated_delta_rule", "mamba", "linear_attention", "conv1d",
      "attention", "mla",  "topk", "rmsnorm",          "other", "paged_mqa",        "what"};
  const OperatorGraph g = graph(decode(2, 512, parallel()));
  std::mt19937 engine(11);
  std::uniform_int_distribution<std::size_t> category(0, categories.size() - 1);
  std::uniform_int_distribution<std::size_t> layer(0, g.layers.size() - 1);
  std::uniform_int_distribution<int> rows_of_table(1, 12), ns(0, 5'000);
  for (int i = 0; i < 200; ++i) {
    Json rows = Json::array();
    std::int64_t sum_ns = 0;
    for (int row = rows_of_table(engine); row > 0; --row) {
      const int own_ns = ns(engine);
      sum_ns += own_ns;
      rows.push_back({{"category", categories[category(engine)]}, {"dur_us", own_ns / 1e3}});
    }
    const Json flow = {{"metadata", {{"layer_id", layer(engine)}}}, {"kernels", rows}};
    SCOPED_TRACE(flow.dump());
    expect_every_microsecond(account(flow, g), sum_ns * 1000);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Models, Hybrids,
    testing::Values(Hybrid{"qwen3-next-80b-a3b", 2, 2, {"delta_rule", "short_convolution"}},
                    Hybrid{"qwen3.5-27b", 4, 1, {"delta_rule", "short_convolution"}},
                    Hybrid{"nemotron-h-56b", 8, 1, {"state_scan", "short_convolution"}},
                    Hybrid{"nemotron-3-nano-30b-a3b", 2, 2, {"state_scan", "short_convolution"}},
                    Hybrid{"kimi-linear-48b-a3b", 1, 1, {"delta_rule", "latent_attention"}}),
    [](const auto& info) { return test::case_name({info.param.model}); });

// One layer of Qwen3-Next of each type in one table. The recurrence of one token: 7 x 32 x 128 x
// 128; attention at context 1: 2 x 2 x 16 x 256.
TEST(HybridKernels, a_recurrent_and_an_attending_layer_have_their_own_rows_by_hand) {
  const OperatorGraph g = graph_of(shipped("qwen3-next"), decode(1, 1));
  const KernelAccount a = account(parse_json(R"({"layers": [
    {"metadata": {"layer_id": 0}, "kernels": [
      {"category": "gated_delta_rule", "dur_us": 4}, {"category": "conv1d", "dur_us": 2}]},
    {"metadata": {"layer_id": 3}, "kernels": [
      {"category": "attention", "dur_us": 3}, {"category": "gated_delta_rule", "dur_us": 1},
      {"category": "conv1d", "dur_us": 0.5}]}]})",
                                             "flow.json"),
                                  g);
  ASSERT_EQ(a.rows.size(), 5u);
  EXPECT_EQ(a.rows[0].layer_type, "decoder_moe_delta_rule");
  EXPECT_EQ(a.rows[0].flops, 7.0 * 32 * 128 * 128);
  EXPECT_EQ(a.rows[1].flops, 0);
  EXPECT_EQ(a.rows[2].layer_type, "decoder_moe");
  EXPECT_EQ(a.rows[2].flops, 2.0 * 2 * 16 * 256);
  EXPECT_EQ(a.rows[3].bucket, KernelBucket::unknown) << "an attending layer has no recurrence";
  EXPECT_EQ(a.rows[4].status, BindingStatus::unpriced) << "nor a convolution: kept, without work";
  expect_every_microsecond(a, 10'500'000);
}

}  // namespace
}  // namespace halmark
