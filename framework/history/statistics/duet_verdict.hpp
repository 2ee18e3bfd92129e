// What a duet says: whether the new build is slower, faster or the same, whatever the machine did.
#pragma once

#include <string>

#include "core/measured/duet.hpp"
#include "history/comparison.hpp"

namespace halmark::history {

struct DuetVerdict {
  Change change = Change::invalid;
  std::string reason;       // why not decided or not valid
  double ratio = 1;         // new / old, geometric mean over the pairs
  Interval interval{1, 1};  // 95 %, Student's t over the pairs
  double p = 1;             // of no change
  int pairs = 0;
};

// SLOWER or FASTER: the ratio reaches the floor, its 99 % interval lies on one side of 1, and the
// pairs behind the choosing ones say the same by themselves. SAME: the interval lies within the
// floor. FAILED: the new build broke where the old one computed.
DuetVerdict judge_duet(const Duet& duet, double floor);

}  // namespace halmark::history
