// One point of a front for a person: which one, why, and what it gives up against the others.
#pragma once

#include <cstddef>
#include <set>
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

// What a user reads along with, and more than most do: what is asked of a server without levels.
inline constexpr double user_tokens_per_s = 20;
// A level that is kept with this probability is one to rely on.
inline constexpr double sure_to_keep_levels = 0.9;

// "knee": nearest to the best of every objective at once, each as the logarithm of its ratio over
// the range that the front has. "best:OBJECTIVE": of that one alone. Ties go to the earlier point.
// There is a point. Throws Error (exit 2) for another word, or an objective that the points have no
// figure of.
Pick pick_point(std::span<const Evaluation> points, std::span<const Objective> objectives,
                const std::string& how);

// What one point gives up against the best of each objective.
std::vector<std::string> given_up(std::span<const Evaluation> points,
                                  std::span<const Objective> objectives, std::size_t index);
// The best points of each objective that they all have a figure of; of equals the first.
std::set<std::size_t> ends_of(std::span<const Evaluation> points,
                              std::span<const Objective> objectives);
// "" = "cheapest" of requests and "knee" of steps. "cheapest" is the most throughput per device:
// with levels among points that keep them with a probability of 90 % by the forecast's interval,
// else among those that give a user 20 tokens/s. Where there is none of these, the most
// throughput per device of those within 10 points of the highest probability; without levels the
// lowest TPOT whose throughput is within 10 % of the best.
// Throws likewise, and where there is no point, with the nearest miss.
Pick pick_point(const SearchedFront& front, const std::string& how);

inline constexpr const char* pick_help =
    "cheapest (of requests: the most tokens/s per device at 20 tokens/s a user, or with P(SLO met) "
    ">= 90 %), knee (of steps), or best:OBJECTIVE";

}  // namespace halmark
