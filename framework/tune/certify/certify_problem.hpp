// The problems of a plan as one thing to certify: every combination of their parameters, the
// kernels that each needs with what bounds them, and its objectives as formulas of their times.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "search/certify/certify_problem.hpp"
#include "tune/plan/plan.hpp"

namespace halmark::tune {

struct StepsToCertify {
  CertifiableProblem problem;
  std::vector<KernelCase> cases;         // by kernel
  std::vector<Objective> certified;      // of the sweep's objectives, in their order
  std::vector<Objective> only_reported;  // not known to grow with every kernel's time
  std::map<std::uint64_t, Configuration> configurations;  // by combination, valid ones
};

// `safety`: factor on every peak. Objectives without a formula are reported, not certified. Throws
// Error (exit 2) when none is left, or when there are more combinations than a proof can list.
StepsToCertify steps_to_certify(const TunePlan& plan, double safety);

}  // namespace halmark::tune
