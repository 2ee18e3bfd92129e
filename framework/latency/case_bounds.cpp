// Ceilings are resolved once per way of cutting the device; a sweep has thousands of cases and a
// handful of those.
#include "latency/case_bounds.hpp"

#include <algorithm>

#include "kernels/contract.hpp"

namespace halmark {

const roofline::Ceilings& CaseBounds::ceilings(const KernelCase& kernel_case) const {
  const int parts = std::max(1, kernel_case.parts);
  const auto [it, is_new] = ceilings_.try_emplace({parts, std::max(1, kernel_case.shards_at_once)});
  if (is_new && bounding_.device != nullptr) {
    const int threads = bounding_.threads == 0 ? 0 : std::max(1, bounding_.threads / parts);
    it->second = roofline::Ceilings(*bounding_.device, threads, it->first.second);
  }
  return it->second;
}

CaseBound CaseBounds::of(const KernelCase& kernel_case) const {
  const Problem problem = complete_problem(kernel_case.problem);
  CaseBound out{.work = find_contract(problem.op)->work(problem.params),
                .ceilings = &ceilings(kernel_case)};
  out.bound = roofline::case_bound(out.work, kernel_case, *out.ceilings);
  return out;
}

}  // namespace halmark
