// The rows of a search over variants, judged.
#pragma once

#include <span>
#include <vector>

#include "report/views/winner_views.hpp"
#include "tune/search/kernels/variants.hpp"
#include "tune/stored/stored_report.hpp"

namespace halmark::tune {

// One per set, in their order.
std::vector<report::VariantComparison> compare_variants(std::span<const VariantSet> sets,
                                                        std::span<const Measurement> rows,
                                                        const ReportingMachine& machine);

}  // namespace halmark::tune
