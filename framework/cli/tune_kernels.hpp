// halmark tune of a sweep of kernels: backends compared, problem by problem.
#pragma once

#include <string>
#include <vector>

#include "cli/console/session.hpp"
#include "plan/kernel_sweep.hpp"

namespace halmark::cli {

// `command`: that makes it again.
CommandResult tune_kernels(const GlobalOptions& global, const KernelSweep& sweep,
                           const std::string& command, Keeping keeping = {});

}  // namespace halmark::cli
