// Sources of other people's times see a problem as a step meets it; what a case adds to it (plugin,
// ring of arguments) describes a measurement of ours, and theirs was another.
#include "latency/problem_source.hpp"

#include "kernels/contract.hpp"
#include "latency/placed_source.hpp"

namespace halmark {

std::optional<Latency> ProblemSource::latency(const KernelCase& kernel_case) const {
  if (kernel_case.parts > 1) return std::nullopt;
  const Problem problem = complete_problem(kernel_case.problem);
  return latency(problem, find_contract(problem.op)->work(problem.params));
}

std::optional<Latency> PlacedSource::latency(const KernelCase& kernel_case,
                                             std::int64_t stride) const {
  const Problem problem = complete_problem(kernel_case.problem);
  return latency(problem, find_contract(problem.op)->work(problem.params), stride);
}

}  // namespace halmark
