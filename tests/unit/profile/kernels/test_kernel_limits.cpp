// Limits of kernel tables, on both sides.
#include <gmock/gmock.h>

#include "core/json/json.hpp"
#include "fixtures.hpp"
#include "profile/kernels/kernel_layer_type.hpp"
#include "profile/kernels/layer_time.hpp"
#include "tests/unit/expect.hpp"

namespace halmark {
namespace {

using test::expect_each;
using test::expect_error;
using testing::HasSubstr;
using namespace model_test;

KernelProfile flow(const std::string& text) {
  return read_kernel_flow(parse_json(text, "flow.json"), "flow.json");
}
std::string refusal(const std::string& text) {
  return test::error_of([&] { flow(text); }).line();
}
std::string rows(const std::string& more, const std::string& after = "") {
  return R"({"kernels": [{"category": "moe", "dur_us": 1000)" + more + "}]" + after + "}";
}

TEST(KernelLimits, numbers_end_where_they_are_said_to_end) {
  EXPECT_EQ(flow(R"({"kernels": [{"category": "moe", "dur_us": 1e12}]})").layers[0].kernels_ps(),
            1'000'000'000'000'000'000);
  EXPECT_THAT(refusal(R"({"kernels": [{"category": "moe", "dur_us": 1.1e12}]})"),
              HasSubstr("expected a number from 0 to"));
  EXPECT_EQ(flow(rows(R"(, "flops": 1e30, "bytes": 1e30)")).layers[0].kernels[0].flops, 1e30);
  for (const char* key : {"flops", "bytes"}) {
    const std::string lead = ", \"" + std::string(key) + "\": ";
    expect_each(refusal, {{rows(lead + "1.1e30"), std::string(key) + ": is 1.1e+30"},
                          {rows(lead + "-1"), "a number from 0"}});
    EXPECT_NO_THROW(flow(rows(lead + "0")));
  }
  EXPECT_EQ(flow(rows(R"(, "count": 1099511627776)")).layers[0].kernels[0].count, 1099511627776);
  expect_each(refusal, {{rows(R"(, "count": 1099511627777)"), "whole number"},
                        {rows(R"(, "count": 1.5)"), "whole number"}});
}

TEST(KernelLimits, shapes_are_three_whole_positive_sizes) {
  EXPECT_NO_THROW(flow(rows(R"(, "shape": [1, 1, 1])")));
  for (const char* bad : {"[0, 1, 1]", "[1, 0, 1]", "[1, 1, 0]", "[1, 1, -1]", "[1, 1, 1.5]",
                          "[1, 1, \"1\"]", "[1, 1, 1, 1]", "3", R"({"a": 1, "b": 1, "c": 1})"}) {
    EXPECT_THAT(refusal(rows(", \"shape\": " + std::string(bad))),
                HasSubstr("must be [m, n, k], whole and positive"))
        << bad;
  }
}

TEST(KernelLimits, metadata_begins_at_zero) {
  for (const char* key : {"layer_id", "compress_ratio", "cached"}) {
    const auto with = [&](const char* value) {
      return rows("", ", \"metadata\": {\"" + std::string(key) + "\": " + value + "}");
    };
    EXPECT_NO_THROW(flow(with("0"))) << key;
    EXPECT_THAT(refusal(with("-1")), HasSubstr("whole number of at least 0")) << key;
  }
}

// A thousandth of the larger of both: 1000 us may be called 999.0 to 1001.0.
TEST(KernelLimits, a_summary_may_be_off_by_a_thousandth) {
  const auto summary = [](const std::string& us, const std::string& more = "") {
    return rows("", R"(, "category_summary": {"moe": {"dur_us": )" + us + more + "}}");
  };
  EXPECT_NO_THROW(flow(summary("1000.95")));
  EXPECT_NO_THROW(flow(summary("1001.0")));
  EXPECT_NO_THROW(flow(summary("999.05")));
  expect_each(refusal,
              {{summary("1001.2"), "summary_mismatch"}, {summary("998.9"), "summary_mismatch"}});
  EXPECT_NO_THROW(flow(summary("1000", R"(, "count": 1)")));
  expect_each(refusal, {{summary("1000", R"(, "count": 0)"), "counts 0 kernels"},
                        {summary("1000", R"(, "count": -1)"), "at least 0"}});
  // A category whose rows take no time need not be there.
  EXPECT_NO_THROW(flow(R"({"kernels": [{"category": "moe", "dur_us": 9},
                                       {"category": "quant", "dur_us": 0}],
                           "category_summary": {"moe": {"dur_us": 9}}})"));
}

TEST(KernelLimits, a_total_may_be_a_thousandth_below_its_rows_and_anything_above) {
  const auto total = [](const std::string& us) {
    return rows("", R"(, "metadata": {"total_dur_us": )" + us + "}");
  };
  EXPECT_NO_THROW(flow(total("999.05")));
  EXPECT_THAT(refusal(total("998.5")), HasSubstr("summary_mismatch: total_dur_us is 998.5"));
  EXPECT_NO_THROW(flow(total("5000")));
}

TEST(KernelLimits, keys_of_five_letters_and_more_can_be_slips) {
  expect_each(refusal, {{rows(R"(, "shapes": [1, 1, 1])"), "did you mean 'shape'"},
                        {rows(R"(, "dtyp_": "x")"), "did you mean 'dtype'"}});
  EXPECT_NO_THROW(flow(rows(R"(, "hal": 1)"))) << "too short to tell";
  EXPECT_NO_THROW(flow(rows(R"(, "halff": 1)"))) << "half is too short to be meant";
  EXPECT_THAT(refusal(rows("", R"(, "metadata": {"cashed": 1})")),
              HasSubstr("did you mean 'cached'"));
}

TEST(KernelLimits, lists_are_as_long_as_is_said) {
  expect_each(refusal, {{"{}", "'kernels' must be a list of rows"},
                        {R"({"kernels": 3})", "'kernels' must be a list of rows"},
                        {R"({"kernels": null})", "'kernels' must be a list of rows"}});
  const Json kernel = {{"category", "moe"}, {"dur_us", 1}};
  const auto of_layers = [&](std::size_t count) {
    Json document, layer;
    layer["kernels"] = Json::array();
    layer["kernels"].push_back(kernel);
    document["layers"] = Json::array();
    for (std::size_t i = 0; i < count; ++i) document["layers"].push_back(layer);
    return read_kernel_flow(document, "f").layers.size();
  };
  EXPECT_EQ(of_layers(10'000), 10'000u);
  expect_error([&] { of_layers(10'001); }, "1 to 10000 layers");
  expect_error([&] { of_layers(0); }, "1 to 10000 layers");
  const auto of_kernels = [&](std::size_t count) {
    Json document;
    document["kernels"] = Json::array();
    for (std::size_t i = 0; i < count; ++i) document["kernels"].push_back(kernel);
    return read_kernel_flow(document, "f").layers[0].kernels.size();
  };
  EXPECT_EQ(of_kernels(200'000), 200'000u);
  expect_error([&] { of_kernels(200'001); }, "more than 200000 kernels");
}

TEST(KernelLimits, milliseconds_of_a_layer_end_with_the_microseconds) {
  const auto ms = [](const char* text) {
    return read_kernel_ms(parse_json(text, "k"), "k").layers[0].kernels_ps();
  };
  EXPECT_EQ(ms(R"({"moe": 1e6})"), 1'000'000'000'000'000);
  expect_error([&] { ms(R"({"moe": 1.1e6})"); }, "a number from 0 to 1000000");
  expect_error([&] { ms(R"({"moe": 0})"); }, "no kernel takes any time");
}

TEST(KernelLimits, eleven_days_are_the_sum_of_a_layer) {
  const auto two = [](const char* us) {
    return R"({"kernels": [{"category": "m", "dur_us": 6e11}, {"category": "m", "dur_us": )" +
           std::string(us) + "}]}";
  };
  EXPECT_NO_THROW(flow(two("4e11")));
  EXPECT_THAT(refusal(two("4.1e11")), HasSubstr("more than eleven days"));
}

TEST(KernelLimits, cached_tokens_are_those_before_the_new_ones) {
  const OperatorGraph graph = graph_of(tiny(), prefill(1, 4, 12));
  KernelLayer layer{.where = "f"};
  layer.cached = 8;
  EXPECT_EQ(graph.layer_types[static_cast<std::size_t>(layer_type_of(layer, graph))].name,
            "decoder");
  layer.cached = 12;
  expect_error([&] { layer_type_of(layer, graph); },
               "with 12 cached tokens, the command says 8; --context 16 fits the table");
  layer.cached.reset();
  layer.layer_id = 3;
  EXPECT_NO_THROW(layer_type_of(layer, graph));
  layer.layer_id = 4;
  expect_error([&] { layer_type_of(layer, graph); }, "layer_id 4 is beyond the 4 layers");
  layer.layer_id.reset();
  layer.compress_ratio = 0;
  EXPECT_NO_THROW(layer_type_of(layer, graph)) << "says nothing of other models";
  layer.compress_ratio = 1;
  expect_error([&] { layer_type_of(layer, graph); }, "compress_ratio 1: no such layer");
}

TEST(KernelLimits, times_of_layers_reach_a_thousand_million_milliseconds) {
  const OperatorGraph graph = graph_of(tiny(), decode(1, 4));
  EXPECT_EQ(parse_layer_ms("1e9", graph).at(0).ns, 1e15);
  expect_error([&] { parse_layer_ms("1.1e9", graph); }, "is no time");
  expect_error([&] { parse_layer_ms("decoder=", graph); }, "is no time");
}

TEST(KernelLimits, a_layer_without_a_peak_says_so_and_parts_of_a_context_divide_its_flops) {
  const Device bare{.id = "bare"};
  const OperatorGraph graph = graph_of(tiny(), prefill(1, 16, 16, {.tp = 2}));
  const LayerUse use = layer_uses(parse_layer_ms("1", graph), graph, bare, {}).at(0);
  EXPECT_EQ(use.reason, "no peak for bf16 on bare");
  EXPECT_FALSE(use.mfu);
  const Device device{.id = "d",
                      .peaks = {{.path = "bf16", .dtype = Dtype::bf16, .flops_per_s = 1e9}}};
  const OperatorGraph split = graph_of(tiny(), prefill(1, 16, 16, {.cp = 2}));
  const LayerUse half = layer_uses(parse_layer_ms("1", split), split, device, {}).at(0);
  EXPECT_NEAR(half.mfu.value(), half.matmul_flops / 2 / 1e9 / 1e-3, 1e-9);
}

}  // namespace
}  // namespace halmark
