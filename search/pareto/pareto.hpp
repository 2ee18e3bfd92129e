// The exact non-dominated set, ranks, crowding and hypervolume. Objectives are minimised and
// finite.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace halmark {

using Objectives = std::vector<double>;

// a is at least as good everywhere and better somewhere. -0.0 equals 0.0.
bool dominates(std::span<const double> a, std::span<const double> b);

// Indices of the points that no other dominates, in input order; equal points are all kept.
// O(n log n) for up to three objectives, O(n^2) above.
std::vector<std::size_t> non_dominated(std::span<const Objectives> points);

// 0 for the front, 1 for the front of the rest, and so on.
std::vector<int> non_dominated_ranks(std::span<const Objectives> points);

// Crowding distance within each rank (Deb et al. 2002); the ends of a rank get infinity.
std::vector<double> crowding_distances(std::span<const Objectives> points,
                                       std::span<const int> ranks);

// Volume dominated by the points and bounded by `reference`; points beyond it add nothing. Exact:
// sweeps in O(n log n) for two and three objectives (Beume et al. 2009), slices above.
double hypervolume(std::span<const Objectives> points, std::span<const double> reference);

}  // namespace halmark
