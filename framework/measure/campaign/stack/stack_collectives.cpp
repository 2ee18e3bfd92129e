#include "measure/campaign/stack/stack_collectives.hpp"

#include <algorithm>
#include <vector>

namespace halmark {
namespace {

// The problems of a rank's collective steps, in the order of execution.
std::vector<const Problem*> collective_steps(const Stack& stack) {
  std::vector<const Problem*> found;
  for (const StackStep& step : stack.steps) {
    const KernelCase& kernel = stack.kernels[static_cast<std::size_t>(step.kernel)];
    if (kernel.is_collective()) found.push_back(&kernel.problem);
  }
  return found;
}

}  // namespace

std::optional<std::string> collective_mismatch(std::span<const Stack> per_rank) {
  const auto expected = collective_steps(per_rank.front());
  const auto ranks = static_cast<std::int64_t>(per_rank.size());
  for (const Problem* problem : expected) {
    if (problem->params.at("ranks") == ranks) continue;
    return problem->text() + " joins only some of the " + std::to_string(ranks) +
           " ranks; whole stacks run with collectives over all of them";
  }
  for (std::size_t rank = 1; rank < per_rank.size(); ++rank) {
    const auto steps = collective_steps(per_rank[rank]);
    const auto [here, there] = std::ranges::mismatch(
        expected, steps, [](const Problem* a, const Problem* b) { return *a == *b; });
    if (here == expected.end() && there == steps.end()) continue;
    const auto text = [](auto at, const auto& all) {
      return at == all.end() ? std::string("no more") : (*at)->text();
    };
    return "collective " + std::to_string(here - expected.begin() + 1) + " is " +
           text(here, expected) + " on rank 0 and " + text(there, steps) + " on rank " +
           std::to_string(rank);
  }
  return std::nullopt;
}

}  // namespace halmark
