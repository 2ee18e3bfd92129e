// Upper ends of evaluated configurations that no other beats: what a lower bound is judged by.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "search/pareto/pareto.hpp"

namespace halmark {

// What nothing is known of: gaps before anything was evaluated, times of unmeasured kernels.
inline constexpr double infinity = std::numeric_limits<double>::infinity();

// Smallest eps >= 0 such that upper <= (1 + eps) bound in every objective, for a maximised one
// (which is negative here): value >= bound's value / (1 + eps). Infinity where no factor helps.
double relative_gap(std::span<const double> upper, std::span<const double> bound,
                    std::span<const bool> is_maximised);

class UpperArchive {
 public:
  struct Member {
    std::uint64_t configuration;
    Objectives upper;
  };

  // Whether it was taken: not when a member is at least as good everywhere. Members that it beats
  // leave.
  bool add(std::uint64_t configuration, std::span<const double> upper);
  // A member that is at least as good as `bound` everywhere.
  std::optional<std::uint64_t> dominator(std::span<const double> bound) const;
  // The smallest relative_gap of any member.
  double gap(std::span<const double> bound, std::span<const bool> is_maximised) const;

  std::span<const Member> members() const { return members_; }

 private:
  std::vector<Member> members_;
  mutable std::size_t last_ = 0;  // who dominated last: the next bound is often beside it
};

}  // namespace halmark
