// LatencyPoint: one known time of one implementation on one device, measured by us or by others.
#pragma once

#include "core/problem.hpp"

namespace halmark {

struct LatencyPoint {
  Problem problem;
  double ns = 0;
};

}  // namespace halmark
