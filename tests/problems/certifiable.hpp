// Problems with known answers, as the certifier takes them: composed from kernels with bounds.
#pragma once

#include "problem.hpp"
#include "search/certify/certify.hpp"

namespace halmark::problems {

// What a kernel of mix6 is: each configuration of its own, or (width of the dtype, tile, stages),
// measured once for all that share it. Its time is 1 / efficiency.
enum class Mix6Kernels { per_configuration, shared };

// Bound: efficiency <= safety; communication is known. `peak` = the efficiency that bounds suppose
// to be the highest (1 is true).
CertifiableProblem certifiable_mix6(Mix6Kernels kernels, double safety, double peak = 1);

// The time of each kernel of the above, by index.
std::vector<double> mix6_times(const CertifiableProblem& problem, Mix6Kernels kernels);

// One kernel per configuration of a recorded space with a single objective, all of the same
// operations; `peak` in operations per millisecond. `times` is filled by kernel; 0 = did not run.
CertifiableProblem certifiable_replay(const Problem& problem, const Space& space, double operations,
                                      double peak_per_s, std::vector<double>& times);

// Asks and tells until nothing is asked or `kernels_max` are measured (0 = no limit).
void certify_all(Certifier& certifier, const std::vector<double>& times,
                 std::size_t kernels_max = 0);

}  // namespace halmark::problems
