// Kernels measured outside of any sweep, one row each.
#pragma once

#include <span>

#include "report/report.hpp"
#include "report/views/view.hpp"

namespace halmark::report {

// {"rows": [...]}. Of collectives the text shows what they do with a link instead of utilisations.
View kernels_view(std::span<const KernelPoint> points, bool are_collectives);

}  // namespace halmark::report
