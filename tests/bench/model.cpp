// From exec to exit of a question on paper, how near its bounds come to published figures, and how
// near its counts of training come to them.
#include <algorithm>
#include <cmath>
#include <fstream>

#include "child.hpp"
#include "core/json/json.hpp"
#include "core/numeric/statistics.hpp"
#include "core/text/error.hpp"
#include "figures.hpp"
#include "tests/checkout.hpp"
#include "tests/unit/model/pricing/published_rows.hpp"
#include "tests/unit/model/utilisation/training_memory_rows.hpp"
#include "tests/unit/model/utilisation/training_rows.hpp"

namespace halmark::bench {
namespace {

constexpr int warm_up = 3, runs = 20;

double answer_ns() {
  const ChildRun run =
      run_program({test::in_build("/bin/halmark"), "model", "qwen3-0.6b", "--phase", "decode",
                   "--batch", "8", "--context", "1024", "--tp", "2", "--dtype", "bf16", "--json"});
  if (run.exit_code != 0) {
    throw Error(ExitCode::error, "halmark model ended with " + std::to_string(run.exit_code));
  }
  return run.wall_ns;
}

// No bound may be above a published figure; the closest and the median say how much a bound says.
void published_inference(Figures& figures) {
  const published::Checks checks = published::inference_checks();
  const auto above = std::ranges::count_if(
      checks.all, [](const published::Check& check) { return check.bound > 1; });
  figures.report("published_inference_figures", static_cast<double>(checks.all.size()), "figures");
  figures.at_most("published_inference_above", static_cast<double>(above), "figures", 0);
  figures.at_least("published_inference_closest", 100 * checks.closest().bound, "%", 60);
  figures.report("published_inference_median", 100 * checks.median_bound(), "%");
  note("closest bound: " + checks.closest().row);
}

// The `data` of `halmark model`.
Json told(const ScratchFolder& folder, std::vector<std::string> arguments) {
  const std::string out = folder.path() / "out.json";
  arguments.insert(arguments.begin(), {test::in_build("/bin/halmark"), "model"});
  arguments.emplace_back("--json");
  const ChildRun run = run_program(arguments, out);
  if (run.exit_code != 0) {
    throw Error(ExitCode::error, "halmark model ended with " + std::to_string(run.exit_code));
  }
  return read_json_file(out)["data"];
}

double told_flops(const ScratchFolder& folder, const published::TrainingRow& row) {
  std::vector<std::string> arguments = {row.model};
  if (!row.config.empty()) {
    arguments.front() = folder.path() / "config.json";
    std::ofstream(arguments.front()) << row.config;
  }
  arguments.insert(arguments.end(), row.arguments.begin(), row.arguments.end());
  return told(folder, arguments)["convention"]["flops_per_step"].get<double>();
}

struct KindLimits {
  published::TrainingKind kind;
  double median_pct, largest_pct;
};

// Absolute errors against what is printed. Single rows scatter by the last places of their rates,
// up to 1.3 %: beyond that is what a row's own error is.
void published_training(Figures& figures) {
  const ScratchFolder folder(test::in_build());
  const published::TrainingRows rows = published::training_rows();
  const auto errors = published::training_errors(
      rows, [&](const published::TrainingRow& row) { return told_flops(folder, row); });
  figures.report("published_training_rows", rows.rows, "rows");
  int without = 0;
  for (const auto& [reason, count] : rows.reasons) {
    without += count;
    note(std::to_string(count) + " rows are not stated: " + reason);
  }
  figures.report("published_training_rows_with_a_reason", without, "rows");
  using published::TrainingKind;
  std::vector<published::TrainingError> bridge, predicting;
  for (const published::TrainingError& e : errors) {
    const bool is_predicting =
        e.row->name.starts_with("DeepSeek") || e.row->name.starts_with("Nemotron_3");
    if (is_predicting && e.row->kind == TrainingKind::mixture) predicting.push_back(e);
    const bool is_bridge =
        std::ranges::find(e.row->arguments, "megatron-bridge") != e.row->arguments.end();
    if (is_bridge && e.row->kind == TrainingKind::dense) bridge.push_back(e);
  }
  figures.report("published_training_dense_of_megatron_bridge_median", 100 * median_error(bridge),
                 "%");
  figures.at_most("published_training_deepseek_and_nemotron_3_median",
                  100 * median_error(predicting), "%", 1);
  figures.report("published_training_deepseek_and_nemotron_3_largest",
                 100 * largest_error(predicting), "%");
  for (const KindLimits& limits : {KindLimits{TrainingKind::dense, 0.04, 1},
                                   {TrainingKind::mixture, 0.5, 1},
                                   {TrainingKind::fine_tuning, 0.5, 1},
                                   {TrainingKind::count, 0.5, 1.5}}) {
    std::vector<published::TrainingError> of_kind, beyond;
    for (published::TrainingError e : errors) {
      if (e.row->kind != limits.kind) continue;
      of_kind.push_back(e);
      e.relative = std::max(0.0, std::abs(e.relative) - e.row->rounding);
      beyond.push_back(e);
    }
    const std::string name = "published_training_" + std::string(kind_name(limits.kind));
    figures.report(name + "_figures", static_cast<double>(of_kind.size()), "figures");
    figures.at_most(name + "_median", 100 * median_error(of_kind), "%", limits.median_pct);
    figures.report(name + "_largest", 100 * largest_error(of_kind), "%");
    figures.at_most(name + "_beyond_rounding", 100 * largest_error(beyond), "%",
                    limits.largest_pct);
  }
}

// Of the fullest device: what the program says is allocated, against what was reserved.
void published_memory(Figures& figures) {
  const ScratchFolder folder(test::in_build());
  std::vector<double> errors;
  for (const published::MemoryRow& row : published::memory_rows()) {
    std::vector<std::string> arguments = {folder.path() / "config.json"};
    std::ofstream(arguments.front()) << row.config;
    arguments.insert(arguments.end(), row.arguments.begin(), row.arguments.end());
    const Json memory = told(folder, arguments)["training"]["memory"];
    const double gib = memory["total_bytes"].get<double>() / 0x1p30;
    errors.push_back(100 * std::abs(gib / row.printed_gib - 1));
  }
  figures.report("published_memory_figures", static_cast<double>(errors.size()), "figures");
  figures.at_most("published_memory_median", median(errors), "%", 15);
  figures.at_most("published_memory_largest", *std::ranges::max_element(errors), "%", 30);
}

}  // namespace
}  // namespace halmark::bench

int main() {
  using namespace halmark;
  return bench::run([](bench::Figures& figures) {
    for (int i = 0; i < bench::warm_up; ++i) bench::answer_ns();
    std::vector<double> ns;
    for (int i = 0; i < bench::runs; ++i) ns.push_back(bench::answer_ns());
    figures.at_most("model_exec_to_exit", median(ns) * 1e-6, "ms", 30);
    bench::published_inference(figures);
    bench::published_training(figures);
    bench::published_memory(figures);
  });
}
