// From exec to exit of a question on paper, and how near its bounds come to published figures.
#include <algorithm>

#include "child.hpp"
#include "core/numeric/statistics.hpp"
#include "core/text/error.hpp"
#include "figures.hpp"
#include "tests/unit/model/pricing/published_rows.hpp"

namespace halmark::bench {
namespace {

constexpr int warm_up = 3, runs = 20;

double answer_ns() {
  const ChildRun run =
      run_program({HALMARK_BINARY_DIR "/bin/halmark", "model", "qwen3-0.6b", "--phase", "decode",
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
  });
}
