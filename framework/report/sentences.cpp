#include "report/sentences.hpp"

#include <algorithm>
#include <cmath>

#include "core/chosen/objective.hpp"
#include "core/numeric/statistics.hpp"
#include "core/text/text.hpp"
#include "report/text/quantity.hpp"

namespace halmark::report {
namespace {

constexpr double median_limit = 0.05;
constexpr double worst_limit = 0.15;

}  // namespace

bool is_suspect(const RunReport& report) {
  return std::ranges::any_of(report.front, [&](const FrontPoint& point) {
    return point.is_suspect || report.evaluations.at(point.evaluation).status == Status::suspect;
  });
}

bool has_kernels_alone(const RunReport& report) {
  return report.model.empty() && !report.kernels.empty();
}

std::set<Provenance> front_sources(const RunReport& report) {
  std::set<Provenance> out;
  for (const FrontPoint& point : report.front) {
    const auto& estimate = report.evaluations.at(point.evaluation).estimate;
    if (!estimate) continue;
    if (estimate->operators.empty()) out.insert(estimate->provenance);
    for (const OperatorShare& share : estimate->operators) out.insert(share.provenance);
  }
  return out;
}

bool is_unmeasured(const RunReport& report) {
  const std::set<Provenance> sources = front_sources(report);
  return !sources.empty() && !sources.contains(Provenance::measured);
}

std::string validity(const RunReport& report) {
  if (report.front.empty() || is_unmeasured(report)) return "none";
  return is_suspect(report) ? "suspect" : "valid";
}

std::string validity_text(const RunReport& report) {
  if (report.front.empty()) return "no front: no configuration has a usable latency";
  if (is_unmeasured(report)) return {};
  return is_suspect(report) ? "suspect: some rows did not pass the validity gate"
                            : "valid: every front point passed the validity gate";
}

std::string composition_verdict(const ErrorOverPoints& error) {
  if (!error.median || !error.worst) return "UNDECIDED";
  return *error.median <= median_limit && *error.worst <= worst_limit ? "within" : "exceeded";
}

namespace {

std::string points_text(const ErrorOverPoints& error) {
  return std::to_string(error.points) + (error.points == 1 ? " point" : " points");
}

// What an average does not contain belongs beside it.
std::string left_out_text(const ErrorOverPoints& error) {
  return error.left_out == 0 ? "" : "; left out: " + std::to_string(error.left_out);
}

std::string spread_text(const ErrorOverPoints& error) {
  return "median " + percent_text(error.median) + ", worst " + percent_text(error.worst) +
         " over " + points_text(error);
}

// The run that the printed latency missed most; nullptr where nothing was run.
const Validation* least_predicted(const std::vector<Validation>& runs) {
  const Validation* out = nullptr;
  double worst = -1;
  for (const Validation& v : runs) {
    const auto error = v.prediction_error();
    if (!error || !(std::abs(*error) > worst)) continue;
    worst = std::abs(*error);
    out = &v;
  }
  return out;
}

// "102 ms printed, 137 ms run (-25.5 %)"; a run in another state of the machine says so.
std::string difference_text(const Validation& run) {
  const auto interval = run.interval_at_run();
  return duration_text(*run.predicted_ns) + " printed, " + duration_text(run.measured_ns) +
         " run (" + signed_percent_text(run.prediction_error()) +
         (interval && interval->is_scaled ? "; memory or cores ran at another speed)" : ")");
}

}  // namespace

std::string composition_text(const RunReport& report) {
  if (report.validations.empty()) return {};
  const ErrorOverPoints error = composition_errors(report.validations);
  const std::string verdict = composition_verdict(error);
  if (!error.median) {
    return "composition error: " + verdict + " (" + points_text(error) +
           " with pairs of run and kernels, 3 needed" + left_out_text(error) + ")";
  }
  return "composition error: " + spread_text(error) + " (" + verdict + " 5 % and 15 %" +
         left_out_text(error) + ")";
}

std::string prediction_text(const RunReport& report) {
  const ErrorOverPoints error = prediction_errors(report.validations);
  if (error.points == 0) return {};
  const std::string about = ": what was printed before, against the run";
  if (error.median) return "prediction error: " + spread_text(error) + left_out_text(error) + about;
  const double worst = std::abs(*least_predicted(report.validations)->prediction_error());
  return "prediction error: worst " + percent_text(worst) + " over " + points_text(error) +
         left_out_text(error) + about;
}

std::vector<std::string> doubts_of_runs(const RunReport& report) {
  const auto& runs = report.validations;
  if (runs.empty()) return {"not run as a whole"};
  std::vector<std::string> out;
  const auto doubted = std::ranges::count_if(
      runs, [](const Validation& v) { return v.status != Status::ok || !v.has_time(); });
  if (doubted > 0) {
    out.push_back(std::to_string(doubted) + " of " + std::to_string(runs.size()) +
                  " runs are suspect or have no time");
  }
  if (composition_verdict(composition_errors(runs)) != "within")
    out.push_back(composition_text(report));
  const Validation* worst = least_predicted(runs);
  if (worst != nullptr && std::abs(*worst->prediction_error()) > worst_limit)
    out.push_back("runs differ from the printed latency: " + difference_text(*worst));
  return out;
}

namespace {

constexpr int states_min = 6;  // below, what was inside is counted but not called a coverage

std::string runs_text(const IntervalCoverage::Runs& runs, const char* where) {
  return std::to_string(runs.inside) + " of " + std::to_string(runs.runs) + where +
         ", half-width " + percent_text(runs.half_width);
}

}  // namespace

std::string coverage_text(const RunReport& report) {
  const IntervalCoverage c = interval_coverage(report.validations);
  const int runs = c.named.runs + c.scaled.runs;
  if (runs == 0) return {};
  std::string out = "intervals: " + std::to_string(c.named.inside + c.scaled.inside) + " of " +
                    std::to_string(runs) + " runs lie inside (";
  if (c.named.runs > 0) out += runs_text(c.named, " in the state of the memory that they name");
  if (c.named.runs > 0 && c.scaled.runs > 0) out += "; ";
  if (c.scaled.runs > 0) out += runs_text(c.scaled, " in another, scaled for it");
  out += ")";
  if (c.states < states_min) {
    out += "; no coverage: " + std::to_string(c.states) + " of " + std::to_string(states_min) +
           " states were met";
  }
  return out;
}

std::optional<BandwidthSpan> bandwidth_span(const RunReport& report) {
  std::vector<double> shares;
  for (const KernelPoint& kernel : report.kernels) {
    if (kernel.bandwidth_share) shares.push_back(*kernel.bandwidth_share);
  }
  if (shares.empty()) return std::nullopt;
  const auto [low, high] = std::ranges::minmax(shares);
  return BandwidthSpan{low, median(shares), high, shares.size()};
}

std::string bandwidth_state_text(const RunReport& report) {
  const auto span = bandwidth_span(report);
  if (!span) return {};
  return "memory while measuring: at " + percent_text(span->median) + " of the best bandwidth (" +
         percent_text(span->low) + " .. " + percent_text(span->high) + ", " +
         std::to_string(span->kernels) + (span->kernels == 1 ? " kernel)" : " kernels)") +
         (span->high > 1 ? "; the best needs three probes" : "");
}

std::string in_stack_text(const RunReport& report) {
  double low = 1, high = 0;
  for (const FrontPoint& point : report.front) {
    const auto& estimate = report.evaluations[point.evaluation].estimate;
    if (!estimate) continue;
    low = std::min(low, estimate->in_stack_share);
    high = std::max(high, estimate->in_stack_share);
  }
  if (high == 0) return {};
  return "kernels measured in-stack: " + percent_text(low) + " .. " + percent_text(high) +
         " of the time of the front's steps; the rest in loops of their own";
}

std::string energy_text(const Evaluation& evaluation) {
  if (!evaluation.estimate || !evaluation.estimate->energy) return {};
  const StepEnergy& energy = *evaluation.estimate->energy;
  std::string out = number_text(energy.joules, 3) + " J a step";
  if (const auto of_token = objective_value(evaluation, Objective::energy)) {
    out += ", " + objective_text(Objective::energy, *of_token);
  }
  return out + ", " + energy.origin;
}

}  // namespace halmark::report
