// Is composing true? The whole step against its kernels, in turns, and against what was printed
// before, over every front point of the quickstart or of the stored run of the database that
// HALMARK_BENCH_DB names.
#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "child.hpp"
#include "core/text/error.hpp"
#include "figures.hpp"
#include "journal/store.hpp"
#include "report/report.hpp"

namespace halmark::bench {
namespace {

constexpr double median_limit_percent = 3, worst_limit_percent = 8;

void tune(const std::string& database) {
  const ChildRun run = run_program({HALMARK_BINARY_DIR "/bin/halmark", "tune",
                                    HALMARK_SOURCE_DIR "/configs/sweeps/quickstart.toml",
                                    "--validate=all", "--quiet", "--db", database});
  const bool is_partial = run.exit_code == static_cast<int>(ExitCode::partial);
  if (run.exit_code != 0 && !is_partial) {
    throw Error(ExitCode::error, "halmark tune ended with " + std::to_string(run.exit_code));
  }
}

std::vector<Validation> stored_validations(const std::string& database) {
  const auto store = open_store_read_only(database);
  const auto run = store->latest_sweep();
  if (!run) throw refused("there is no run in it", database);
  return store->validations(*run);
}

// The operator that is furthest off, in the time that it adds to or takes from the step.
std::string culprit(const Validation& validation) {
  const auto off = [](const Validation::Operator& op) {
    return std::abs(op.composed_ns.value_or(op.measured_ns) - op.measured_ns);
  };
  const auto worst = std::ranges::max_element(validation.operators, {}, off);
  if (worst == validation.operators.end()) return "no operator is known";
  return worst->name + " alone " + std::to_string(worst->composed_ns.value_or(0) * 1e-6) +
         " ms, in the run " + std::to_string(worst->measured_ns * 1e-6) + " ms";
}

std::string percent(std::optional<double> error) {
  return error ? std::to_string(100 * *error) + " %" : "none";
}

void explain(const Validation& v) {
  std::string line = v.deployment_key + ": " + std::string(status_name(v.status));
  if (!v.reason.empty()) line += " (" + v.reason + ")";
  if (v.measured_ns > 0) {
    line += ", run " + std::to_string(v.measured_ns * 1e-6) + " ms, composition error " +
            percent(v.composition_error()) + ", prediction error " + percent(v.prediction_error()) +
            "; furthest off: " + culprit(v);
  }
  if (!v.composition) line += "; " + v.composition_reason;
  note(line);
}

void print(Figures& figures, const std::string& name, std::optional<double> error,
           double limit_percent, int points) {
  if (error) return figures.at_most(name, 100 * *error, "%", limit_percent);
  figures.absent(name, "UNDECIDED", "%", "<=" + std::to_string(std::lround(limit_percent)),
                 std::to_string(points) + " points have a figure, 3 are needed");
}

void judge(Figures& figures, const std::vector<Validation>& validations) {
  std::ranges::for_each(validations, explain);
  const ErrorOverPoints composition = composition_errors(validations);
  const ErrorOverPoints prediction = prediction_errors(validations);
  figures.report("composition_points", composition.points, "points");
  print(figures, "composition_error_median", composition.median, median_limit_percent,
        composition.points);
  print(figures, "composition_error_worst", composition.worst, worst_limit_percent,
        composition.points);
  double sum = 0;
  for (const Validation& v : validations) sum += v.composition_error().value_or(0);
  if (composition.points > 0) {
    figures.report("composition_error_mean", 100 * sum / composition.points, "%");
  }
  if (prediction.median) {
    figures.report("prediction_error_median", 100 * *prediction.median, "%");
    figures.report("prediction_error_worst", 100 * *prediction.worst, "%");
  }
}

void measure(Figures& figures) {
  if (const char* given = std::getenv("HALMARK_BENCH_DB"); given != nullptr && *given != '\0') {
    return judge(figures, stored_validations(given));
  }
  const ScratchFolder folder(HALMARK_BINARY_DIR);
  const std::string database = (folder.path() / "composition.db").string();
  tune(database);
  judge(figures, stored_validations(database));
}

}  // namespace
}  // namespace halmark::bench

int main() { return halmark::bench::run(halmark::bench::measure); }
