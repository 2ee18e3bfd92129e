// A front that a person can use: points that hardly differ are one group with one representative.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "core/chosen/objective.hpp"

namespace halmark {

struct PointGroup {
  std::size_t representative = 0;
  std::vector<std::size_t> others;  // alike in every objective
};

// Of each objective two points are alike where their values differ by less than `share` of the
// smaller, or where their intervals overlap. The first point of a group stands for it: others are
// compared with it and not with one another, so that no chain of small steps joins two ends.
std::vector<PointGroup> group_points(std::span<const Evaluation> points,
                                     std::span<const Objective> objectives, double share);
std::vector<PointGroup> group_points(std::span<const Evaluation* const> points,
                                     std::span<const Objective> objectives, double share);

// Where nobody asks for another one.
inline constexpr double alike_share = 0.01;
// What a table of representatives says of the rest; "" where nothing is left out.
std::string alike_text(std::span<const PointGroup> groups);

}  // namespace halmark
