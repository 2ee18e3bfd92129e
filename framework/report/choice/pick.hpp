// One point of a front for a person: which one, why, and what it gives up against the others.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "core/chosen/deployment.hpp"

namespace halmark {

struct Pick {
  std::size_t index = 0;
  std::string because;                // one sentence
  std::vector<std::string> gives_up;  // an objective each, against its best point; "" lines never
};

// "knee": nearest to the best of every objective at once, each as the logarithm of its ratio over
// the range that the front has. "best:OBJECTIVE": of that one alone. Ties go to the earlier point.
// There is a point. Throws Error (exit 2) for another word, or an objective that the points have no
// figure of.
Pick pick_point(std::span<const Evaluation> points, std::span<const Objective> objectives,
                const std::string& how);

// What one point gives up against the best of each objective.
std::vector<std::string> given_up(std::span<const Evaluation> points,
                                  std::span<const Objective> objectives, std::size_t index);
// "" = knee. Throws likewise, and where there is none, with the nearest miss.
Pick pick_point(const SearchedFront& front, const std::string& how);

inline constexpr const char* pick_help = "knee (default), or best:OBJECTIVE";

}  // namespace halmark
