// The tables of a report for a terminal.
#pragma once

#include <string>

#include "report/report.hpp"

namespace halmark {

// As report_text, in lines of at most `width` columns; no cell is cut. `rows`: of a run that
// measured kernels alone, in the place of what is said of a front.
std::string report_text(const RunReport& report, bool color, int width,
                        const std::string& rows = {});

// The fronts and the closing lines alone.
std::string brief_text(const RunReport& report, bool color, int width);

}  // namespace halmark
