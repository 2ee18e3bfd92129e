// One decoder layer for benchmark_app: which steps have one, how the app is found and asked, and
// what becomes of its report.
#include "deploy/engine/openvino_layer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "core/text/error.hpp"
#include "deploy/engine/benchmark_app.hpp"
#include "small_model.hpp"
#include "tests/scoped_environment.hpp"
#include "tests/unit/error_of.hpp"
#include "tests/unit/export/small_deployment.hpp"

namespace halmark::deploy {
namespace {

using test::small_model;
using testing::HasSubstr;
using testing::StartsWith;

Configuration step(Dtype weights = Dtype::bf16) {
  Configuration c{.model = "small"};
  c.precision = Precision::uniform("p", weights);
  c.workload = {.phase = Phase::decode, .batch = 3, .new_tokens = 1, .context = 40};
  return c;
}

std::string refusal(const std::function<void(ModelSpec&, Configuration&)>& change) {
  ModelSpec spec = small_model();
  Configuration c = step();
  change(spec, c);
  try {
    layer_of(spec, c);
  } catch (const Error& error) {
    return error.what();
  }
  return "a layer";
}

TEST(OpenVinoLayer, has_the_sizes_of_model_and_step) {
  const exports::DecoderLayer l = layer_of(small_model(), step());
  EXPECT_EQ(l.hidden, 64);
  EXPECT_EQ(l.heads, 4);
  EXPECT_EQ(l.kv_heads, 2);
  EXPECT_EQ(l.head_dim, 32);
  EXPECT_EQ(l.intermediate, 96);
  EXPECT_TRUE(l.qk_norm);
  EXPECT_FALSE(l.qkv_bias);
  EXPECT_EQ(l.weights, Dtype::bf16);
  EXPECT_EQ(l.batch, 3);
  EXPECT_EQ(l.new_tokens, 1);
  EXPECT_EQ(l.context, 40);
}

TEST(OpenVinoLayer, is_of_a_dense_step_on_one_device) {
  const std::string what = "no layer of it is written as OpenVINO IR: it has ";
  EXPECT_EQ(refusal([](ModelSpec&, Configuration&) {}), "a layer");
  EXPECT_EQ(refusal([](ModelSpec&, Configuration& c) { c = step(Dtype::f32); }), "a layer");
  EXPECT_EQ(refusal([](ModelSpec& s, Configuration&) { s.has_sinks = true; }),
            what + "gates, sinks or positions");
  EXPECT_EQ(refusal([](ModelSpec& s, Configuration&) { s.rotary_dim = 16; }),
            what + "heads that are rotated in part");
  EXPECT_EQ(refusal([](ModelSpec&, Configuration& c) { c.served.emplace(); }),
            what + "requests, not a step");
  EXPECT_EQ(refusal([](ModelSpec&, Configuration& c) { c.parallel.tp = 2; }), what + "2 devices");
  for (Dtype Precision::*const field : {&Precision::ffn, &Precision::qkv, &Precision::output}) {
    EXPECT_EQ(refusal([&](ModelSpec&, Configuration& c) { c.precision.*field = Dtype::s8; }),
              what + "weights of p");
  }
  EXPECT_EQ(refusal([](ModelSpec&, Configuration& c) { c = step(Dtype::f16); }),
            what + "weights of p");
}

TEST(OpenVinoLayer, is_exported_beside_the_command_that_times_it) {
  const test::ScratchFolder folder;
  for (const std::string& name : {folder / "a", folder / "a.xml"}) {
    const report::View view = exported_layer(small_model(), step(), name);
    EXPECT_EQ(view.data["written"], Json::array({folder / "a.xml", folder / "a.bin"}));
    EXPECT_EQ(view.data["layers_of_model"], 2);
    const std::string run = "benchmark_app -m " + (folder / "a.xml") +
                            " -d CPU -api sync -hint latency -infer_precision bf16";
    EXPECT_EQ(view.data["command"], run);
    EXPECT_EQ(view.text, "written: " + (folder / "a.xml") + "\nwritten: " + (folder / "a.bin") +
                             "\none of the 2 layers of " + step().key() +
                             ", random weights; time it with\n  " + run + '\n');
    EXPECT_TRUE(std::filesystem::exists(folder / "a.xml"));
    EXPECT_TRUE(std::filesystem::exists(folder / "a.bin"));
  }
  for (const std::string& none :
       {std::string(), std::string(".xml"), folder.path().string() + "/"}) {
    EXPECT_THAT(test::error_of([&] { exported_layer(small_model(), step(), none); }).line(),
                StartsWith("--out: no file is named for the IR"));
  }
}

TEST(BenchmarkAppProgram, is_the_first_executable_of_its_folders) {
  const test::ScratchFolder folder;
  const std::string a = folder / "a", b = folder / "b", c = folder / "c";
  for (const std::string& each : {a, b, c}) std::filesystem::create_directory(each);
  test::write_file(a + "/benchmark_app", "not executable");
  test::write_program(c + "/benchmark_app", "#!/bin/sh\n");
  std::filesystem::create_directory(b + "/benchmark_app");
  EXPECT_EQ(benchmark_app(c), c + "/benchmark_app");
  EXPECT_EQ(benchmark_app(a + ':' + b + ':' + c), c + "/benchmark_app");
  const Error named = test::error_of([&] { benchmark_app(b); });
  EXPECT_EQ(named.exit_code(), ExitCode::unfit);
  EXPECT_EQ(named.line(), "there is no program benchmark_app in " + b +
                              "; pip install openvino, --engine the folder bin of that Python "
                              "environment");
  const test::ScopedVariable both("PATH", a + ':' + c);
  EXPECT_EQ(benchmark_app(""), c + "/benchmark_app");
  const test::ScopedVariable unfit("PATH", a);
  EXPECT_THAT(test::error_of([] { benchmark_app(""); }).line(), HasSubstr("in PATH; pip install"));
}

Deployment point() {
  Deployment out = test::small_deployment({});
  out.point.configuration = step();
  out.point.served.reset();
  out.point.estimate = Estimate{.step_ns = 9e6};
  // 4 ms of decoder layers; what stands beside them is no part of one.
  for (const auto& [type, ns] : {std::pair{"decoder", 3e6}, {"decoder", 1e6}, {"head", 5e6}}) {
    OperatorShare share;
    share.layer_type = type;
    share.ns = ns;
    out.point.estimate->operators.push_back(share);
  }
  return out;
}

// Writes a report as the app does: figures in ms.
const std::string app = R"sh(#!/bin/sh
echo "$@" > "$(dirname "$0")/asked"
while [ "$1" != -report_folder ]; do
  if [ "$1" = -m ]; then cp "$2" "$(dirname "$0")/model.xml"; fi
  shift
done
cat > "$2/benchmark_report.json" <<END
{"configuration_setup": {"topology": "layer", "target_device": "CPU", "precision": "", "batch_size": 3},
 "execution_results": {"iterations_num": 50, "latency_avg": 3.0, "latency_min": 2.5, "latency_max": 4.0}}
END
)sh";

CheckedLayer checked(const test::ScratchFolder& folder, const std::string& text) {
  test::write_program(folder / "benchmark_app", text);
  return check_layer(small_model(), point(), folder / "benchmark_app", {});
}

TEST(CheckedLayer, is_timed_by_the_app_and_stands_beside_its_prediction) {
  const test::ScratchFolder folder;
  const CheckedLayer layer = checked(folder, app);
  EXPECT_EQ(layer.predicted_ns, 2e6) << "4 ms over two layers";
  EXPECT_EQ(layer.predicted_from, "roofline");
  EXPECT_EQ(layer.point_name, "point 1 of 1");
  EXPECT_EQ(layer.key, step().key());
  EXPECT_EQ(layer.measured.step_ns, 3e6);
  EXPECT_EQ(layer.measured.samples, 50);
  EXPECT_EQ(layer.measured.model_id, "small");
  EXPECT_EQ(layer.measured.precision, "bf16");
  const std::string asked = test::file_bytes(folder / "asked");
  EXPECT_THAT(asked, testing::ContainsRegex("^-m .*/layer.xml -d CPU -api sync -hint latency "
                                            "-infer_precision bf16 -t 5 -report_type no_counters "
                                            "-json_stats -report_folder "));
  EXPECT_EQ(layer.command + '\n', "benchmark_app " + asked);
  EXPECT_THAT(test::file_bytes(folder / "model.xml"), HasSubstr("<net "));
  const std::string report_folder = asked.substr(asked.rfind(' ') + 1);
  EXPECT_FALSE(std::filesystem::exists(report_folder.substr(0, report_folder.size() - 1)))
      << "what was written goes with it";

  const report::View view = layer_view(layer);
  EXPECT_EQ(view.data["predicted_layer_ns"], 2e6);
  EXPECT_EQ(view.data["measured_over_predicted"], 1.5);
  EXPECT_EQ(view.data["command"], layer.command);
  EXPECT_THAT(view.text, HasSubstr("2.00 ms"));
  EXPECT_THAT(view.text, HasSubstr("3.00 ms"));
  EXPECT_THAT(view.text, HasSubstr("2.50 ms"));
  EXPECT_THAT(view.text, HasSubstr("1.5"));
  EXPECT_THAT(view.text, HasSubstr("\npoint 1 of 1; random weights\n  benchmark_app -m "));
}

TEST(CheckedLayer, without_a_prediction_has_no_ratio) {
  CheckedLayer layer{.point_name = "p", .key = "k", .measured = {.step_ns = 3e6, .samples = 7}};
  const report::View view = layer_view(layer);
  EXPECT_TRUE(view.data["predicted_layer_ns"].is_null());
  EXPECT_TRUE(view.data["measured_over_predicted"].is_null());
  EXPECT_THAT(view.text, testing::ContainsRegex("k +- .* 3.00 ms +3.00 ms +7 +-"))
      << "the mean where there is no least";
}

TEST(CheckedLayer, that_fails_says_it_in_the_words_of_the_app) {
  const test::ScratchFolder folder;
  const Error error = test::error_of(
      [&] { checked(folder, "#!/bin/sh\necho begun\necho 'no such device'\necho ' '\nexit 4\n"); });
  EXPECT_EQ(error.exit_code(), ExitCode::unfit);
  EXPECT_EQ(error.line(), "benchmark_app ended with exit code 4: no such device");
  EXPECT_THAT(test::error_of([&] { checked(folder, "#!/bin/sh\nkill -9 $$\n"); }).line(),
              testing::AllOf(StartsWith("benchmark_app ended with signal 9"),
                             testing::EndsWith(": it said nothing")));
  Deployment none = point();
  none.point.estimate.reset();
  EXPECT_THAT(test::error_of([&] {
                check_layer(small_model(), none, folder / "benchmark_app", {});
              }).line(),
              HasSubstr("it is no step with a time"));
  test::write_program(folder / "benchmark_app", "#!/bin/sh\nsleep 60\n");
  std::stop_source user;
  user.request_stop();
  EXPECT_EQ(test::error_of([&] {
              check_layer(small_model(), point(), folder / "benchmark_app", user.get_token());
            }).exit_code(),
            ExitCode::interrupted);
}

TEST(CheckedLayer, has_its_figures_on_the_right) {
  const CheckedLayer layer{.point_name = "p",
                           .key = "k",
                           .predicted_ns = 1,
                           .predicted_from = "f",
                           .measured = {.step_ns = 2, .least_ns = 1, .samples = 7}};
  EXPECT_THAT(
      layer_view(layer).text,
      StartsWith("one layer of  predicted  from  engine measured    least  calls  engine / "
                 "predicted\n"
                 "k               1.00 ns  f             2.00 ns  1.00 ns      7            "
                 "    2.00\n"));
}

}  // namespace
}  // namespace halmark::deploy
