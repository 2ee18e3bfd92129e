// Which of many points to keep: rank by rank, and of the rank that does not fit whole, those that
// add most to the hypervolume.
#pragma once

#include <span>
#include <vector>

#include "search/pareto/pareto.hpp"

namespace halmark {

// A tenth of the points' extent beyond their worst values; one, where they have none.
Objectives reference_beyond(std::span<const Objectives> points);

// Indices of the best `count` points, best first: by non-dominated rank, and within each rank in
// the order in which the point with the largest gain of hypervolume over those before it is taken
// (reference: beyond those of the rank). By crowding above three objectives.
std::vector<std::size_t> best_points(std::span<const Objectives> points, std::size_t count);

}  // namespace halmark
