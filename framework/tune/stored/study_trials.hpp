// Evaluations as trials of a study: parameters, values in units that people read, attributes.
#pragma once

#include <set>
#include <span>
#include <string>
#include <vector>

#include "core/chosen/objective.hpp"
#include "study/values.hpp"
#include "tune/search/loop.hpp"

namespace halmark::tune {

// The whole evaluation as JSON, of the trials that an export may need again.
inline constexpr std::string_view evaluation_attribute = "halmark:evaluation";

// The choices of a parameter that took these values: each once, numbers in order, text behind.
std::vector<ParamValue> distinct_choices(std::vector<ParamValue> values);

StudyInfo study_of(const std::string& name, std::span<const Objective> objectives);

// The values of a study's trial, in the units of its objectives; the evaluation has figures.
std::vector<double> study_values(const Evaluation& e, std::span<const Objective> objectives);
// Status, provenance, interval and the like.
Attributes trial_attributes(const Evaluation& e);

// New trials of a study that is made where it is absent; user attributes of one that is there are
// set. What has one value in all members is a user attribute of every trial, and no parameter.
// `kept_whole`: keys of the configurations whose evaluation is kept. A trial began and ended when
// `times` says its configuration was evaluated; now, where it does not say. Returns their number.
std::size_t store_trials(StudyStore& store, const StudyInfo& info,
                         std::span<const Evaluation* const> members,
                         std::span<const Objective> objectives,
                         std::span<const ServiceLevel> levels,
                         const std::set<std::string>& kept_whole, const TrialTimes& times = {});

}  // namespace halmark::tune
