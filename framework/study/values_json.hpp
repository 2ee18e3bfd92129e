// Parameters and distributions of studies as JSON, in the spelling of Optuna.
#pragma once

#include <string>
#include <string_view>

#include "core/json/json_type.hpp"
#include "study/values.hpp"

namespace halmark {

Json param_json(const ParamValue& value);
// Throws Error (exit 2) for an array, an object, or an integer beyond 64 bits.
ParamValue param_value_of(const Json& json, std::string_view name);

// {"name": "IntDistribution", "attributes": {"log": false, "step": 1, "low": 1, "high": 8}}
std::string distribution_text(const ParamDistribution& distribution);
// Reads the older class names and the short form {"type": "int", ...} too. Throws Error (exit 2).
ParamDistribution parse_distribution(std::string_view text, std::string_view where);

// The study attribute that names the objectives: a JSON list of strings.
inline constexpr std::string_view metric_names_attribute = "study:metric_names";
// The trial attribute of constraints: a JSON list of numbers, feasible when all are <= 0.
inline constexpr std::string_view constraints_attribute = "constraints";
// Optuna 5 has a key for each constraint: this and its name, a number.
inline constexpr std::string_view named_constraint_prefix = "constraints:";
// The trial attribute of our own with the amount of each violation.
inline constexpr std::string_view violations_attribute = "halmark:violations";
// The trial attribute of an enqueued trial: names and values that are given.
inline constexpr std::string_view fixed_params_attribute = "fixed_params";

// As many as the study has objectives; "value 0", "value 1" where they have no names.
std::vector<std::string> metric_names(const StudyInfo& study);
// The values of both. Empty without any.
std::vector<double> constraint_values(const TrialRow& row);
// How much was broken: the amounts that this program stored, else those above 0 that Optuna has.
std::vector<double> violations_of(const TrialRow& row);

// {"trial", "state", "params", "values", "constraints"}; infinite values are "inf" and "-inf", what
// was not told is absent or an empty list. Constraints of a trial that states none are what it was
// told to break.
Json trial_json(const TrialRow& row);

// [{"name", "direction"}, ...], "minimize" or "maximize".
Json objectives_json(const StudyInfo& study);

// {"name", "trials", "states", "objectives"}: counts by state, objectives with their direction.
Json study_summary_json(const StudySummary& study);

}  // namespace halmark
