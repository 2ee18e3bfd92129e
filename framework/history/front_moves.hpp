// "The front moved": which configurations entered it or left it between two runs of a sweep, and
// the operator whose time did it. An event of its own: a front may move while no series is slower.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/chosen/configuration.hpp"

namespace halmark::history {

// What one side evaluated, and the indices of its front.
struct FrontSide {
  std::span<const Evaluation> evaluations;
  std::vector<std::size_t> front;
};

struct FrontMove {
  std::string configuration;  // key
  bool has_entered = true;    // or left
  // Its probability of being on the front moved by half or more; else both sides are within noise
  // of each other. False where a side has not judged it.
  bool is_certain = false;
  std::optional<double> before_ns, after_ns;  // of its step; absent where a side has none
  // Of the configuration that changed most among those of the two fronts: itself, where it changed
  // by 1 % or more.
  std::string moved_by, kernel;
  double kernel_before_ns = 0, kernel_after_ns = 0;  // all executions of a step
};

// Entered ones first, each by key. None where a side evaluated nothing.
std::vector<FrontMove> front_moves(const FrontSide& before, const FrontSide& after);

}  // namespace halmark::history
