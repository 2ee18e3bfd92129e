// Rows of a campaign folded per case, with what the host says about them.
#pragma once

#include <span>
#include <vector>

#include "cli/console/session.hpp"
#include "report/report.hpp"

namespace halmark::cli {

// One point per case, in the order of first appearance. Failed rounds give their status and reason
// where no round has a latency.
std::vector<KernelPoint> kernel_points(std::span<const Measurement> rows,
                                       const LocalMachine& machine);

}  // namespace halmark::cli
