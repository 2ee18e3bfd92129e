// Carries a study from one storage to another.
#pragma once

#include <string>

#include "study/values.hpp"

namespace halmark {

// All rows in the order of their numbers, in one transaction; how many. Throws Error (exit 2) when
// `to` has a study of that name already.
std::size_t copy_study(StudyStore& from, const StudyInfo& study, StudyStore& to,
                       const std::string& name);

// The study of that name; the only one where the name is empty. Throws Error (exit 2) naming those
// that are there.
StudySummary find_study(StudyStore& store, const std::string& name);

}  // namespace halmark
