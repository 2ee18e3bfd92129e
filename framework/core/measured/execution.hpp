// What one rank of a stack executed in a step, kernel by kernel.
#pragma once

#include <string>
#include <vector>

namespace halmark {

// Medians over the repetitions of a run; `begin_ns` counts from the begin of the step on the rank
// that began first.
struct Execution {
  std::string operator_name;
  double begin_ns = 0, ns = 0;
  bool operator==(const Execution&) const = default;
};
using RankExecutions = std::vector<Execution>;  // in the order of the rank's stack

}  // namespace halmark
