#include "core/json/json.hpp"
#include "profile/kernels/kernel_table.hpp"
#include "tests/unit/expect.hpp"

#include <gmock/gmock.h>

namespace halmark {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

KernelProfile flow(std::string_view text) {
  return read_kernel_flow(parse_json(text, "flow.json"), "flow.json");
}

std::string refusal(std::string_view text) {
  const Error error = test::error_of([&] { flow(text); });
  EXPECT_EQ(error.exit_code(), ExitCode::refused);
  return error.line();
}

TEST(KernelTable, the_public_format_is_read_whole) {
  const KernelProfile table = flow(R"({
    "metadata": {"layer_id": 5, "compress_ratio": 4, "total_dur_us": 30.5, "tool": "x"},
    "kernels": [
      {"name": "nvjet", "simplified_name": "n", "category": "gemm_fp8", "half": "attn", "dur_us": 10.25},
      {"simplified_name": "norm", "category": "rmsnorm", "half": "ffn", "dur_us": 20, "grid": [1, 2]}],
    "category_summary": {"gemm_fp8": {"dur_us": 10.25, "count": 1}, "rmsnorm": {"dur": 20.01}}})");
  ASSERT_EQ(table.layers.size(), 1u);
  const KernelLayer& layer = table.layers[0];
  EXPECT_EQ(layer.layer_id, 5);
  EXPECT_EQ(layer.compress_ratio, 4);
  EXPECT_EQ(layer.total_ps, 30'500'000);
  ASSERT_EQ(layer.kernels.size(), 2u);
  EXPECT_EQ(layer.kernels[0].name, "nvjet");
  EXPECT_EQ(layer.kernels[0].category, "gemm_fp8");
  EXPECT_EQ(layer.kernels[0].half, LayerHalf::attention);
  EXPECT_EQ(layer.kernels[0].duration_ps, 10'250'000);
  EXPECT_EQ(layer.kernels[0].count, 1);
  EXPECT_EQ(layer.kernels[1].name, "norm");
  EXPECT_EQ(layer.kernels[1].half, LayerHalf::feed_forward);
  EXPECT_EQ(layer.kernels_ps(), 30'250'000);
}

TEST(KernelTable, the_extended_format_has_layers_bindings_precisions_and_counts) {
  const KernelProfile table = flow(R"({"layers": [
    {"metadata": {"layer_type": "decoder", "cached": 4095}, "kernels": [
      {"category": "gemm", "dur_us": 1, "operator": ["q_proj", "kv_proj"], "dtype": "fp8",
       "shape": [1, 2, 3], "count": 2, "flops": 12, "bytes": 34.5}]},
    {"kernels": [{"category": "moe", "dur_us": 2, "operator": "expert_down"}]}]})");
  ASSERT_EQ(table.layers.size(), 2u);
  EXPECT_EQ(table.layers[0].layer_type, "decoder");
  EXPECT_EQ(table.layers[0].cached, 4095);
  const ProfiledKernel& row = table.layers[0].kernels[0];
  EXPECT_THAT(row.operators, ElementsAre("q_proj", "kv_proj"));
  EXPECT_EQ(row.dtype, Dtype::f8_e4m3fn);
  EXPECT_THAT(row.shape.value(), ElementsAre(1, 2, 3));
  EXPECT_EQ(row.count, 2);
  EXPECT_EQ(row.flops, 12.0);
  EXPECT_EQ(row.bytes, 34.5);
  EXPECT_THAT(table.layers[1].kernels[0].operators, ElementsAre("expert_down"));
}

TEST(KernelTable, milliseconds_per_category_are_totals) {
  const KernelProfile table =
      read_kernel_ms(parse_json(R"({"gemm_bf16": 0.5, "moe": 1e-3})", "k"), "k");
  ASSERT_EQ(table.layers.size(), 1u);
  ASSERT_EQ(table.layers[0].kernels.size(), 2u);
  EXPECT_EQ(table.layers[0].kernels[0].duration_ps, 500'000'000);
  EXPECT_EQ(table.layers[0].kernels[1].duration_ps, 1'000'000);
  EXPECT_TRUE(table.layers[0].kernels[0].is_category_total);
}

TEST(KernelTable, a_summary_that_disagrees_with_its_rows_is_refused) {
  const auto with = [](const std::string& summary) {
    return R"({"kernels": [{"category": "moe", "dur_us": 1000}, {"category": "quant", "dur_us": 1}],
               "category_summary": )" +
           summary + "}";
  };
  EXPECT_NO_THROW(flow(with(R"({"moe": {"dur_us": 1000.9}, "quant": {"dur_us": 1}})")));
  test::expect_each(refusal,
                    {{with(R"({"moe": {"dur_us": 1001.1}, "quant": {"dur_us": 1}})"),
                      "flow.json.category_summary.moe: summary_mismatch: says 1001.1 us, its rows "
                      "add to 1000.0 us"},
                     {with(R"({"moe": {"dur_us": 1000}})"), "'quant' of the rows"},
                     {with(R"({"moe": {"dur_us": 1000}, "quant": {"dur_us": 1}, "x": {"dur": 3}})"),
                      "summary_mismatch"},
                     {with(R"({"moe": {"dur_us": 1000, "count": 2}, "quant": {"dur_us": 1}})"),
                      "counts 2 kernels, the rows 1"},
                     {R"({"metadata": {"total_dur_us": 9.9},
                          "kernels": [{"category": "moe", "dur_us": 10}]})",
                      "summary_mismatch: total_dur_us is 9.9"}});
}

TEST(KernelTable, what_is_no_time_is_refused_with_its_place) {
  test::expect_each(
      refusal,
      {{R"({"kernels": [{"category": "moe", "dur_us": -1}]})",
        "flow.json.kernels[0].dur_us: is -1"},
       {R"({"kernels": [{"category": "moe", "dur_us": "1"}]})", "number"},
       {R"({"kernels": [{"category": "moe", "dur_us": 1e13}]})", "a number from 0 to"},
       {R"({"kernels": [{"category": "moe"}]})", "'dur_us' is missing"},
       {R"({"kernels": [{"dur_us": 1}]})", "'category' is missing"},
       {R"({"kernels": [{"category": "moe", "dur_us": 0}]})", "no kernel takes any time"},
       {R"({"kernels": []})", "'kernels' must be a list"},
       {"[]", "must be an object"},
       {R"({"layers": {}})", "'layers' must be a list"},
       {R"({"kernels": [{"category": "m", "dur_us": 1, "half": "left"}]})", "expected attn or ffn"},
       {R"({"kernels": [{"category": "m", "dur_us": 1, "count": 0}]})",
        "count: must be a whole number of at least 1"},
       {R"({"kernels": [{"category": "m", "dur_us": 1, "count": 18446744073709551615}]})",
        "whole number"},
       {R"({"kernels": [{"category": "m", "dur_us": 1, "dtype": "bf61"}]})", "no data type"},
       {R"({"kernels": [{"category": "m", "dur_us": 1, "shape": [1, 2]}]})", "[m, n, k]"},
       {R"({"kernels": [{"category": "m", "dur_us": 1, "operator": [1]}]})", "name or a list"}});
}

TEST(KernelTable, a_slip_in_a_key_is_refused_and_a_foreign_key_is_not) {
  EXPECT_THAT(refusal(R"({"kernels": [{"category": "m", "dur_us": 1, "operater": "q_proj"}]})"),
              HasSubstr("unknown key 'operater'; did you mean 'operator'?"));
  EXPECT_NO_THROW(flow(R"({"kernels": [{"category": "m", "dur_us": 1, "stream": 7, "ts": 0}]})"));
}

TEST(KernelTable, sums_cannot_overflow) {
  std::string rows;
  for (int i = 0; i < 20; ++i) rows += R"({"category": "m", "dur_us": 1e11},)";
  rows.pop_back();
  EXPECT_THAT(refusal(R"({"kernels": [)" + rows + "]}"), HasSubstr("more than eleven days"));
}

}  // namespace
}  // namespace halmark
