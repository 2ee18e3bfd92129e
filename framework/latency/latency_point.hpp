// LatencyPoint: one known time of one implementation on one device, measured by us or by others.
#pragma once

#include <cstdint>

#include "core/problem.hpp"

namespace halmark {

struct LatencyPoint {
  Problem problem;
  double ns = 0;
  std::uint32_t line = 0;  // of its table; 0 = it is from none
};

}  // namespace halmark
