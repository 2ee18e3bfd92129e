#include <gmock/gmock.h>

#include <regex>
#include <set>

#include "core/json/json.hpp"
#include "export/engine/launch_text.hpp"
#include "export/engine/own_steps.hpp"
#include "export/exchange/exchange.hpp"
#include "tests/checkout.hpp"
#include "tests/unit/expect.hpp"
#include "tests/unit/export/small_deployment.hpp"

namespace halmark::exports {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

// The point of small_deployment: 64 sequences, 10 ms a token forecast.
EngineImport imported(const std::string& engine, const std::string& model, std::int64_t batch) {
  return {.tool = "vllm-bench",
          .file = "r.json",
          .file_sha256 = "0123456789abcdef",
          .imported_utc = {},
          .steps = {{.engine = engine,
                     .model_id = model,
                     .device = "GPU",
                     .phase = "decode",
                     .batch = batch,
                     .input_tokens = 1000,
                     .output_tokens = 24,
                     .step_ns = 1.5e7,
                     .deviation_ns = 1e5}}};
}

std::vector<std::string> lines(const EngineImport& import) {
  const Deployment d = test::small_deployment({});
  return own_step_lines(d, "vllm", own_steps(d, "vllm", {&import, 1}));
}

TEST(OwnSteps, without_one_the_forecast_is_said_to_be_none_of_the_engine) {
  Deployment d = test::small_deployment({});
  EXPECT_THAT(own_step_lines(d, "vllm", {}), ElementsAre(HasSubstr("no forecast of vllm")));
  d.forecast_engine = "vllm";
  EXPECT_THAT(own_step_lines(d, "vllm", {}),
              ElementsAre(testing::StartsWith("a forecast of vllm")));
  EXPECT_THAT(own_step_lines(d, "sglang", {}), ElementsAre(HasSubstr("no forecast of sglang")));
  EXPECT_THAT(lines(imported("sglang", "small", 64)), ElementsAre(HasSubstr("no forecast of")));
  EXPECT_THAT(lines(imported("vllm", "other", 64)), ElementsAre(HasSubstr("no forecast of")));
}

TEST(OwnSteps, one_of_the_point_stands_beside_its_forecast_with_origin_and_ratio) {
  const auto out = lines(imported("vllm", "small", 64));
  ASSERT_EQ(out.size(), 1u);
  EXPECT_THAT(out[0],
              test::has_all({"imported from vllm-bench, r.json (sha256 0123456789ab), version "
                             "not stated",
                             "decode, batch 64, 1000 prompt + 24 generated: 15.0 ms",
                             "forecast here 10.0 ms, the engine needs 1.50 times that"}));
  EXPECT_THAT(out[0], Not(HasSubstr("no forecast")));
}

TEST(OwnSteps, one_of_another_batch_is_shown_and_compared_with_nothing) {
  EXPECT_THAT(lines(imported("vllm", "small", 8)),
              ElementsAre(HasSubstr("no forecast of vllm"),
                          testing::AllOf(HasSubstr("batch 8"), Not(HasSubstr("times that")))));
}

TEST(OwnSteps, one_of_other_lengths_or_of_an_unknown_device_is_compared_with_nothing) {
  EngineImport import = imported("vllm", "small", 64);
  import.steps[0].input_tokens = 2000;
  EXPECT_THAT(lines(import).back(), Not(HasSubstr("times that")));
  import.steps[0].input_tokens = 1050;
  EXPECT_THAT(lines(import).back(), HasSubstr("times that"));
  import.steps[0].device.clear();
  EXPECT_THAT(lines(import).back(),
              testing::AllOf(HasSubstr("on what is not stated"), Not(HasSubstr("times that"))));
}

TEST(OwnSteps, of_decode_the_context_is_that_of_the_point) {
  Deployment d = test::small_deployment({});
  d.point.configuration.served.reset();
  d.point.configuration.workload = {
      .phase = Phase::decode, .batch = 64, .new_tokens = 1, .context = 512};
  d.point.estimate = Estimate{.step_ns = 3e7};
  EngineImport import = imported("vllm", "small", 64);
  import.steps[0].input_tokens = 0;
  EXPECT_FALSE(own_steps(d, "vllm", {&import, 1})[0].is_of_point);  // 24 tokens behind nothing
  import.steps[0].cached_tokens = 480;
  EXPECT_TRUE(own_steps(d, "vllm", {&import, 1})[0].is_of_point);
}

TEST(OwnSteps, of_a_step_the_same_kind_is_compared) {
  Deployment d = test::small_deployment({});
  d.point.configuration.served.reset();
  d.point.configuration.workload = {
      .phase = Phase::prefill, .batch = 64, .new_tokens = 512, .context = 512};
  d.point.estimate = Estimate{.step_ns = 3e7};
  EngineImport import = imported("vllm", "small", 64);
  EXPECT_FALSE(own_steps(d, "vllm", {&import, 1})[0].is_of_point);
  import.steps[0].phase = "prefill";
  import.steps[0].input_tokens = 512;
  const auto own = own_steps(d, "vllm", {&import, 1});
  EXPECT_TRUE(own[0].is_of_point);
  EXPECT_DOUBLE_EQ(own_steps_json(own)[0]["times_forecast"].get<double>(), 0.5);
}

TEST(OwnSteps, a_script_has_their_lines_and_no_second_sentence) {
  const Deployment d = test::small_deployment({});
  Launch l = test::launch(d, "vllm", "0.20.1");
  EXPECT_THAT(launch_files(d, l).front().text, HasSubstr("# no forecast of vllm"));
  const EngineImport import = imported("vllm", "small", 64);
  l.own_lines = own_step_lines(d, "vllm", own_steps(d, "vllm", {&import, 1}));
  const std::string script = launch_files(d, l).front().text;
  EXPECT_THAT(script, HasSubstr("# vllm itself: decode"));
  EXPECT_THAT(script, Not(HasSubstr("no forecast of vllm")));
}

Measurement measured(double wall_s) {
  Measurement out;
  out.kernel_case.problem.op = "gemm";
  out.one_time = {.create_ns = 100, .first_ns = 200};
  out.samples = {{.wall_ns = 10}, {.wall_ns = 20}};
  out.repeat = 4;
  out.wall_s = wall_s;
  return out;
}

TEST(Timeline, rows_follow_each_other_with_their_parts_inside) {
  const std::vector<Measurement> rows = {measured(1e-6), measured(0)};
  const TimelineGroup group = measuring_timeline(rows);
  ASSERT_EQ(group.tracks.size(), 1u);
  const std::vector<Slice>& slices = group.tracks[0].slices;
  ASSERT_EQ(slices.size(), 2u);
  EXPECT_EQ(slices[0].duration_ns, 1000);
  EXPECT_EQ(slices[1].begin_ns, 1000);
  // Not shorter than its parts: 100 + 200 + 4 x (10 + 20).
  EXPECT_EQ(slices[1].duration_ns, 420);
  ASSERT_EQ(slices[1].inside.size(), 3u);  // nothing was packed
  EXPECT_EQ(slices[1].inside[2].name, "samples");
  EXPECT_EQ(slices[1].inside[2].begin_ns, 1300);
  EXPECT_EQ(slices[1].inside[2].duration_ns, 120);
}

TEST(Timeline, kernels_without_a_latency_have_no_slice) {
  RunReport report;
  KernelPoint fast{.key = "a", .op = "gemm", .status = Status::ok};
  fast.duration_ns = 2000;
  KernelPoint late = fast;
  late.op = "copy", late.duration_ns = 10;
  report.kernels = {fast, {.key = "b", .op = "rope", .status = Status::out_of_memory}, late};
  const TimelineGroup group = kernel_timeline(report);
  ASSERT_EQ(group.tracks.size(), 2u);
  EXPECT_EQ(group.tracks[1].name, "copy");
  EXPECT_EQ(group.tracks[1].slices[0].begin_ns, 2000);
}

TEST(Timeline, a_step_has_its_operators_by_layer) {
  Evaluation e;
  Estimate estimate;
  estimate.step_ns = 60;
  estimate.operators = {{.name = "qkv", .layer_type = "decoder", .count = 2, .ns = 10},
                        {.name = "out", .layer_type = "decoder", .count = 2, .ns = 20},
                        {.name = "free", .layer_type = "decoder", .count = 1, .ns = 0},
                        {.name = "lm_head", .layer_type = "head", .count = 1, .ns = 30}};
  e.estimate = estimate;
  const std::vector<TimelineGroup> groups = front_timeline({.points = {e}});
  ASSERT_EQ(groups.size(), 1u);
  ASSERT_EQ(groups[0].tracks.size(), 2u);
  const std::vector<Slice>& layers = groups[0].tracks[1].slices;
  ASSERT_EQ(layers.size(), 2u);
  EXPECT_EQ(layers[0].inside.size(), 2u);
  EXPECT_EQ(layers[0].duration_ns, 30);
  EXPECT_EQ(layers[1].begin_ns, 30);
  EXPECT_EQ(layers[1].inside[0].begin_ns, 30);
}

// By hand, from the encoding of protobuf: a group, a track in it, one slice from 0 to 5 ns.
TEST(Perfetto, a_slice_is_these_bytes) {
  MetricTable table;
  table.timeline = {
      {.name = "g",
       .tracks = {{.name = "t", .slices = {{.name = "s", .category = "", .duration_ns = 5.4}}}}},
      {.name = "empty", .tracks = {}}};
  const std::string expected(
      "\x0a\x0a\xe2\x03\x05\x08\x01\x12\x01g\x50\x01"
      "\x0a\x0c\xe2\x03\x07\x08\x02\x12\x01t\x28\x01\x50\x01"
      "\x0a\x0e\x40\x00\x5a\x08\x48\x01\x58\x02\xba\x01\x01s\x50\x01"
      "\x0a\x0a\x40\x05\x5a\x04\x48\x02\x58\x02\x50\x01",
      12 + 14 + 16 + 12);
  EXPECT_EQ(perfetto_trace(table), expected);
}

TEST(Otlp, figures_without_a_time_are_refused) {
  test::expect_error([] { otlp_text({.rows = {{.name = "a"}}}); }, "--as csv", ExitCode::refused);
}

// The dashboard in configs/grafana against the names that the Prometheus export writes.

std::set<std::string> names_in(const std::string& text, const std::string& pattern) {
  const std::regex name(pattern);
  std::set<std::string> out;
  for (std::sregex_iterator it(text.begin(), text.end(), name), end; it != end; ++it) {
    out.insert((*it)[1]);
  }
  return out;
}

// Of every figure that a kernel and a point can have.
std::set<std::string> exported() {
  MetricTable kernels{.is_of_kernels = true}, points;
  kernels.rows.push_back({.name = "k",
                          .metrics = {{.name = "duration_ns", .value = 1},
                                      {.name = "flops_per_s", .value = 1},
                                      {.name = "bytes_per_s", .value = 1},
                                      {.name = "mfu_ratio", .value = 1}}});
  points.rows.push_back({.name = "p"});
  for (const ObjectiveRow& row : objective_rows()) {
    points.rows[0].metrics.push_back({.name = metric_name(row), .value = 1});
  }
  return names_in(prometheus_text(kernels) + prometheus_text(points), "# TYPE (\\w+) gauge");
}

TEST(Dashboard, asks_for_every_metric_that_is_exported_and_for_no_other) {
  const Json document = read_json_file(test::in_source("/configs/grafana/halmark.json"));
  std::set<std::string> asked;
  for (const Json& panel : document["panels"]) {
    if (panel["type"] == "row") continue;
    for (const Json& target : panel["targets"]) {
      for (const std::string& name :
           names_in(target["expr"].get<std::string>(), "(halmark_\\w+)\\{")) {
        EXPECT_TRUE(asked.insert(name).second) << name << " has two panels";
      }
    }
  }
  EXPECT_EQ(asked, exported());
}

TEST(Dashboard, filters_by_labels_that_the_export_has) {
  const Json document = read_json_file(test::in_source("/configs/grafana/halmark.json"));
  MetricTable table{.is_of_kernels = true};
  table.rows.push_back({.name = "k", .metrics = {{.name = "duration_ns", .value = 1}}});
  const std::set<std::string> labels = names_in(prometheus_text(table), "(\\w+)=\"");
  for (const Json& panel : document["panels"]) {
    if (panel["type"] == "row") continue;
    const auto used = names_in(panel["targets"][0]["expr"].get<std::string>(), "(\\w+)=~");
    EXPECT_FALSE(used.empty());
    for (const std::string& label : used) EXPECT_TRUE(labels.contains(label)) << label;
  }
}

}  // namespace
}  // namespace halmark::exports
