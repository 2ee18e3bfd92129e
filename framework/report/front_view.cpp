#include "report/front_view.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "core/lists.hpp"
#include "core/numeric/statistics.hpp"
#include "core/text/text.hpp"
#include "core/text/units.hpp"
#include "report/text/layout_text.hpp"
#include "report/text/quantity.hpp"

namespace halmark::report {
namespace {

const Validation* find_validation(const RunReport& report, const std::string& key) {
  return find_or_null(report.validations, key, &Validation::deployment_key);
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

}  // namespace

PhaseView phase_view_of(const RunReport& report, Phase phase) {
  PhaseView view{.phase = phase};
  std::set<std::size_t> on_front;
  for (const FrontPoint& point : report.front) {
    const Evaluation& evaluation = report.evaluations.at(point.evaluation);
    if (evaluation.configuration.workload.phase != phase || !is_usable(evaluation)) continue;
    if (on_front.insert(point.evaluation).second) view.front.push_back(front_row(report, point));
  }
  std::ranges::stable_sort(view.front, {}, [](const FrontRow& r) { return r.estimate->step_ns; });
  for (const auto i : indices(report.evaluations)) {
    const Evaluation& evaluation = report.evaluations[i];
    if (evaluation.configuration.workload.phase != phase) continue;
    ++view.evaluations;
    if (!on_front.contains(i) && is_usable(evaluation)) view.others.push_back(&evaluation);
  }
  return view;
}

namespace {

template <class Field>
bool varies(const RunReport& report, Phase phase, Field field) {
  std::set<std::int64_t> values;
  for (const Evaluation& e : report.evaluations) {
    if (e.configuration.workload.phase == phase) values.insert(e.configuration.workload.*field);
  }
  for (const Untried& untried : report.untried) {
    if (untried.phase != phase) continue;
    for (const auto& u : untried.could_enter) values.insert(u.configuration.workload.*field);
  }
  return values.size() > 1;
}

bool models_vary(const RunReport& report) {
  return std::ranges::any_of(report.evaluations, [&](const Evaluation& e) {
    return e.configuration.model != report.evaluations.front().configuration.model;
  });
}

std::string layout_label(const Parallel& parallel) {
  std::string out = report::layout_text(parallel, "");
  if (!parallel.stages.empty()) out += " stages" + join(parallel.stages, "+");
  return out.empty() ? "1 shard" : out;
}

}  // namespace

std::optional<double> FrontRow::measured_ns() const {
  if (evaluation->measured_ns && std::isfinite(*evaluation->measured_ns) &&
      *evaluation->measured_ns > 0) {
    return evaluation->measured_ns;
  }
  if (validation != nullptr && validation->has_time()) {
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
  const double said_ns = estimate->alone ? estimate->alone->ns : estimate->step_ns;
  return measured ? std::optional(said_ns / *measured - 1) : std::nullopt;
}

std::optional<double> FrontRow::composition_error() const {
  return validation == nullptr ? std::nullopt : validation->composition_error();
}

std::string FrontRow::composition_reason() const {
  if (composition_error()) return {};
  const bool has_time = validation != nullptr && validation->has_time();
  return has_time ? validation->composition_reason : measured_reason();
}

std::vector<PhaseView> phase_views(const RunReport& report) {
  std::vector<PhaseView> views;
  for (const Phase phase : {Phase::decode, Phase::prefill}) {
    PhaseView view = phase_view_of(report, phase);
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
  out += ' ' + configuration.precision.name + ' ' + layout_label(configuration.parallel);
  if (!configuration.places.empty()) {
    out += " on " + join(configuration.places, "+", &ShardPlace::text);
  }
  return out;
}

std::vector<std::pair<std::string, std::string>> strategies(const Estimate& estimate) {
  std::vector<std::pair<std::string, std::string>> out;
  for (const OperatorShare& op : estimate.operators) {
    const auto same = [&](const auto& entry) { return entry.first == op.name; };
    if (std::ranges::none_of(out, same)) out.emplace_back(op.name, op.strategy);
  }
  return out;
}

Interval interval_of(const Estimate& e) {
  return e.run_interval ? e.run_interval->ns : Interval{e.low_ns, e.high_ns};
}

}  // namespace halmark::report
