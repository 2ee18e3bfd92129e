// What commands print of single values: figures that are absent say so in the document and the
// text.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/text/memory_text.hpp"
#include "report/text/quantity.hpp"
#include "report/text/table.hpp"
#include "report/views/device_views.hpp"
#include "report/views/kernel_views.hpp"
#include "report/views/validation_view.hpp"
#include "report/views/winner_views.hpp"

namespace halmark::report {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(TextTable, is_as_wide_as_its_cells_and_aligns_numbers_to_the_right) {
  TextTable table({"name", "n"}, {false, true});
  const std::string wide(300, 'x');
  table.add({wide, "7"});
  table.add({"short\x1b[2J", "1234"});
  table.add({"alone"});
  EXPECT_EQ(table.text(), "name" + std::string(296, ' ') + "     n\n" + wide + "     7\n" +
                              "short?[2J" + std::string(291, ' ') + "  1234\n" + "alone\n");
}

TEST(Quantity, units_that_only_commands_needed) {
  EXPECT_EQ(rate_text(15e15, "OP/s"), "15000 TOP/s");
  EXPECT_EQ(bytes_text(1536 * 0x1p30), "1.50 TiB");
  EXPECT_EQ(rounded_percent_text(0.0314), "3.1 %");
  EXPECT_EQ(rounded_percent_text(std::nullopt), "-");
}

TEST(DeviceViews, a_range_is_shown_with_both_ends_and_the_weakest_confidence_counts) {
  Device d{.id = "x", .name = "X"};
  d.peaks = {{.path = "bf16_matrix",
              .dtype = Dtype::bf16,
              .flops_per_s = 1e15,
              .flops_per_s_high = 1.2e15,
              .confidence = Confidence::high}};
  d.bandwidths = {{.level = "memory", .bytes_per_s = 2e12, .confidence = Confidence::low}};
  const View view = known_devices_view(std::vector{d});
  EXPECT_THAT(view.text, HasSubstr("1000 TFLOP/s to 1200 TFLOP/s"));
  EXPECT_THAT(view.text, HasSubstr("  low  "));
  const Json& known = view.data["known"][0];
  EXPECT_EQ(known["peaks"][0]["flops_per_s_high"], 1.2e15);
  EXPECT_TRUE(known["bandwidths"][0]["bytes_per_s_high"].is_null());
  EXPECT_FALSE(known.contains("memory_bytes")) << "not stated";
}

TEST(DeviceViews, the_weakest_confidence_is_the_lowest_that_is_stated_in_whatever_order) {
  using enum Confidence;
  const auto shown = [](Confidence peak, Confidence memory, Confidence power) {
    Device d{.id = "x", .name = "X"};
    d.peaks = {{.path = "f32_vector", .dtype = Dtype::f32, .flops_per_s = 1e12}};
    d.peaks[0].confidence = peak;
    d.memory_confidence = memory;
    d.power_confidence = power;
    const std::string text = known_devices_view(std::vector{d}).text;
    for (const char* word : {"low", "medium", "high"}) {
      if (text.find(std::string("  ") + word) != std::string::npos) return std::string(word);
    }
    return std::string("none");
  };
  EXPECT_EQ(shown(low, high, medium), "low");
  EXPECT_EQ(shown(high, medium, high), "medium");
  EXPECT_EQ(shown(high, high, low), "low");
  EXPECT_EQ(shown(high, unstated, unstated), "high");
  EXPECT_EQ(shown(unstated, unstated, high), "high");
  EXPECT_EQ(shown(unstated, unstated, unstated), "none");
}

TEST(DeviceViews, a_measured_peak_is_set_against_that_of_the_datasheet) {
  const Peak peak{.path = "f32_vector", .dtype = Dtype::f32, .threads = 1, .flops_per_s = 5e10};
  Device measured{.id = "cpu:0"}, stated{.id = "sheet"};
  measured.peaks = {peak};
  stated.peaks = {peak};
  stated.peaks[0].flops_per_s = 1e11;
  EXPECT_THAT(measured_device_view(measured, stated).text, HasSubstr("50.0 %"));
  EXPECT_THAT(measured_device_view(measured, {}).text, Not(HasSubstr(" %")));
}

TEST(KernelViews, a_kernel_without_a_time_says_why) {
  const KernelPoint point{.op = "gemm",
                          .problem = "gemm m=1",
                          .place = "cpu:0/1",
                          .status = Status::crashed,
                          .reason = "signal 11",
                          .mfu_reason = "no time"};
  const View view = kernels_view(std::vector{point}, false);
  const Json& row = view.data["rows"][0];
  EXPECT_TRUE(row["duration_ns_median"].is_null());
  EXPECT_EQ(row["duration_ns_median_reason"], "signal 11");
  EXPECT_EQ(row["mfu_reason"], "no time");
  EXPECT_EQ(row["backend"], "cpu");
  EXPECT_THAT(view.text, HasSubstr("crashed: signal 11"));
}

TEST(KernelViews, a_collective_shows_its_bandwidth_instead_of_utilisation) {
  KernelPoint point{.op = "all_reduce", .duration_ns = 1000, .low_ns = 900, .high_ns = 1100};
  point.algbw_bytes_per_s = 2e9;
  point.busbw_bytes_per_s = 3e9;
  const View view = kernels_view(std::vector{point}, true);
  EXPECT_THAT(view.text, HasSubstr("3.00 GB/s"));
  EXPECT_THAT(view.text, Not(HasSubstr("mfu")));
  EXPECT_EQ(view.data["rows"][0]["busbw_bytes_per_s"], 3e9);
}

TEST(ValidationView, a_pipeline_says_how_long_its_stages_waited) {
  Validation v{.deployment_key = "k", .measured_ns = 80, .bubble_share = 0.25};
  EXPECT_EQ(validation_view(v).data["bubble_share"], 0.25);
  EXPECT_THAT(validation_view(v).text, HasSubstr("stages waited 25.0 % of it"));
  v.bubble_share.reset();
  EXPECT_FALSE(validation_view(v).data.contains("bubble_share"));
}

TEST(ValidationView, ranks_that_share_cores_have_a_label_and_no_figure) {
  Validation v{.deployment_key = "k",
               .measured_ns = 80,
               .composition_reason = "oversubscribed: 4 ranks on 2 cores",
               .reason = "oversubscribed: 4 ranks on 2 cores",
               .is_oversubscribed = true};
  const View view = validation_view(v);
  EXPECT_EQ(view.data["oversubscribed"], true);
  for (const char* figure :
       {"measured_ns", "predicted_ns", "prediction_error", "composition_error", "composition"}) {
    EXPECT_TRUE(view.data[figure].is_null()) << figure;
  }
  for (const char* reason :
       {"measured_ns_reason", "predicted_ns_reason", "composition_error_reason"}) {
    EXPECT_EQ(view.data[reason], "oversubscribed: 4 ranks on 2 cores") << reason;
  }
  EXPECT_THAT(view.text, HasSubstr("oversubscribed: 4 ranks on 2 cores"));
  EXPECT_THAT(view.text, Not(HasSubstr("80")));
  v.status = Status::wrong_result;
  EXPECT_THAT(validation_view(v).text, HasSubstr("it did not end well: wrong_result"));
}

TEST(ValidationView, two_errors_under_two_names_and_none_without_a_time) {
  Validation v{
      .deployment_key = "k",
      .predicted_ns = 100,
      .measured_ns = 80,
      .composition = Composition{.composed_ns = 76, .error = -0.05, .pairs = 5, .apart = 2}};
  EXPECT_EQ(validation_view(v).data["prediction_error"], 0.25);
  EXPECT_EQ(validation_view(v).data["composition_error"], -0.05);
  EXPECT_THAT(validation_view(v).text, HasSubstr("composition error -5.0 %"));
  EXPECT_THAT(validation_view(v).text, HasSubstr("2 pairs left out"));
  EXPECT_THAT(validation_view(v).text, HasSubstr("prediction error +25.0 %"));
  v.status = Status::invalid;
  v.reason = "steal";
  EXPECT_TRUE(validation_view(v).data["prediction_error"].is_null());
  EXPECT_EQ(validation_view(v).data["composition_error_reason"], "steal");
  EXPECT_THAT(validation_view(v).text, HasSubstr("[invalid: steal]")) << "with its figures";
  EXPECT_THAT(validation_view(v).text, HasSubstr("80.0 ns"));
  v.status = Status::crashed;
  v.reason = "signal 9";
  v.measured_ns = 0;
  EXPECT_TRUE(validation_view(v).data["measured_ns"].is_null());
  EXPECT_THAT(validation_view(v).text, HasSubstr("no measured step: crashed: signal 9"));
}

TEST(ValidationView, memory_is_a_row_per_role_with_its_causes_and_a_verdict_of_the_process) {
  constexpr std::int64_t mib = 1 << 20;
  MemoryOfRank rank{.rank = 1,
                    .roles = {{"weights", 600 * mib, 601 * mib, {{"packed by the plugin", mib}}},
                              {"kv_cache", 3 * mib, 3 * mib, {}},
                              {"workspace", 0, 5 * mib, {{"scratch memory of each kernel", mib}}}},
                    .beside_bytes = 7 * mib,
                    .set_size = ProportionalSet{50 * mib, 612 * mib, 600 * mib}};
  Validation v{.deployment_key = "k", .measured_ns = 80};
  v.memory = MeasuredMemory{{{.rank = 0, .set_size_reason = "no proc"}, rank}};
  const View view = validation_view(v);
  EXPECT_THAT(view.text, HasSubstr("600 MiB    601 MiB  packed by the plugin +1.00 MiB\n"));
  EXPECT_THAT(view.text, HasSubstr("3.00 MiB   3.00 MiB  exact\n"));
  EXPECT_THAT(view.text,
              HasSubstr("scratch memory of each kernel +1.00 MiB; unexplained +4.00 MiB"));
  EXPECT_THAT(view.text, HasSubstr("of rank 1, the largest of 2"));
  EXPECT_THAT(view.text, HasSubstr("staged for comparison alone: 7.00 MiB"));
  EXPECT_THAT(view.text, HasSubstr("rank 0: no proportional set size: no proc"));
  EXPECT_THAT(view.text, HasSubstr("rank 1: the worker grew by 612 MiB over 50.0 MiB, 600 MiB were "
                                   "staged (+2.0 %: within 5 %)"));
  const Json& memory = view.data["memory"];
  EXPECT_EQ(memory["largest_rank"], 1);
  EXPECT_EQ(memory["ranks"][1]["allocated_bytes"], 609 * mib);
  EXPECT_EQ(memory["ranks"][1]["roles"][2]["unexplained_bytes"], 4 * mib);
  EXPECT_EQ(memory["ranks"][1]["set_size"]["verdict"], "within");
  EXPECT_TRUE(memory["ranks"][0]["set_size"].is_null());
  EXPECT_EQ(memory["ranks"][0]["set_size_reason"], "no proc");
}

TEST(ValidationView, memory_that_was_not_measured_has_its_reason) {
  Validation v{.deployment_key = "k", .measured_ns = 80};
  EXPECT_EQ(validation_view(v).data["memory_reason"], "an earlier version did not measure it");
  v.memory_reason = "signal 9";
  EXPECT_TRUE(validation_view(v).data["memory"].is_null());
  EXPECT_EQ(validation_view(v).data["memory_reason"], "signal 9");
  EXPECT_THAT(validation_view(v).text, HasSubstr("memory: not measured: signal 9"));
}

Validation with_set_size(double share, std::int64_t unexplained) {
  constexpr std::int64_t staged = 1ll << 30;
  MemoryOfRank rank{
      .roles = {{"weights", staged, staged + unexplained, {}}},
      .set_size = ProportionalSet{0, static_cast<std::int64_t>(share * staged), staged}};
  return {.memory = MeasuredMemory{{rank}}};
}

TEST(MemoryLine, counts_ranks_and_names_the_worst) {
  EXPECT_EQ(memory_line({}), "");
  EXPECT_EQ(memory_line({Validation{}}), "");
  EXPECT_EQ(
      memory_line({with_set_size(1.01, 0), with_set_size(0.9, 0), Validation{}}),
      "memory of 2 run ranks: every byte explained; set size within 5 % of what was staged in 1 "
      "of 2 (worst -10.0 %)");
  Validation small = with_set_size(1, -4096);
  small.memory->ranks[0].set_size->expected_bytes = 1000;
  EXPECT_EQ(
      memory_line({small}),
      "memory of 1 run ranks: 4.00 KiB unexplained; no set size of half a GiB or more to judge");
}

VariantComparison comparison() {
  const Variant slow{.kernel = "slow", .is_default = true}, fast{.kernel = "fast"},
      broken{.kernel = "broken"};
  VariantComparison out{.question = {.problem = {"copy", {}}}, .variants = {slow, fast, broken}};
  for (const Variant& v : out.variants) {
    KernelPoint point{.implementation = v.kernel};
    if (v == broken) point.status = Status::wrong_result, point.reason = "element 3";
    out.points.emplace(variant_case(out.question, v).key(), point);
  }
  out.winner = Winner{
      .question = out.question,
      .variants = {{.variant = fast, .ns = 100, .is_tied = true}, {.variant = slow, .ns = 150}},
      .chosen = fast};
  return out;
}

TEST(WinnerViews, the_fastest_is_first_and_what_failed_is_last_with_its_reason) {
  const VariantComparison c = comparison();
  const View view = variants_view(std::vector{c});
  const auto fast = view.text.find("fast "), slow = view.text.find("slow "),
             broken = view.text.find("broken");
  EXPECT_LT(fast, slow);
  EXPECT_LT(slow, broken);
  EXPECT_THAT(view.text, HasSubstr("1.50 x"));
  EXPECT_THAT(view.text, HasSubstr("wrong_result: element 3"));
  EXPECT_THAT(view.text, HasSubstr("winner: fast"));
  EXPECT_FALSE(view.data["problems"][0]["winner"].is_null());
}

TEST(WinnerViews, a_tie_is_said_of_each_of_its_variants_and_of_none_without_one) {
  VariantComparison c = comparison();
  const std::string alone = variants_view(std::vector{c}).text;
  EXPECT_THAT(alone, HasSubstr("  fastest  "));
  EXPECT_THAT(alone, HasSubstr("  default  "));
  EXPECT_THAT(alone, Not(HasSubstr("= tie")));
  c.winner->variants[1].is_tied = true;
  const std::string tie = variants_view(std::vector{c}).text;
  EXPECT_THAT(tie, HasSubstr("  fastest, = tie  "));
  EXPECT_THAT(tie, HasSubstr("  = tie, default  "));
}

TEST(WinnerViews, a_tie_and_the_absence_of_a_winner_are_conclusions_too) {
  VariantComparison tie = comparison();
  tie.winner->variants[1].is_tied = true;
  tie.winner->chosen = tie.variants[0];
  EXPECT_THAT(variants_view(std::vector{tie}).text,
              HasSubstr("tie of 2: slow is used, the plugin's default"));
  tie.winner.reset();
  const View none = variants_view(std::vector{tie});
  EXPECT_THAT(none.text, HasSubstr("no variant has a time"));
  EXPECT_TRUE(none.data["problems"][0]["winner"].is_null());
  EXPECT_EQ(none.data["problems"][0]["winner_reason"], "no variant has a time");
}

}  // namespace
}  // namespace halmark::report
