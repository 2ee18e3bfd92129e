// Is composing true? The whole step of 14 configurations against its kernels, in turns, and against
// what was printed before: with kernels between their neighbours, and each in a loop of its own.
// HALMARK_BENCH_DB names a database whose latest sweep is judged instead.
#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "child.hpp"
#include "core/text/error.hpp"
#include "figures.hpp"
#include "journal/store.hpp"
#include "report/report.hpp"
#include "tests/checkout.hpp"

namespace halmark::bench {
namespace {

constexpr double median_limit_percent = 3, worst_limit_percent = 8, mean_limit_percent = 1.5;
constexpr double operator_limit_percent = 10, small_limit_percent = 25;
constexpr double half_width_limit_percent = 10;
constexpr int states_min = 6;         // of the memory, behind a coverage
constexpr double small_share = 0.01;  // of a step: operators below are judged together

// Arguments of `halmark run` behind the model.
std::vector<std::vector<std::string>> configurations() {
  std::vector<std::vector<std::string>> out;
  for (const char* dtype : {"f32", "bf16", "int8"}) {
    for (const char* batch : {"1", "4", "16"}) {
      out.push_back({"--phase", "decode", "--context", "1024", "--dtype", dtype, "--batch", batch});
    }
    out.push_back(
        {"--phase", "prefill", "--new-tokens", "512", "--context", "512", "--dtype", dtype});
  }
  for (const char* split : {"--tp", "--pp"}) {
    out.push_back(
        {"--phase", "decode", "--context", "1024", "--dtype", "bf16", "--batch", "4", split, "2"});
  }
  return out;
}

Validation run_once(const std::vector<std::string>& arguments, bool is_isolated,
                    const std::string& database) {
  std::vector<std::string> command{test::in_build("/bin/halmark"), "run", "qwen3-0.6b"};
  command.insert(command.end(), arguments.begin(), arguments.end());
  command.insert(command.end(), {"--quiet", "--db", database});
  if (is_isolated) command.emplace_back("--isolated");
  const ChildRun run = run_program(command);
  const bool is_partial = run.exit_code == static_cast<int>(ExitCode::partial);
  if (run.exit_code != 0 && !is_partial) {
    throw Error(ExitCode::error, "halmark run ended with " + std::to_string(run.exit_code));
  }
  const auto store = open_store_read_only(database);
  const auto validations = store->rows<Validation>(store->latest_run().value());
  if (!validations.empty()) return validations.front();
  std::string text;
  for (const std::string& argument : arguments) text += ' ' + argument;
  return {.deployment_key = "run" + text, .status = Status::invalid, .reason = "no estimate"};
}

std::vector<Validation> stored_validations(const std::string& database) {
  const auto store = open_store_read_only(database);
  const auto run = store->latest_sweep();
  if (!run) throw refused("there is no run in it", database);
  return store->rows<Validation>(*run);
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

// The worst of the operators above a hundredth of their step, and the rest of each step together.
struct OperatorErrors {
  double worst = 0, worst_of_small = 0;
};

OperatorErrors operator_errors(const std::vector<Validation>& validations) {
  OperatorErrors out;
  for (const Validation& v : validations) {
    if (!v.composition || !(v.measured_ns > 0)) continue;
    double small_composed = 0, small_measured = 0;
    for (const Validation::Operator& op : v.operators) {
      if (!op.composed_ns || !(op.measured_ns > 0)) continue;
      if (op.measured_ns >= small_share * v.measured_ns) {
        out.worst = std::max(out.worst, std::abs(*op.composed_ns / op.measured_ns - 1));
      } else {
        small_composed += *op.composed_ns;
        small_measured += op.measured_ns;
      }
    }
    if (small_measured > 0) {
      out.worst_of_small =
          std::max(out.worst_of_small, std::abs(small_composed / small_measured - 1));
    }
  }
  return out;
}

double mean_error_percent(const std::vector<Validation>& validations, int points) {
  double sum = 0;
  for (const Validation& v : validations) sum += v.composition_error().value_or(0);
  return 100 * sum / std::max(1, points);
}

// Beside the figures that are promised: the same without neighbours.
void report_isolated(Figures& figures, const std::vector<Validation>& validations) {
  std::ranges::for_each(validations, explain);
  const ErrorOverPoints composition = composition_errors(validations);
  if (!composition.median) return;
  const OperatorErrors operators = operator_errors(validations);
  figures.report("isolated_composition_error_median", 100 * *composition.median, "%");
  figures.report("isolated_composition_error_worst", 100 * *composition.worst, "%");
  figures.report("isolated_composition_error_mean",
                 mean_error_percent(validations, composition.points), "%");
  figures.report("isolated_operator_error_worst", 100 * operators.worst, "%");
  figures.report("isolated_small_operators_error_worst", 100 * operators.worst_of_small, "%");
}

// Runs inside the intervals that were printed: in the state of the memory that these name, and in
// others, for which they are scaled.
void judge_intervals(Figures& figures, const IntervalCoverage& coverage) {
  const auto judge_runs = [&](const std::string& of, const IntervalCoverage::Runs& runs,
                              double coverage_min_percent) {
    figures.report("interval_runs_" + of, runs.runs, "runs");
    if (runs.half_width) {
      figures.at_most("interval_half_width_" + of, 100 * *runs.half_width, "%",
                      half_width_limit_percent);
    }
    const std::string name = "interval_coverage_" + of;
    if (coverage.states >= states_min && runs.runs > 0) {
      return figures.at_least(name, 100.0 * runs.inside / runs.runs, "%", coverage_min_percent);
    }
    figures.absent(name, "not shown", "%", ">=" + std::to_string(std::lround(coverage_min_percent)),
                   std::to_string(runs.inside) + " of " + std::to_string(runs.runs) + " runs, " +
                       std::to_string(coverage.states) + " states of the memory, 6 are needed");
  };
  judge_runs("named_state", coverage.named, 80);
  judge_runs("scaled", coverage.scaled, 75);
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
  if (composition.points > 0) {
    const OperatorErrors operators = operator_errors(validations);
    figures.at_most("composition_error_mean_distance",
                    std::abs(mean_error_percent(validations, composition.points)), "%",
                    mean_limit_percent);
    figures.at_most("operator_error_worst", 100 * operators.worst, "%", operator_limit_percent);
    figures.at_most("small_operators_error_worst", 100 * operators.worst_of_small, "%",
                    small_limit_percent);
  }
  judge_intervals(figures, interval_coverage(validations));
  if (prediction.median) {
    figures.report("prediction_error_median", 100 * *prediction.median, "%");
    figures.report("prediction_error_worst", 100 * *prediction.worst, "%");
  }
}

void measure(Figures& figures) {
  if (const char* given = std::getenv("HALMARK_BENCH_DB"); given != nullptr && *given != '\0') {
    return judge(figures, stored_validations(given));
  }
  const ScratchFolder folder(test::in_build());
  const std::string database = (folder.path() / "composition.db").string();
  // One after the other, so that both meet the same hours of the machine.
  std::vector<Validation> standing, isolated;
  for (const auto& arguments : configurations()) {
    standing.push_back(run_once(arguments, false, database));
    isolated.push_back(run_once(arguments, true, database));
  }
  judge(figures, standing);
  report_isolated(figures, isolated);
}

}  // namespace
}  // namespace halmark::bench

int main() { return halmark::bench::run(halmark::bench::measure); }
