// How often the chain of a comparison calls a change where there is none: a build against itself.
#pragma once

#include <span>
#include <vector>

#include "core/measured/duet.hpp"
#include "history/comparison.hpp"

namespace halmark::history {

struct FalseAlarms {
  int comparisons = 0;
  std::vector<KernelCase> called;  // SLOWER or FASTER, once per comparison that said so
  int confirmed = 0;               // of them, where a duet of the build with itself said so as well
  double share() const;            // of the comparisons, after confirmation
  double upper() const;            // of that share, 95 %, one-sided
};

// Rows whose rounds count the processes of all pairs: `rounds` of the one side and of the other,
// alternating. Each pair is judged as one comparison of all its kernels.
FalseAlarms false_alarms(std::span<const Measurement> rows, int rounds,
                         const ComparisonRules& rules);
// What duets of the kernels that were called say: those that agree are alarms.
void confirm(FalseAlarms& alarms, std::span<const Duet> duets, double floor);

// Upper end of the exact one-sided 95 % interval of a share (Clopper and Pearson).
double share_upper_95(int events, int trials);

}  // namespace halmark::history
