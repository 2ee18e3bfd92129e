// TOML to plan, model to operator graph, stored run to report: byte for byte.
#include <cstdlib>
#include <fstream>
#include <utility>

#include "../integration/halmark_fixture.hpp"
#include "../unit/report/synthetic_report.hpp"
#include "golden.hpp"
#include "report/charts/svg.hpp"
#include "report/quantity.hpp"
#include "report/report.hpp"

namespace halmark::golden {
namespace {

class Golden : public integration::HalmarkTest {};

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

TEST(GoldenText, a_single_changed_byte_is_found_and_its_line_told) {
  if (std::getenv("HALMARK_UPDATE_GOLDEN") != nullptr) GTEST_SKIP() << "files are being written";
  std::ifstream file(HALMARK_SOURCE_DIR "/tests/golden/expected/report.md", std::ios::binary);
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
