// What is shown of an attribution: lines of equal rows, their sums and shares, the filter, and the
// documents that are written of them.
#include <gmock/gmock.h>

#include "core/json/json.hpp"
#include "tests/unit/expect.hpp"
#include "trace_text.hpp"

#include "core/text/error.hpp"
#include "model/spec/model_spec.hpp"
#include "profile/comparison/model_comparison.hpp"
#include "profile/comparison/trace_view.hpp"

namespace halmark::trace_test {
namespace {

using testing::ElementsAre;

// Two steps: a prefill with two layers and work outside of them, then a decode step.
TraceText two_steps() {
  TraceText t;
  t.annotation("ProfilerStep#7", 0, 100).annotation("prefill", 1, 90);
  t.annotation("model.layers.0.mlp.down_proj", 2, 20);
  t.op("aten::mm", 3, 5, "[[4, 8], [8, 16]]").launch(41, 4);
  t.op("aten::mm", 10, 7, "[[2, 8], [8, 16]]").launch(42, 11).launch(43, 12);
  t.annotation("model.layers.1.mlp.down_proj", 22, 18).op("aten::mm", 24, 6, "[[4, 8], [9, 16]]");
  t.op("mylib::fused", 45, 4).launch(44, 46).op("aten::add", 50, 2);
  t.annotation("ProfilerStep#8", 100, 100).annotation("decode", 101, 80);
  t.annotation("model.layers.0.mlp.down_proj", 102, 20);
  t.op("aten::mm", 103, 3, "[[1, 8], [8, 16]]").launch(45, 104);
  return t;
}

TraceText with_kernels() {
  TraceText t = two_steps();
  t.kernel("a", 41, 300, 20).kernel("b", 42, 330, 8).kernel("c", 43, 340, 2);
  t.kernel("d", 44, 350, 5).kernel("e", 45, 360, 10).kernel("lost", 99, 380, 5);
  return t;
}

std::string text_of(const TraceLine& line) {
  const auto us = [](std::int64_t ns) { return std::to_string(ns / 1000); };
  std::string out(stage_name(line.stage));
  out += ' ' + std::to_string(line.layer) + ' ' + line.operator_name + ' ' + line.category + " x" +
         std::to_string(line.count) + " k" + std::to_string(line.kernels) + " host " +
         us(line.host_ns) + " device " + us(line.device_ns) + ' ';
  out += line.flops ? std::to_string(static_cast<long>(*line.flops)) : line.flops_reason;
  return out + (line.is_unexplained ? " unexplained" : "") +
         (line.should_be_known() ? "" : " no FLOPs");
}

std::vector<std::string> lines_of(const TraceView& view) {
  std::vector<std::string> out;
  for (const TraceLine& line : view.lines) out.push_back(text_of(line));
  return out;
}

TEST(TraceView, equal_rows_are_one_line_in_the_order_of_stages_and_layers) {
  const Read r = read_text(with_kernels().text());
  const TraceView view = trace_view(r.recording, r.attribution, {});
  EXPECT_THAT(lines_of(view), ElementsAre("prefill -1 mylib::fused unknown x1 k1 host 4 device 5 "
                                          "no formula for this operator unexplained",
                                          "prefill -1 aten::add elementwise x1 k0 host 2 device 0 "
                                          "no matrix product no FLOPs",
                                          "prefill 0 aten::mm matmul x2 k3 host 12 device 30 1536",
                                          "prefill 1 aten::mm matmul x1 k0 host 6 device 0 "
                                          "the inner sizes of its matrices differ unexplained",
                                          "decode 0 aten::mm matmul x1 k1 host 3 device 10 256"));
  EXPECT_EQ(view.known_flops, 1536 + 256);
  EXPECT_EQ(view.unknown_count, 2u);
  std::vector<double> shares;
  for (const TraceLine& line : view.lines) shares.push_back(line.share);
  EXPECT_THAT(shares, ElementsAre(5. / 50, 0, 30. / 50, 0, 10. / 50));
  EXPECT_EQ(view.lines[2].path, "model.layers.0.mlp.down_proj");
}

TEST(TraceView, without_a_device_shares_are_those_of_the_host) {
  const Read r = read_text(two_steps().text());
  EXPECT_EQ(r.attribution.host_ns, 27000);
  const TraceView view = trace_view(r.recording, r.attribution, {});
  std::vector<double> shares;
  for (const TraceLine& line : view.lines) shares.push_back(line.share);
  EXPECT_THAT(shares, ElementsAre(4. / 27, 2. / 27, 12. / 27, 6. / 27, 3. / 27));
}

TEST(TraceView, one_execution_without_a_figure_takes_that_of_its_line) {
  for (const bool is_unknown_first : {true, false}) {
    TraceText t;
    t.annotation("model.layers.0.mlp.down_proj", 0, 90);
    t.op("aten::mm", is_unknown_first ? 2 : 20, 5, "[[4, 8], [9, 16]]");
    t.op("aten::mm", 10, 5, "[[4, 8], [8, 16]]");
    const Read r = read_text(t.text());
    const TraceView view = trace_view(r.recording, r.attribution, {});
    ASSERT_EQ(view.lines.size(), 1u);
    EXPECT_EQ(view.lines[0].flops, std::nullopt);
    EXPECT_EQ(view.lines[0].flops_reason, "the inner sizes of its matrices differ");
    EXPECT_EQ(view.unknown_count, 2u);
    EXPECT_EQ(view.known_flops, 0);
  }
}

TEST(TraceView, the_filter_leaves_what_it_names) {
  const Read r = read_text(with_kernels().text());
  const auto count = [&](const TraceFilter& filter) {
    return trace_view(r.recording, r.attribution, filter).lines.size();
  };
  EXPECT_EQ(count({}), 5u);
  EXPECT_EQ(count({.stage = TraceStage::decode}), 1u);
  EXPECT_EQ(count({.stage = TraceStage::prefill}), 4u);
  EXPECT_EQ(count({.category = "matmul"}), 3u);
  EXPECT_EQ(count({.category = "unknown"}), 1u);
  EXPECT_EQ(count({.category = "attention"}), 0u);
  // A choice of layers leaves no work outside of them; every layer is no choice.
  EXPECT_EQ(count({.layers = {.first = 0, .last = 0}}), 2u);
  EXPECT_EQ(count({.layers = {.first = 1, .last = 1}}), 1u);
  EXPECT_EQ(count({.layers = {.first = 0, .last = 1}}), 3u);
  EXPECT_EQ(count({.layers = {.first = 1}}), 1u);
  EXPECT_EQ(count({.layers = {.first = 2, .last = 9}}), 0u);
  // Lines of unknown FLOPs stay, they may have any number; lines without products go.
  EXPECT_EQ(count({.flops_min = 0.5}), 4u);
  EXPECT_EQ(count({.flops_min = 256}), 4u);
  EXPECT_EQ(count({.flops_min = 257}), 3u);
  EXPECT_EQ(count({.flops_min = 1536}), 3u);
  EXPECT_EQ(count({.flops_min = 1537}), 2u);
  const TraceView one = trace_view(r.recording, r.attribution, {.stage = TraceStage::decode});
  EXPECT_EQ(one.known_flops, 256);
  EXPECT_EQ(one.unknown_count, 0u);
}

TEST(TraceJson, a_trace_is_written_whole) {
  const Read r = read_text(with_kernels().text());
  const TraceView view =
      trace_view(r.recording, r.attribution, {.layers = {.first = 0, .last = 1}});
  Json out = trace_json(r.recording, r.attribution, view);
  EXPECT_THAT(out, test::HasValues(R"({"/trace/file": "t.json", "/trace/operators": 6,
      "/trace/has_shapes": true, "/trace/has_modules": false, "/passes": [ {"step": 7,
      "stage": "prefill", "stage_source": "annotation", "begin_us": 0.0, "duration_us": 100.0},
      {"step": 8, "stage": "decode", "stage_source": "annotation", "begin_us": 100.0,
      "duration_us": 100.0}], "/rows": [ {"stage": "prefill", "layer": 0,
      "module": "model.layers.0.mlp.down_proj", "operator": "aten::mm", "category": "matmul",
      "dtype": null, "count": 2, "captured": 0, "matmul_flops": 1536.0, "host_us": 12.0,
      "device_us": 30.0, "kernels": 3, "share": 0.6}, {"stage": "prefill", "layer": 1,
      "module": "model.layers.1.mlp.down_proj", "operator": "aten::mm", "category": "matmul",
      "dtype": null, "count": 1, "captured": 0, "matmul_flops": null, "host_us": 6.0,
      "device_us": 0.0, "kernels": 0, "share": 0.0,
      "matmul_flops_reason": "the inner sizes of its matrices differ"}, {"stage": "decode",
      "layer": 0, "module": "model.layers.0.mlp.down_proj", "operator": "aten::mm",
      "category": "matmul", "dtype": null, "count": 1, "captured": 0, "matmul_flops": 256.0,
      "host_us": 3.0, "device_us": 10.0, "kernels": 1, "share": 0.2}],
      "/summary": {"matmul_flops": 1792.0, "unknown_executions": 1, "host_us": 27.0},
      "/device": {"kernels": 6, "assigned_us": 45.0, "ambiguous_us": 0.0, "unlinked_us": 5.0,
      "total_us": 50.0, "graph_replays": 0, "unexplained_replays": 0},
      "/unexplained": [{"operator": "aten::mm", "module": "model.layers.1.mlp.down_proj",
      "count": 1, "reason": "the inner sizes of its matrices differ"}]})"));
  EXPECT_EQ(out["trace"]["bytes"], with_kernels().text().size());
}

TEST(TraceJson, work_outside_of_layers_and_steps_has_none) {
  const Read r = read_text(
      TraceText().annotation("decode", 0, 50).op("aten::mm", 3, 5, "[[4, 8], [8, 16]]").text());
  const Json out =
      trace_json(r.recording, r.attribution, trace_view(r.recording, r.attribution, {}));
  EXPECT_THAT(out, test::HasValues(R"({"/passes/0/step": null, "/rows/0/layer": null})"));
}

ModelSpec tiny() { return load_model(data_file("tiny-qwen3.json"), {}); }

Read tiny_trace() {
  const auto source = open_bytes(data_file("tiny-qwen3-sdpa.trace.json.gz"));
  return read_bytes(*source);
}

ComparedModel compared(const ModelSpec& spec) { return {spec, {"m", {}, {"f32"}, {}}}; }

TEST(ModelComparison, every_pass_is_compared_at_the_sizes_that_it_shows) {
  const Read r = tiny_trace();
  const ModelSpec spec = tiny();
  const ModelComparison all = compare_model(r.recording, r.attribution, compared(spec), {});
  EXPECT_TRUE(all.is_equal());
  ASSERT_EQ(all.passes.size(), 2u);
  EXPECT_EQ(all.passes[0].pass, 0u);
  EXPECT_EQ(all.passes[1].pass, 1u);
  EXPECT_EQ(all.passes[0].workload->new_tokens, 16);
  EXPECT_EQ(all.passes[1].workload->context, 17);
  EXPECT_EQ(all.comparison.rows.size(), 2u * 19);
  EXPECT_EQ(all.comparison.rows.front().pass, 0u);
  EXPECT_EQ(all.comparison.rows.back().pass, 1u);
  const ModelComparison decode =
      compare_model(r.recording, r.attribution, compared(spec), {.stage = TraceStage::decode});
  ASSERT_EQ(decode.passes.size(), 1u);
  EXPECT_EQ(decode.passes[0].pass, 1u);
  EXPECT_EQ(decode.comparison.rows.size(), 19u);
  const ModelComparison layer = compare_model(r.recording, r.attribution, compared(spec),
                                              {.layers = {.first = 1, .last = 1}});
  EXPECT_EQ(layer.comparison.rows.size(), 2u * 6);
  for (const ComparedRow& row : layer.comparison.rows) EXPECT_EQ(row.layer, 1);
}

TEST(ModelComparison, given_sizes_are_those_of_the_passes_of_their_phase) {
  const Read r = tiny_trace();
  const ModelSpec spec = tiny();
  ComparedModel model = compared(spec);
  model.has_workload = true;
  model.configuration.workload = {
      .phase = Phase::decode, .batch = 2, .new_tokens = 1, .context = 17};
  const ModelComparison given = compare_model(r.recording, r.attribution, model, {});
  ASSERT_EQ(given.passes.size(), 2u);
  EXPECT_EQ(given.passes[0].reason, "is prefill, decode was asked for");
  EXPECT_EQ(given.passes[1].reason, "");
  EXPECT_TRUE(given.is_equal());
  model.configuration.workload.context = 18;
  const ModelComparison other = compare_model(r.recording, r.attribution, model, {});
  EXPECT_FALSE(other.is_equal());
  EXPECT_EQ(other.comparison.count(Verdict::mismatch), 3u);
  model.tolerance = 0.06;  // 17 of 18 keys: 5.6 % less than the model
  EXPECT_TRUE(compare_model(r.recording, r.attribution, model, {}).is_equal());
}

TEST(ModelComparison, a_trace_of_which_nothing_can_be_compared_is_refused) {
  const Read r = read_text(two_steps().text());
  const ModelSpec spec = tiny();
  test::expect_error([&] { compare_model(r.recording, r.attribution, compared(spec), {}); },
                     "no pass of the trace can be compared", ExitCode::refused);
  const Read real = tiny_trace();
  EXPECT_THROW(
      compare_model(real.recording, real.attribution, compared(spec), {.stage = TraceStage::mixed}),
      Error);
}

TEST(ModelComparison, unexplained_work_and_faulty_rows_are_no_equality) {
  ModelComparison c;
  EXPECT_TRUE(c.is_equal());
  c.comparison.rows.push_back({.verdict = Verdict::ok});
  c.comparison.work.push_back({.operator_name = "a", .explanation = "norm", .count = 3});
  EXPECT_TRUE(c.is_equal());
  ModelComparison unexplained = c;
  unexplained.comparison.work.push_back({.operator_name = "b", .count = 2});
  EXPECT_FALSE(unexplained.is_equal());
  EXPECT_EQ(unexplained.comparison.unexplained(), 2u);
  c.comparison.rows.push_back({.verdict = Verdict::missing_in_trace});
  EXPECT_FALSE(c.is_equal());
}

TEST(ComparisonJson, rows_and_work_are_written_whole) {
  Comparison c;
  c.rows.push_back({.pass = 1,
                    .layer = 2,
                    .operators = "q_proj",
                    .sources = {"a.b aten::mm x1"},
                    .trace_flops = 12,
                    .model_flops = 16,
                    .scaled_flops = 24,
                    .whole_flops = 32,
                    .verdict = Verdict::mismatch,
                    .note = "n"});
  c.rows.push_back(
      {.operators = "lm_head", .model_flops = 5, .verdict = Verdict::missing_in_trace});
  c.work.push_back({.operator_name = "aten::add", .explanation = "norm", .path = "p", .count = 4});
  c.work.push_back({.operator_name = "x", .path = "", .count = 2});
  EXPECT_EQ(comparison_json(c), Json::parse(R"({"rows": [
    {"pass": 1, "layer": 2, "operator": "q_proj", "sources": ["a.b aten::mm x1"],
     "trace_flops": 12.0, "model_flops": 16.0, "scaled_flops": 24.0, "whole_flops": 32.0,
     "verdict": "mismatch", "note": "n"},
    {"pass": 0, "layer": null, "operator": "lm_head", "sources": [], "trace_flops": null,
     "model_flops": 5.0, "scaled_flops": null, "whole_flops": null,
     "verdict": "missing in trace", "note": ""}],
    "verdicts": {"ok": 0, "mismatch": 1, "missing in trace": 1, "not in model": 0, "unknown": 0},
    "work": [{"operator": "aten::add", "count": 4, "explained_by": "norm", "first_module": "p"},
             {"operator": "x", "count": 2, "explained_by": null, "first_module": ""}],
    "unexplained": 2})"));
}

}  // namespace
}  // namespace halmark::trace_test
