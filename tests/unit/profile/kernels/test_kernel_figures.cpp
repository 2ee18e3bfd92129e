// The figures of single rows against arithmetic by hand, and what is written of them.
#include <gmock/gmock.h>

#include "core/json/json.hpp"
#include "fixtures.hpp"
#include "profile/kernels/kernel_json.hpp"
#include "tests/unit/expect.hpp"

namespace halmark {
namespace {

using testing::ElementsAre;
using namespace model_test;

// A step of the tiny decoder: products of 256 FLOPs, gate and up 512. 1 FLOP and 1 byte a ns.
Device slow() {
  return {.id = "slow",
          .peaks = {{.path = "bf16", .dtype = Dtype::bf16, .flops_per_s = 1e9},
                    {.path = "tf32", .dtype = Dtype::tf32, .flops_per_s = 5e8}},
          .bandwidths = {{.level = "memory", .bytes_per_s = 1e9}},
          .links = {{.bytes_per_s = 1e6}}};
}

KernelAccount account(std::string_view rows, const Device& device = slow(),
                      const OperatorGraph& graph = graph_of(tiny(), decode(1, 4))) {
  const std::string text = "{\"kernels\": [" + std::string(rows) + "]}";
  return account_kernels(read_kernel_flow(parse_json(text, "f"), "f"), graph, device, {});
}

AccountedKernel row(std::string_view text, const Device& device = slow()) {
  return account(text, device).rows.at(0);
}

TEST(KernelFigures, stated_flops_replace_those_of_the_operators) {
  const AccountedKernel own = row(R"({"category": "gemm", "operator": "q_proj", "dur_us": 1})");
  EXPECT_EQ(own.flops, 256);
  EXPECT_NEAR(own.ideal_ns.value(), 256, 1e-9);
  EXPECT_NEAR(own.mfu.value(), 0.256, 1e-12);
  const AccountedKernel stated = row(
      R"({"category": "gemm", "operator": "q_proj", "dur_us": 1, "flops": 640, "dtype": "bf16"})");
  EXPECT_EQ(stated.flops, 640);
  EXPECT_NEAR(stated.ideal_ns.value(), 640, 1e-9);
  EXPECT_NEAR(stated.mfu.value(), 0.64, 1e-12);
  const AccountedKernel untyped = row(R"({"category": "fancy", "dur_us": 1, "flops": 640})");
  EXPECT_EQ(untyped.reason, "the row states FLOPs without a dtype");
  EXPECT_FALSE(untyped.mfu);
  const AccountedKernel typed =
      row(R"({"category": "fancy", "dur_us": 1, "flops": 640, "dtype": "bf16"})");
  EXPECT_NEAR(typed.mfu.value(), 0.64, 1e-12);
  const AccountedKernel unknown_peak =
      row(R"({"category": "gemm", "operator": "q_proj", "dur_us": 1, "flops": 1, "dtype": "s8"})");
  EXPECT_FALSE(unknown_peak.ideal_ns);
  EXPECT_EQ(unknown_peak.reason, "no peak for s8 on slow");
}

TEST(KernelFigures, f32_products_run_at_the_peak_of_tf32_where_that_is_all_there_is) {
  const auto at = [](const char* dtype) {
    return row(R"({"category": "gemm", "operator": "q_proj", "dur_us": 1, "dtype": ")" +
               std::string(dtype) + "\"}");
  };
  EXPECT_NEAR(at("f32").mfu.value(), 0.512, 1e-12);
  EXPECT_EQ(at("f32").peak_flops_per_s, 5e8);
  EXPECT_EQ(at("f32").dtype, Dtype::f32);
  EXPECT_FALSE(at("f16").peak_flops_per_s);
  EXPECT_EQ(at("f16").reason, "no peak for f16 on slow");
}

TEST(KernelFigures, a_fused_row_sums_its_flops_and_bytes_and_skips_what_has_no_product) {
  const AccountedKernel q = row(R"({"category": "gemm", "operator": "q_proj", "dur_us": 1})");
  const AccountedKernel norm =
      row(R"({"category": "rmsnorm", "operator": "input_norm", "dur_us": 1})");
  const AccountedKernel fused =
      row(R"({"category": "fancy", "operator": ["input_norm", "q_proj", "kv_proj"], "dur_us": 1})");
  EXPECT_EQ(fused.flops, 512);
  EXPECT_NEAR(fused.ideal_ns.value(), 512, 1e-9);
  EXPECT_EQ(fused.dtype, Dtype::bf16);
  EXPECT_EQ(fused.bytes.value(), norm.bytes.value() + 2 * q.bytes.value());
  // At one byte a nanosecond the floor of the memory is the number of bytes.
  EXPECT_NEAR(fused.floor_ns.value(), fused.bytes.value(), 1e-6);
  EXPECT_NEAR(norm.floor_ns.value(), norm.bytes.value(), 1e-6);
  EXPECT_EQ(norm.flops, 0);
  EXPECT_FALSE(norm.mfu);
  EXPECT_EQ(norm.reason, "no matrix product");
  EXPECT_EQ(norm.dtype, find_operator(graph_of(tiny(), decode(1, 4)), "input_norm").dtype);
}

TEST(KernelFigures, stated_bytes_replace_those_of_the_operators) {
  const std::string bytes =
      row(R"({"category": "gemm", "operator": "q_proj", "dur_us": 1})").bytes.has_value() ? "5000"
                                                                                          : "";
  const AccountedKernel stated =
      row(R"({"category": "gemm", "operator": "q_proj", "dur_us": 1, "bytes": 5000})");
  EXPECT_EQ(stated.bytes, 5000);
  EXPECT_NEAR(stated.floor_ns.value(), 5000, 1e-6);
  const AccountedKernel elsewhere = row(R"({"category": "fancy", "dur_us": 1, "bytes": 7})");
  EXPECT_EQ(elsewhere.bytes, 7);
  EXPECT_FALSE(elsewhere.floor_ns);
}

TEST(KernelFigures, a_floor_below_that_of_its_launches_is_bound_by_them) {
  const auto bound = [](const char* bytes, const char* more = "") {
    return row(R"({"category": "gemm", "operator": "q_proj", "dur_us": 9, "bytes": )" +
               std::string(bytes) + more + "}")
        .bound;
  };
  EXPECT_EQ(launch_floor_ns, 3000);
  EXPECT_EQ(bound("2700"), "launch");
  EXPECT_EQ(bound("3001"), "memory");
  EXPECT_EQ(bound("4500"), "memory");
  EXPECT_EQ(bound("4500", R"(, "count": 2)"), "launch");
  EXPECT_EQ(bound("6001", R"(, "count": 2)"), "memory");
  EXPECT_EQ(bound("4500", R"(, "flops": 4400, "dtype": "bf16")"), "memory");
  EXPECT_EQ(bound("4500", R"(, "flops": 4600, "dtype": "bf16")"), "compute");
  // Without a peak nobody knows which of the two it is.
  EXPECT_EQ(bound("4500", R"(, "dtype": "s8")"), "");
}

TEST(KernelFigures, collectives_take_what_the_link_and_the_memory_take) {
  const OperatorGraph graph = graph_of(tiny(), decode(1, 4, {.tp = 2}));
  const Work& work = find_operator(graph, "attention_all_reduce").rank_work;
  ASSERT_GT(work.transfer_bytes, 0);
  const char* const text =
      R"({"category": "allreduce", "operator": "attention_all_reduce", "dur_us": 9})";
  const auto at = [&](const Device& device) { return account(text, device, graph).rows.at(0); };
  EXPECT_EQ(at(slow()).bound, "communication");
  EXPECT_NEAR(at(slow()).floor_ns.value(), work.transfer_bytes / 1e6 * 1e9, 1e-6);
  Device fast = slow();
  fast.links[0].bytes_per_s_high = 2e6;
  EXPECT_NEAR(at(fast).floor_ns.value(), work.transfer_bytes / 2e6 * 1e9, 1e-6);
  fast.links[0].bytes_per_s_high = 1e15;
  const double memory_ns = at(fast).floor_ns.value();
  EXPECT_NEAR(memory_ns, work.bytes(), 1e-6);
  fast.links.clear();
  EXPECT_EQ(at(fast).floor_ns, memory_ns);
  EXPECT_EQ(at(fast).bound, "communication");
}

TEST(KernelFigures, a_row_without_time_has_no_utilisation) {
  const KernelAccount a = account(R"({"category": "gemm", "operator": "q_proj", "dur_us": 0},
                 {"category": "gemm", "operator": "o_proj", "dur_us": 1})");
  EXPECT_EQ(a.rows[0].reason, "no time");
  EXPECT_FALSE(a.rows[0].mfu);
  EXPECT_FALSE(roofline_fraction(a.rows[0]));
  EXPECT_FALSE(a.is_lower_bound);
  EXPECT_NEAR(a.mfu.value(), 0.512, 1e-12);
}

TEST(KernelFigures, unknown_time_makes_the_whole_a_lower_bound) {
  const char* const known = R"({"category": "gemm", "operator": "q_proj", "dur_us": 1})";
  const auto with = [&](const std::string& more) { return account(known + more); };
  EXPECT_FALSE(with("").is_lower_bound);
  EXPECT_FALSE(with(R"(, {"category": "other", "dur_us": 1})").is_lower_bound);
  EXPECT_FALSE(with(R"(, {"category": "fancy", "dur_us": 0})").is_lower_bound);
  EXPECT_TRUE(with(R"(, {"category": "fancy", "dur_us": 0.000001})").is_lower_bound);
  const KernelAccount vague = with(R"(, {"category": "gemm", "dur_us": 1},
                                      {"category": "gemm", "dur_us": 1})");
  EXPECT_EQ(vague.reason, "2 rows without a figure: ambiguous");
  EXPECT_FALSE(vague.mfu);
  EXPECT_EQ(vague.rows[0].layer_where, "f");
}

TEST(KernelFigures, rows_of_one_operator_share_it_by_the_sizes_that_they_state) {
  const KernelAccount a = account(R"(
      {"category": "gemm", "operator": "q_proj", "dur_us": 1, "shape": [1, 2, 3]},
      {"category": "gemm", "operator": "q_proj", "dur_us": 1, "shape": [3, 2, 1], "count": 2},
      {"category": "gemm", "operator": "q_proj", "dur_us": 1, "shape": [2, 5, 3]})");
  const double sum = 6 + 2 * 6 + 30;
  EXPECT_NEAR(a.rows[0].flops.value(), 256 * 6 / sum, 1e-9);
  EXPECT_NEAR(a.rows[1].flops.value(), 256 * 12 / sum, 1e-9);
  EXPECT_NEAR(a.rows[2].flops.value(), 256 * 30 / sum, 1e-9);
}

TEST(KernelFigures, a_shape_that_several_operators_have_is_ambiguous_and_later_rows_go_on) {
  const KernelAccount a = account(R"(
      {"category": "rmsnorm", "dur_us": 1},
      {"category": "gemm_bf16", "dur_us": 1, "shape": [1, 16, 8]},
      {"category": "gemm_bf16", "dur_us": 1, "shape": [1, 32, 8]},
      {"category": "gemm_bf16", "dur_us": 1, "shape": [1, 32, 9]},
      {"category": "gemm_bf16", "dur_us": 1, "shape": [2, 32, 8]})");
  EXPECT_EQ(a.rows[1].status, BindingStatus::ambiguous);
  EXPECT_THAT(a.rows[1].candidates, ElementsAre("q_proj", "kv_proj"));
  EXPECT_EQ(a.rows[1].how, "several operators have the shape");
  EXPECT_THAT(a.rows[2].operators, ElementsAre("gate_up_proj"));
  EXPECT_EQ(a.rows[2].how, "shape");
  EXPECT_EQ(a.rows[3].how, "no matrix product of this layer has the shape");
  EXPECT_EQ(a.rows[4].status, BindingStatus::unknown);
}

TEST(KernelFigures, products_beyond_those_of_the_layer_are_unknown) {
  const KernelAccount a = account(R"(
      {"category": "fancy", "dur_us": 1,
       "operator": ["q_proj", "kv_proj", "o_proj", "gate_up_proj", "down_proj"]},
      {"category": "gemm_bf16", "dur_us": 1})");
  EXPECT_EQ(a.rows[1].status, BindingStatus::unknown);
  EXPECT_EQ(a.rows[1].how, "this layer has no further matrix product");
  EXPECT_EQ(a.rows[1].reason, "no operator");
  EXPECT_EQ(account(R"({"category": "fancy", "dur_us": 1})").rows[0].how,
            "the category is not known");
}

TEST(KernelFigures, names_of_status_and_bucket_are_those_of_the_schema) {
  const std::pair<BindingStatus, const char*> statuses[] = {
      {BindingStatus::bound, "bound"},         {BindingStatus::shared, "shared"},
      {BindingStatus::ambiguous, "ambiguous"}, {BindingStatus::unpriced, "unpriced"},
      {BindingStatus::overhead, "overhead"},   {BindingStatus::unknown, "unknown"}};
  for (const auto& [status, name] : statuses) EXPECT_EQ(binding_status_name(status), name);
  EXPECT_EQ(kernel_bucket_name(KernelBucket::assigned), "assigned");
  EXPECT_EQ(kernel_bucket_name(KernelBucket::overhead), "overhead");
  EXPECT_EQ(kernel_bucket_name(KernelBucket::unknown), "unknown");
  EXPECT_EQ(account(R"({"category": "gemm", "dur_us": 1})").rows[0].bucket, KernelBucket::assigned);
  EXPECT_EQ(row(R"({"category": "hadamard", "dur_us": 1})").status, BindingStatus::unpriced);
  EXPECT_EQ(row(R"({"category": "hadamard", "dur_us": 1})").flops, 0);
}

TEST(KernelJson, an_account_is_written_whole) {
  const Json out = kernels_json(account(R"(
      {"name": "a", "category": "gemm_bf16", "operator": "q_proj", "dur_us": 8, "bytes": 4000},
      {"category": "fancy", "dur_us": 0.5})"));
  Json first = out["rows"][0];
  EXPECT_NEAR(first["lower_bound_us"].get<double>(), 4, 1e-9);
  EXPECT_NEAR(first["roofline_pct"].get<double>(), 50, 1e-9);
  first["lower_bound_us"] = 4.0;
  first["roofline_pct"] = 50.0;
  EXPECT_EQ(first, Json::parse(R"({"name": "a", "category": "gemm_bf16",
    "layer_type": "decoder", "count": 1, "dur_us": 8.0, "status": "bound", "bucket": "assigned",
    "operators": ["q_proj"], "candidates": [], "binding": "explicit", "dtype": "bf16",
    "flops": 256.0, "bytes": 4000.0, "peak_flops_per_s": 1e9, "lower_bound_us": 4.0,
    "bound": "memory", "mfu_pct": 3.2, "roofline_pct": 50.0, "is_quarantined": false})"));
  EXPECT_THAT(out, test::HasValues(R"({"/rows/1/mfu_pct": null,
      "/rows/1/mfu_pct_reason": "no operator", "/rows/1/lower_bound_us": null,
      "/rows/1/roofline_pct": null, "/rows/1/bound": null, "/rows/1/dtype": null,
      "/assigned_us": 8.0, "/overhead_us": 0.0, "/unknown_us": 0.5, "/total_us": 8.5,
      "/between_kernels_us": 0.0, "/mfu_is_lower_bound": true, "/launch_floor_us": 3.0})"));
  EXPECT_NEAR(out["mfu_pct"].get<double>(), 100 * 0.256 / 8.5, 1e-12);
  EXPECT_FALSE(out.contains("mfu_pct_reason"));
  const Json vague = kernels_json(account(R"({"category": "gemm", "dur_us": 1})"));
  EXPECT_THAT(vague, test::HasValues(R"({"/mfu_pct": null,
      "/mfu_pct_reason": "1 rows without a figure: ambiguous"})"));
}

TEST(KernelJson, times_of_layers_are_written_whole) {
  const LayerUse with{.time = {"decoder", 2e6},
                      .layers = 3,
                      .matmul_flops = 8,
                      .matmul_flops_per_rank = 4,
                      .mfu = 0.25,
                      .executed = 0.5};
  LayerUse without = with;
  without.mfu.reset();
  without.executed.reset();
  without.reason = "r";
  const Json out = layers_json({with, without});
  EXPECT_EQ(out[0], Json::parse(R"({"layer_type": "decoder", "layers": 3, "measured_ms": 2.0,
    "matmul_flops": 8.0, "matmul_flops_per_rank": 4.0, "model_pct": 25.0, "executed_pct": 50.0,
    "is_quarantined": false})"));
  EXPECT_THAT(out, test::HasValues(R"({"/1/model_pct": null, "/1/executed_pct": null,
      "/1/model_pct_reason": "r"})"));
}

}  // namespace
}  // namespace halmark
