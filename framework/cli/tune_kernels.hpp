// halmark tune of a sweep of kernels: backends compared, problem by problem.
#pragma once

#include <string>
#include <vector>

#include "cli/console/session.hpp"
#include "plan/kernel_sweep.hpp"

namespace halmark::cli {

CommandResult tune_kernels(const GlobalOptions& global, const KernelSweep& sweep,
                           Keeping keeping = {});

}  // namespace halmark::cli
