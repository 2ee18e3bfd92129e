// A measurement in which nothing disturbed anything.
#pragma once

#include "core/measured/measurement.hpp"

namespace halmark {

inline Measurement quiet() {
  Measurement m;
  for (int i = 0; i < 20; ++i) m.samples.push_back({.wall_ns = 1000, .cpu_ns = 1000});
  m.duration_ns_median = 1000;
  m.duration_ns_interval = {999, 1001};
  m.stop_rule = "ci_width";
  return m;
}

}  // namespace halmark
