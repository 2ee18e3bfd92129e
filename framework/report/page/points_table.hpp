// Every evaluated configuration of a phase as a row, whatever became of it.
#pragma once

#include "report/front_view.hpp"
#include "report/text/table.hpp"

namespace halmark::report {

// In the order of the front, then by latency, then those without one. Rows on the front have the
// class "on", all that of their data type; figures are there as values too, for a script to sort
// by.
Table points_table(const RunReport& report, const PhaseView& view);

// The same behind a column with the name of the run, onto a table of several; rows have the class
// of the run's look instead.
void add_points(Table& to, const RunReport& report, const PhaseView& view, const std::string& name,
                std::size_t run);

}  // namespace halmark::report
