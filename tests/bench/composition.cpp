// Is composing true? Predicted step latency against `run` over every front point of the quickstart,
// or over the stored run of the database that HALMARK_BENCH_DB names.
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

constexpr double median_limit_percent = 5, worst_limit_percent = 15;

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
  const auto run = store->latest_run();
  if (!run) throw refused("there is no run in it", database);
  return store->validations(*run);
}

// The operator that is furthest off, in the time that it adds to or takes from the step.
std::string culprit(const Validation& validation) {
  const auto off = [](const Validation::Operator& op) {
    return std::abs(op.predicted_ns - op.measured_ns);
  };
  const auto worst = std::ranges::max_element(validation.operators, {}, off);
  if (worst == validation.operators.end()) return "no operator is known";
  return worst->name + " predicted " + std::to_string(worst->predicted_ns * 1e-6) +
         " ms, measured " + std::to_string(worst->measured_ns * 1e-6) + " ms";
}

void explain(const Validation& v) {
  std::string line = v.deployment_key + ": " + std::string(status_name(v.status));
  if (!v.reason.empty()) line += " (" + v.reason + ")";
  if (v.measured_ns > 0) {
    line += ", predicted " + std::to_string(v.predicted_ns * 1e-6) + " ms, measured " +
            std::to_string(v.measured_ns * 1e-6) + " ms; furthest off: " + culprit(v);
  }
  note(line);
}

void print(Figures& figures, const std::string& name, std::optional<double> error,
           double limit_percent, int points) {
  if (error) return figures.at_most(name, 100 * *error, "%", limit_percent);
  figures.absent(name, "UNDECIDED", "%", "<=" + std::to_string(std::lround(limit_percent)),
                 std::to_string(points) + " points passed the gate on both sides, 5 are needed");
}

void judge(Figures& figures, const std::vector<Validation>& validations) {
  std::vector<Validation> rows;
  for (const Validation& v : validations) {
    explain(v);
    rows.push_back({.deployment_key = v.deployment_key,
                    .predicted_ns = v.predicted_ns,
                    .measured_ns = v.measured_ns,
                    .status = v.status});
  }
  const CompositionError error = composition_error(rows);
  figures.report("composition_points", error.points, "points");
  print(figures, "composition_error_median", error.median, median_limit_percent, error.points);
  print(figures, "composition_error_worst", error.worst, worst_limit_percent, error.points);
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
