// TOML to plan, model to operator graph, stored run to report: byte for byte.
#include <cstdlib>
#include <fstream>
#include <utility>

#include "../integration/halmark_fixture.hpp"
#include "../unit/report/synthetic_report.hpp"
#include "golden.hpp"
#include "report/charts/svg.hpp"
#include "report/report.hpp"
#include "report/served_report.hpp"
#include "report/text/quantity.hpp"
#include "tests/checkout.hpp"

namespace halmark::golden {
namespace {

class Golden : public integration::HalmarkTest {
 protected:
  Golden() { gate_as_users_do(); }  // plans have the limits
};

TEST_F(Golden, a_sweep_becomes_the_same_plan) {
  // Named from where the command runs, so that no folder of this machine enters the plan.
  tiny_model();
  write("sweep.toml",
        "name = \"golden\"\nmodel = \"./tiny.json\"\nbackend = \"fake\"\ndtypes = [\"f32\"]\n"
        "strategies = [\"data\", \"tensor\"]\nshards = [1, 2]\nbudget_s = 1000\nseed = 7\n"
        "[[workload]]\nphase = \"decode\"\nbatch = [1, 4]\ncontext = 32\n"
        "[[workload]]\nphase = \"prefill\"\nbatch = 1\nnew_tokens = 16\n"
        "[measure]\nrounds = 2\nsample_budget_s = 0.002\n");
  Json plan = data_of({"tune", "sweep.toml", "--plan"});
  // The time is this machine's; everything else is the sweep's.
  EXPECT_GT(plan["predicted_s"].get<double>(), 0);
  plan.erase("predicted_s");
  EXPECT_GT(plan["memory"]["at_most_bytes"].get<double>(), 0);
  plan["memory"].erase("at_most_bytes");
  EXPECT_TRUE(is_as_expected(reviewable(plan), "plan.json"));
}

TEST_F(Golden, a_model_becomes_the_same_operators) {
  const Json data = data_of({"model", "qwen3-0.6b", "--phase", "decode", "--batch", "8",
                             "--context", "1024", "--tp", "2", "--dtype", "bf16"});
  EXPECT_TRUE(is_as_expected(reviewable(data), "model.json"));
}

// Few enough of each kind to be read: a point of the front of each phase with its validation, what
// is not on the front, what was refused; kernels with and without matmul FLOPs, hostile, and
// failed.
RunReport small_report() {
  RunReport report = test::synthetic_report({.batches = 1, .kernels = 3, .front_per_phase = 1});
  std::vector<Evaluation> kept;
  for (FrontPoint& point : report.front) {
    kept.push_back(report.evaluations[point.evaluation]);
    point.evaluation = kept.size() - 1;
  }
  kept.push_back(report.evaluations.front());
  kept.push_back(report.evaluations.back());
  for (Evaluation& e : kept) {
    if (e.estimate) e.estimate->operators.resize(2);
  }
  report.evaluations = std::move(kept);
  for (Validation& row : report.validations) row.operators.resize(2);
  std::erase_if(report.kernels, [](const KernelPoint& k) {
    return k.op == test::hostile_formula || k.op == test::hostile_escape;
  });
  report.device->peaks.resize(2);
  report.device->bandwidths.resize(1);
  return report;
}

TEST_F(Golden, a_run_becomes_the_same_tables) {
  const RunReport report = small_report();
  EXPECT_TRUE(is_as_expected(reviewable(report_json(report)), "report.json"));
  EXPECT_TRUE(is_as_expected(report_csv(report), "report.csv"));
  EXPECT_TRUE(is_as_expected(report_markdown(report), "report.md"));
  EXPECT_TRUE(is_as_expected(report_text(report, false), "report.txt"));
}

// The page with its pictures: where every mark, label, tick and line is drawn, and how it looks.
TEST(GoldenPage, a_run_becomes_the_same_page) {
  RunReport report = test::synthetic_report({.batches = 2, .kernels = 14, .front_per_phase = 2});
  EXPECT_TRUE(is_as_expected(report_html(report), "page.html"));
}

// Each shape of a data type, alone and in a legend, and axes over ranges that take even steps,
// 1-2-5 and decades.
TEST(GoldenPage, marks_and_axes_have_the_same_shapes) {
  using namespace report;
  const std::vector<std::string> dtypes = {"f32", "bf16", "int8", "f16",
                                           "fp8", "f64",  "tf32", "u4"};
  std::string body, axes;
  double x = 20;
  for (const std::string& dtype : dtypes) {
    body += svg_marker({x, 40}, 8, dtype_look(dtype), "m", dtype);
    x += 30;
  }
  body += svg_error_mark({x, 40}, 8) + svg_text({x, 20}, Anchor::end, "tick", "a < b", 30);
  for (const auto& [low, high] :
       {std::pair(1.3, 2.9), std::pair(3.0, 800.0), std::pair(1e-3, 1e9)}) {
    axes += svg_axes({LogScale(low, high, 60, 590), LogScale(low, high, 380, 10), "x of these",
                      "y of those", compact_text, duration_tick_text});
  }
  EXPECT_TRUE(is_as_expected(dtype_legend(dtypes) + '\n' + svg_picture(600, 440, "shapes", body) +
                                 svg_picture(600, 440, "axes", axes),
                             "shapes.svg"));
}

Configuration served_configuration(int tp, std::int64_t concurrency, ServingMode mode) {
  Configuration out{
      .model = "m", .parallel = {.tp = tp}, .precision = Precision::uniform("bf16", Dtype::bf16)};
  out.served = ServedLoad{
      .request = {512, 64}, .concurrency = concurrency, .token_budget = 2048, .mode = mode};
  if (mode == ServingMode::disaggregated) {
    out.served->prefill = {.tp = 2, .ep = 2};
    out.served->prefill_workers = 3;
    out.served->decode_workers = 2;
  }
  return out;
}

ServedEstimate served_estimate(double ttft_ms, bool has_interval) {
  const auto figures = [&](double factor) {
    ServingFigures f{.ttft_ns = ttft_ms * factor * 1e6,
                     .tpot_ns = ttft_ms * factor * 1e5,
                     .request_ns = ttft_ms * factor * 7.3e6,
                     .requests_per_s = 12.5 / factor,
                     .tokens_per_s = 800 / factor,
                     .tokens_per_s_per_device = 400 / factor,
                     .memory_bytes_per_rank = 3'000'000'000,
                     .memory_bytes = 6'000'000'000};
    f.usd_per_million_tokens = 1.75 * factor;
    return f;
  };
  return {.figures = figures(1),
          .fast = figures(has_interval ? 0.9 : 1),
          .slow = figures(has_interval ? 1.2 : 1),
          .is_saturated = !has_interval,
          .has_interval = has_interval};
}

// A front with and without intervals, both modes, every count, and more rows than a terminal shows.
TEST(GoldenServed, a_search_over_loads_becomes_the_same_tables) {
  ServedReport r{
      .title = "serve | it", .model = "m", .command = "halmark tune s.toml", .tool = "halmark"};
  r.basis = {"device gpu, 80 GB", "roofline of gpu.toml"};
  r.request = {512, 64};
  r.objectives = {Objective::ttft, Objective::tokens_per_s_per_device};
  r.levels = {{.objective = Objective::ttft, .limit = 20e6},
              {.objective = Objective::tokens_per_s_per_device, .limit = 100}};
  r.configurations = 60;
  r.possible = 90;
  r.refused = {{"out_of_memory", 7}};
  r.examples = {{"out_of_memory", "x64 t2048 bf16 tp1: weights and caches take 90 GB"}};
  r.missed = 9;
  r.missed_by = {{Objective::ttft, 5}, {Objective::tokens_per_s_per_device, 4}};
  for (int i = 0; i < 22; ++i) {
    const auto mode = i % 3 == 2 ? ServingMode::disaggregated : ServingMode::aggregated;
    r.front.push_back({.configuration = served_configuration(1 << (i % 3), 4 + i, mode),
                       .estimate = served_estimate(10 + 0.4 * i, i % 2 == 0),
                       .provenance = {{Provenance::interpolated, i % 2 == 0 ? 0.61 : 1.0},
                                      {Provenance::roofline, i % 2 == 0 ? 0.39 : 0.0}},
                       .bottleneck = "attention"});
  }
  for (int i = 0; i < 5; ++i) {
    r.nearest.push_back({.configuration = served_configuration(2, 64 + i, ServingMode::aggregated),
                         .estimate = served_estimate(30 + i, true),
                         .violations = {{Objective::ttft, (30 + i) * 1e6, 20e6},
                                        {Objective::tokens_per_s_per_device, 90, 100}}});
  }
  r.priced_s = 1.234;
  EXPECT_TRUE(is_as_expected(report_text(r, false), "served.txt"));
  EXPECT_TRUE(is_as_expected(report_markdown(r), "served.md"));
  EXPECT_TRUE(is_as_expected(report_csv(r), "served.csv"));
  r.front.erase(r.front.begin() + 3, r.front.end());
  r.nearest.resize(1);
  EXPECT_TRUE(is_as_expected(reviewable(report_json(r)), "served.json"));
}

// Without levels, intervals or a front, what is absent is said in words.
TEST(GoldenServed, a_search_that_found_nothing_says_so) {
  ServedReport r{.title = "t", .model = "m"};
  r.objectives = {Objective::tpot};
  r.configurations = r.possible = 3;
  r.nearest.resize(12, {.configuration = served_configuration(1, 8, ServingMode::aggregated),
                        .estimate = served_estimate(3, false),
                        .violations = {{Objective::tpot, 2e6, 1e6}}});
  EXPECT_TRUE(is_as_expected(report_text(r, true) + report_markdown(r), "served_nothing.txt"));
}

TEST(GoldenText, a_single_changed_byte_is_found_and_its_line_told) {
  if (std::getenv("HALMARK_UPDATE_GOLDEN") != nullptr) GTEST_SKIP() << "files are being written";
  std::ifstream file(test::in_source("/tests/golden/expected/report.md"), std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  ASSERT_GT(text.size(), 100u);
  EXPECT_TRUE(is_as_expected(text, "report.md"));
  text[text.find('\n') + 1] ^= 1;
  const testing::AssertionResult result = is_as_expected(text, "report.md");
  EXPECT_FALSE(result);
  EXPECT_THAT(result.message(), testing::HasSubstr("report.md:2"));
}

}  // namespace
}  // namespace halmark::golden
