// [nightly] of a sweep: what a scheduler calls every night, within minutes that are its own.
#pragma once

#include <optional>
#include <vector>

#include "plan/asked_kernels.hpp"

namespace halmark {

struct Nightly {
  double budget_s = 0;  // of a whole night
  // Of the results database: raw samples from before the latest n nights go; 0 = all stay.
  int keep_samples_nights = 0;
  std::vector<AskedKernels> kernels;  // besides those of the sweep's model
  // Measured before, between and after the rounds: what moves them is the machine.
  std::vector<AskedKernels> sentinels;
};

// Absent where the file has no [nightly]. Throws Error (exit 2) with file:line:column.
std::optional<Nightly> read_nightly(const TomlTable& root);

}  // namespace halmark
