#include "tune/stored/study_trials.hpp"

#include <algorithm>
#include <iterator>
#include <set>

#include "core/json/json.hpp"
#include "core/lists.hpp"
#include "core/text/text.hpp"
#include "framework/study/constraint_form.hpp"
#include "search/space/space.hpp"
#include "study/values_json.hpp"

namespace halmark::tune {
namespace {

constexpr std::string_view deployment_attribute = "halmark:deployment";
constexpr double ns_per_ms = 1e6;

// What a study calls an objective, and its values in a unit that people read.
struct StudyObjective {
  std::string name;
  StudyDirection direction;
  double scale;  // of the objective's value
};

StudyObjective study_objective(Objective objective) {
  const ObjectiveRow& row = row_of(objective);
  const StudyDirection direction =
      row.is_maximised ? StudyDirection::maximize : StudyDirection::minimize;
  if (row.unit == "ns") return {std::string(row.name) + "_ms", direction, 1 / ns_per_ms};
  if (objective == Objective::throughput) return {"tokens_per_s", direction, 1};
  if (row.unit == "bytes") return {std::string(row.name) + "_bytes", direction, 1};
  return {std::string(row.name), direction, 1};
}

Setting served_setting(const Configuration& d) {
  const auto integer = [](std::int64_t value) { return ParamValue(value); };
  const ServedLoad& load = *d.served;
  return {{"mode", ParamValue(std::string(serving_mode_name(load.mode)))},
          {"dp", integer(d.parallel.dp)},
          {"tp", integer(d.parallel.tp)},
          {"pp", integer(d.parallel.pp)},
          {"ep", integer(d.parallel.ep)},
          {"prefill_tp", integer(load.prefill.tp)},
          {"prefill_ep", integer(load.prefill.ep)},
          {"prefill_workers", integer(load.prefill_workers)},
          {"decode_workers", integer(load.decode_workers)},
          {"concurrency", integer(load.concurrency)},
          {"token_budget", integer(load.token_budget)},
          {"dtype", ParamValue(d.precision.name)}};
}

constexpr const char* even_stages = "even";  // left out where nothing else was tried

std::string stages_text(const Parallel& parallel) {
  std::string out = join(parallel.stages, ",");
  return out.empty() ? even_stages : out;
}

Setting setting_of(const Configuration& d) {
  if (d.served) return served_setting(d);
  const auto integer = [](std::int64_t value) { return ParamValue(value); };
  return {{"dp", integer(d.parallel.dp)},
          {"tp", integer(d.parallel.tp)},
          {"pp", integer(d.parallel.pp)},
          {"ep", integer(d.parallel.ep)},
          {"cp", integer(d.parallel.cp)},
          {"batch", integer(d.workload.batch)},
          {"new_tokens", integer(d.workload.new_tokens)},
          {"context", integer(d.workload.context)},
          {"routing_skew", integer(d.workload.routing_skew)},
          {"dtype", ParamValue(d.precision.name)},
          {"stages", ParamValue(stages_text(d.parallel))}};
}

// Of what the members chose: parameters with what each took, in order, which are the choices of
// every row of the study; and constants, which nobody chose.
struct Chosen {
  std::vector<std::size_t> at;  // of the parameters, in a setting
  std::vector<TrialParam> params;
  Attributes constants;
};

Chosen chosen_of(std::span<const Evaluation* const> evaluations) {
  Chosen out;
  const Setting first = setting_of(evaluations.front()->configuration);
  for (const auto i : indices(first)) {
    ParamDistribution distribution;
    std::vector<ParamValue>& choices = distribution.choices;
    for (const Evaluation* e : evaluations)
      choices.push_back(setting_of(e->configuration)[i].second);
    choices = distinct_choices(std::move(choices));
    if (choices.size() == 1) {
      if (choices.front() == ParamValue(std::string(even_stages))) continue;
      out.constants.emplace_back(first[i].first, dump_json(param_json(choices.front())));
      continue;
    }
    out.at.push_back(i);
    out.params.push_back({.name = first[i].first,
                          .distribution = std::make_shared<const ParamDistribution>(distribution)});
  }
  return out;
}

std::vector<TrialParam> params_of(const Configuration& configuration, const Chosen& chosen) {
  std::vector<TrialParam> out = chosen.params;
  const Setting setting = setting_of(configuration);
  for (const auto k : indices(out)) {
    const auto& choices = out[k].distribution->choices;
    const ParamValue& value = setting[chosen.at[k]].second;
    out[k].internal = as_double(std::ranges::find(choices, value) - choices.begin());
  }
  return out;
}

}  // namespace

std::vector<double> study_values(const Evaluation& e, std::span<const Objective> objectives) {
  return mapped(objectives, [&](const Objective o) {
    return *objective_value(e, o) * study_objective(o).scale;
  });
}

Attributes trial_attributes(const Evaluation& e) {
  Json out = {{deployment_attribute, e.configuration.key()}};
  if (!e.reason.empty()) out["halmark:reason"] = e.reason;
  if (e.estimate) {
    out["halmark:status"] = status_name(e.estimate->status);
    out["halmark:provenance"] = provenance_name(e.estimate->provenance);
    out["halmark:latency_interval_ms"] =
        Json::array({e.estimate->low_ns / ns_per_ms, e.estimate->high_ns / ns_per_ms});
    out["halmark:bottleneck"] = e.estimate->bottleneck;
    out["halmark:mfu"] = optional_number(e.estimate->mfu);
  }
  if (e.standing) {
    out["halmark:front_class"] = front_class_name(e.standing->front_class);
    out["halmark:front_probability"] = e.standing->probability;
  }
  if (e.measured_ns) out["halmark:run_ms"] = *e.measured_ns / ns_per_ms;
  Attributes attributes;
  for (const auto& [key, value] : out.items()) attributes.emplace_back(key, dump_json(value));
  return attributes;
}

namespace {

TrialRow trial_of(const Evaluation& e, const Chosen& chosen, std::span<const Objective> objectives,
                  std::span<const ServiceLevel> levels, ConstraintForm& constraints) {
  TrialRow row{.params = params_of(e.configuration, chosen), .user = chosen.constants};
  std::ranges::move(trial_attributes(e), std::back_inserter(row.user));
  const bool has_figures = e.estimate || e.served;
  const bool does_not_fit = !has_figures && e.status == Status::refused;
  const bool misses = has_figures && !violations(e, levels).empty();
  if (has_figures) {
    row.values = study_values(e, objectives);
    row.state = misses && !constraints.is_stated() ? TrialState::pruned : TrialState::complete;
  } else {
    row.state = does_not_fit ? TrialState::pruned : TrialState::fail;
  }
  if (row.state == TrialState::fail) return row;
  row.system = constraints.stated(does_not_fit || misses ? 1 : 0);
  constraints.learn(row.state, row.system);
  return row;
}

std::set<std::string> stored_deployments(StudyTransaction& transaction, std::int64_t study,
                                         ConstraintForm& constraints) {
  TrialCursor cursor;
  std::set<std::string> out;
  for (const TrialRow& row : transaction.trials(study, cursor)) {
    constraints.learn(row.state, row.system);
    if (const std::string* text = find_attribute(row.user, deployment_attribute)) {
      out.insert(*text);
    }
  }
  return out;
}

}  // namespace

std::vector<ParamValue> distinct_choices(std::vector<ParamValue> values) {
  std::ranges::sort(values, [](const ParamValue& a, const ParamValue& b) {
    const auto* left = std::get_if<std::int64_t>(&a);
    const auto* right = std::get_if<std::int64_t>(&b);
    return left != nullptr && right != nullptr ? *left < *right : text_of(a) < text_of(b);
  });
  const auto repeated = std::ranges::unique(values);
  values.erase(repeated.begin(), repeated.end());
  return values;
}

StudyInfo study_of(const std::string& name, std::span<const Objective> objectives) {
  StudyInfo out{.name = name};
  Json names = Json::array();
  for (const Objective o : objectives) {
    out.directions.push_back(study_objective(o).direction);
    names.push_back(study_objective(o).name);
  }
  out.system = {{std::string(metric_names_attribute), dump_json(names)}};
  return out;
}

std::size_t store_trials(StudyStore& store, const StudyInfo& info,
                         std::span<const Evaluation* const> members,
                         std::span<const Objective> objectives,
                         std::span<const ServiceLevel> levels,
                         const std::set<std::string>& kept_whole, const TrialTimes& times) {
  const Chosen chosen = chosen_of(members);
  std::size_t stored = 0;
  store.transact([&](StudyTransaction& transaction) {
    std::optional<StudyInfo> study = transaction.find(info.name);
    std::set<std::string> known;
    ConstraintForm constraints(!levels.empty());
    if (study) known = stored_deployments(transaction, study->id, constraints);
    if (study) transaction.set_attributes(study->id, info.user, {});
    if (!study) study = transaction.create_study(info);
    std::vector<TrialRow> rows;
    for (const Evaluation* e : members) {
      const std::string key = e->configuration.key();
      if (known.contains(dump_json(Json(key)))) continue;
      rows.push_back(trial_of(*e, chosen, objectives, levels, constraints));
      if (const auto* at = find_value(times, key)) {
        rows.back().started_utc = utc_microseconds(at->began);
        rows.back().completed_utc = utc_microseconds(at->ended);
      }
      if (kept_whole.contains(key)) {
        rows.back().user.emplace_back(evaluation_attribute, dump_json(Json(*e)));
      }
    }
    transaction.create(study->id, rows);
    stored = rows.size();
  });
  return stored;
}

}  // namespace halmark::tune
