// Every table of the reports: which columns there are, and how each cell is made.
#pragma once

#include "report/front_view.hpp"
#include "report/text/table.hpp"

namespace halmark::report {

enum class TableWidth { narrow, wide };  // terminal; page

Table front_table(const PhaseView& view, TableWidth width);
Table validation_table(const RunReport& report);
// A row per role of each rank that was run; no rows where no memory was measured.
Table memory_table(const RunReport& report);
// Operators of a front point, longest first; the numbers of the first column name the bar segments.
Table breakdown_table(const FrontRow& row);
Table kernel_table(const RunReport& report);
Table peak_table(const Device& device);
Table bandwidth_table(const Device& device);

// The operators in the order of breakdown_table.
std::vector<const OperatorShare*> by_share(const Estimate& estimate);

}  // namespace halmark::report
