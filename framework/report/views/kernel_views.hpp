// Kernels measured outside of any sweep, one row each.
#pragma once

#include <span>

#include "report/report.hpp"
#include "report/text/wrapped_text.hpp"
#include "report/views/view.hpp"

namespace halmark::report {

// {"rows": [...]}. Of collectives the text shows what they do with a link instead of utilisations.
// Columns and words of problems that are the same in all rows stand above the table, which fits
// `width`.
View kernels_view(std::span<const KernelPoint> points, bool are_collectives,
                  int width = unlimited_width);

// One line: interference from other processes where most samples had it, then what share of the
// measured peak and of the best possible the rows reach.
std::string kernels_headline(std::span<const KernelPoint> points);

// The rows of a run that measured kernels alone, as its command printed them; else "".
std::string rows_text(const RunReport& report, int width);
// `assumed` ("--dtype f32") as a line of its own behind the first, and in the document. Nothing of
// "".
void add_assumed(View& view, const std::string& assumed);

}  // namespace halmark::report
