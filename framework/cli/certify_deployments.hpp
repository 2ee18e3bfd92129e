// A sweep as something to certify: every combination of its space, the kernels each needs with what
// bounds them, and its objectives as formulas of their times.
#pragma once

#include <map>
#include <vector>

#include "cli/tune_plan.hpp"
#include "latency/measured_source.hpp"
#include "search/certify/certify_problem.hpp"

namespace halmark::cli {

struct DeploymentProblem {
  CertifiableProblem problem;
  std::vector<KernelCase> cases;                       // by kernel
  std::vector<Objective> certified;                    // of the sweep's objectives, in their order
  std::vector<Objective> only_reported;                // not known to grow with every kernel's time
  std::map<std::uint64_t, Configuration> deployments;  // by combination, valid ones
};

// `safety`: factor on every peak. Objectives without a formula here are reported, not certified.
// Throws Error (exit 2) when none is left.
DeploymentProblem certifiable_deployments(const TunePlan& plan, const LocalMachine& machine,
                                          double safety);

}  // namespace halmark::cli
