// Duet: two builds that took turns on one kernel, on the same inputs, within a second of each
// other. What the machine did to one it did to the other, so that only their ratio counts.
#pragma once

#include <string>
#include <vector>

#include "core/kernel_case.hpp"
#include "core/measured/measurement.hpp"

namespace halmark {

struct Duet {
  KernelCase kernel_case;
  std::string plugin_name;
  std::string old_build, new_build;  // ids of kept builds, or how the user named them
  // ln(time of the new build / time of the old one): one figure per pair of fresh processes, the
  // median over their turns.
  std::vector<double> log_ratios;
  double old_ns = 0, new_ns = 0;  // medians over the pairs; 0 without any
  Status status = Status::ok;     // of the pair that ended the duet
  std::string reason;
};

}  // namespace halmark
