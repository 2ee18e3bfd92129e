// The Pareto front of a study's rows.
#pragma once

#include <span>
#include <vector>

#include "study/values.hpp"

namespace halmark {

// Indices of complete trials that meet every constraint and that no other dominates, in order; one
// with an infinite value is no member.
std::vector<std::size_t> study_front(const StudyInfo& study, std::span<const TrialRow> rows);

}  // namespace halmark
