// How a report ends: what was found, whether to believe it, and what to try next.
#pragma once

#include <string>
#include <vector>

#include "report/report.hpp"

namespace halmark::report {

// "found: ...", "basis: trustworthy", or why it is not, "next: ..."; nothing without a front.
std::vector<std::string> closing_lines(const RunReport& report);

}  // namespace halmark::report
