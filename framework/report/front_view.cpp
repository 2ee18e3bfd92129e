#include "report/front_view.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "core/numeric/statistics.hpp"
#include "core/text/units.hpp"
#include "report/quantity.hpp"

namespace halmark::report {
namespace {

constexpr double median_limit = 0.05;
constexpr double worst_limit = 0.15;
constexpr double contradiction_ratio = 1.02;

const Validation* find_validation(const RunReport& report, const std::string& key) {
  const auto it = std::ranges::find(report.validations, key, &Validation::deployment_key);
  return it == report.validations.end() ? nullptr : &*it;
}

bool is_usable(const Evaluation& evaluation) {
  return has_latency(evaluation.status) && evaluation.estimate &&
         std::isfinite(evaluation.estimate->step_ns) && evaluation.estimate->step_ns > 0 &&
         std::isfinite(evaluation.estimate->tokens_per_s) && evaluation.estimate->tokens_per_s > 0;
}

FrontRow front_row(const RunReport& report, const FrontPoint& point) {
  const Evaluation& evaluation = report.evaluations.at(point.evaluation);
  return {.point = &point,
          .evaluation = &evaluation,
          .estimate = &*evaluation.estimate,
          .validation = find_validation(report, evaluation.configuration.key()),
          .label = deployment_label(evaluation.configuration, report),
          .anchor = "point-" + std::to_string(point.evaluation)};
}

PhaseView phase_view(const RunReport& report, Phase phase) {
  PhaseView view{.phase = phase};
  std::set<std::size_t> on_front;
  for (const FrontPoint& point : report.front) {
    const Evaluation& evaluation = report.evaluations.at(point.evaluation);
    if (evaluation.configuration.workload.phase != phase || !is_usable(evaluation)) continue;
    if (on_front.insert(point.evaluation).second) view.front.push_back(front_row(report, point));
  }
  std::ranges::stable_sort(view.front, {}, [](const FrontRow& r) { return r.estimate->step_ns; });
  for (std::size_t i = 0; i < report.evaluations.size(); ++i) {
    const Evaluation& evaluation = report.evaluations[i];
    if (evaluation.configuration.workload.phase != phase) continue;
    ++view.evaluations;
    if (!on_front.contains(i) && is_usable(evaluation)) view.others.push_back(&evaluation);
  }
  return view;
}

template <class Field>
bool varies(const RunReport& report, Phase phase, Field field) {
  std::set<std::int64_t> values;
  for (const Evaluation& e : report.evaluations) {
    if (e.configuration.workload.phase == phase) values.insert(e.configuration.workload.*field);
  }
  return values.size() > 1;
}

bool models_vary(const RunReport& report) {
  return std::ranges::any_of(report.evaluations, [&](const Evaluation& e) {
    return e.configuration.model != report.evaluations.front().configuration.model;
  });
}

std::string layout_label(const Parallel& parallel) {
  std::string out;
  const auto add = [&](const char* name, int value) {
    if (value > 1) out += (out.empty() ? "" : " ") + std::string(name) + std::to_string(value);
  };
  add("dp", parallel.dp);
  add("tp", parallel.tp);
  add("pp", parallel.pp);
  add("ep", parallel.ep);
  add("cp", parallel.cp);
  return out.empty() ? "1 shard" : out;
}

// Highest FLOP/s that the measured device allows for this kernel: its dtype's peak, or the fastest
// memory level at its intensity. Nothing when neither is known.
std::optional<double> roof_flops_per_s(const KernelPoint& kernel, const Device& device) {
  std::optional<double> roof;
  for (const Peak& peak : device.peaks) {
    if (dtype_name(peak.dtype) == kernel.dtype) {
      roof = std::max(roof.value_or(0), peak.flops_per_s);
    }
  }
  double fastest = 0;
  for (const Bandwidth& level : device.bandwidths) fastest = std::max(fastest, level.bytes_per_s);
  if (fastest > 0 && kernel.bytes > 0) {
    const double slope = fastest * kernel.matmul_flops / kernel.bytes;
    roof = roof ? std::min(*roof, slope) : slope;
  }
  return roof;
}

}  // namespace

std::optional<double> FrontRow::measured_ns() const {
  if (evaluation->measured_ns && std::isfinite(*evaluation->measured_ns) &&
      *evaluation->measured_ns > 0) {
    return evaluation->measured_ns;
  }
  if (validation != nullptr && has_latency(validation->status) && validation->measured_ns > 0) {
    return validation->measured_ns;
  }
  return std::nullopt;
}

std::string FrontRow::measured_reason() const {
  if (measured_ns()) return {};
  if (validation == nullptr) return "never confronted with a run";
  if (!validation->reason.empty()) return validation->reason;
  return std::string(status_name(validation->status));
}

std::optional<double> FrontRow::prediction_error() const {
  if (validation != nullptr && validation->prediction_error())
    return validation->prediction_error();
  const auto measured = measured_ns();
  return measured ? std::optional(estimate->step_ns / *measured - 1) : std::nullopt;
}

std::optional<double> FrontRow::composition_error() const {
  return validation == nullptr ? std::nullopt : validation->composition_error();
}

std::string FrontRow::composition_reason() const {
  if (composition_error()) return {};
  const bool was_run = validation != nullptr && validation->was_run();
  return was_run ? validation->composition_reason : measured_reason();
}

std::vector<PhaseView> phase_views(const RunReport& report) {
  std::vector<PhaseView> views;
  for (const Phase phase : {Phase::decode, Phase::prefill}) {
    PhaseView view = phase_view(report, phase);
    if (view.evaluations > 0) views.push_back(std::move(view));
  }
  return views;
}

std::string deployment_label(const Configuration& configuration, const RunReport& report) {
  const Workload& work = configuration.workload;
  std::string out = models_vary(report) ? configuration.model + ' ' : std::string();
  out += 'b' + std::to_string(work.batch);
  if (varies(report, work.phase, &Workload::new_tokens)) {
    out += " n" + std::to_string(work.new_tokens);
  }
  if (varies(report, work.phase, &Workload::context)) out += " c" + std::to_string(work.context);
  if (varies(report, work.phase, &Workload::routing_skew)) {
    out += " s" + std::to_string(work.routing_skew);
  }
  return out + ' ' + configuration.precision.name + ' ' + layout_label(configuration.parallel);
}

std::vector<std::pair<std::string, std::string>> strategies(const Estimate& estimate) {
  std::vector<std::pair<std::string, std::string>> out;
  for (const OperatorShare& op : estimate.operators) {
    const auto same = [&](const auto& entry) { return entry.first == op.name; };
    if (std::ranges::none_of(out, same)) out.emplace_back(op.name, op.strategy);
  }
  return out;
}

bool is_suspect(const RunReport& report) {
  return std::ranges::any_of(report.front, [&](const FrontPoint& point) {
    return point.is_suspect || report.evaluations.at(point.evaluation).status == Status::suspect;
  });
}

std::string validity(const RunReport& report) {
  if (report.front.empty()) return "none";
  return is_suspect(report) ? "suspect" : "valid";
}

std::string validity_text(const RunReport& report) {
  if (report.front.empty()) return "no front: no configuration has a usable latency";
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

}  // namespace

std::string composition_text(const RunReport& report) {
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
  double worst = 0;
  for (const Validation& v : report.validations) {
    worst = std::max(worst, std::abs(v.prediction_error().value_or(0)));
  }
  return "prediction error: worst " + percent_text(worst) + " over " + points_text(error) +
         left_out_text(error) + about;
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
         std::to_string(span->kernels) + (span->kernels == 1 ? " kernel)" : " kernels)");
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
  return "kernels between their neighbours: " + percent_text(low) + " .. " + percent_text(high) +
         " of the time of the front's steps; the rest in loops of their own";
}

std::optional<double> flops_per_s(const KernelPoint& kernel) {
  if (!kernel.duration_ns || !(*kernel.duration_ns > 0) || !(kernel.matmul_flops > 0)) {
    return std::nullopt;
  }
  return kernel.matmul_flops / *kernel.duration_ns * ns_per_s;
}

std::optional<double> bytes_per_s(const KernelPoint& kernel) {
  if (!kernel.duration_ns || !(*kernel.duration_ns > 0) || !(kernel.bytes > 0)) return std::nullopt;
  return kernel.bytes / *kernel.duration_ns * ns_per_s;
}

std::string contradiction(const KernelPoint& kernel, const RunReport& report) {
  if (kernel.status == Status::quarantined) {
    return kernel.reason.empty() ? std::string("quarantined") : kernel.reason;
  }
  if (!kernel.duration_ns || !(*kernel.duration_ns > 0)) return {};
  const double above_bound = kernel.lower_bound_ns / *kernel.duration_ns;
  if (above_bound > contradiction_ratio) {
    return "faster than its bound by " + percent_text(above_bound - 1);
  }
  const auto rate = flops_per_s(kernel);
  if (!rate || !report.device) return {};
  const auto roof = roof_flops_per_s(kernel, *report.device);
  if (roof && *rate > *roof * contradiction_ratio) {
    return "above the roof of " + flops_text(*roof) + " by " + percent_text(*rate / *roof - 1);
  }
  return {};
}

}  // namespace halmark::report
