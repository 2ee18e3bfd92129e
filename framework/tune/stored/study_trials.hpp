// Evaluations as trials of a study: parameters, values in units that people read, attributes.
#pragma once

#include <set>
#include <span>
#include <string>

#include "core/chosen/objective.hpp"
#include "study/values.hpp"

namespace halmark::tune {

// The whole evaluation as JSON, of the trials that an export may need again.
inline constexpr std::string_view evaluation_attribute = "halmark:evaluation";

StudyInfo study_of(const std::string& name, std::span<const Objective> objectives);

// New trials of a study that is made where it is absent; user attributes of one that is there are
// set. `kept_whole`: keys of the configurations whose evaluation is kept. Returns their number.
std::size_t store_trials(StudyStore& store, const StudyInfo& info,
                         std::span<const Evaluation* const> members,
                         std::span<const Objective> objectives,
                         std::span<const ServiceLevel> levels,
                         const std::set<std::string>& kept_whole);

}  // namespace halmark::tune
