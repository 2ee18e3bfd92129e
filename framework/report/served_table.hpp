// What the texts of a served report share: its table, and figures with their intervals.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "report/served_report.hpp"
#include "report/text/table.hpp"

namespace halmark {

// "8.10 ms (7.20..9.40 ms)", "959 (782..1096)"; without a width the value alone.
std::string ranged_time(double ns, double low, double high);
std::string ranged_rate(double rate, double low, double high);
// "92.2 %"; an interval of 90 % says nothing of its far tails: "> 99 %".
std::string probability_text(const ServedReport& report, const ServedPoint& point);

using Points = std::vector<std::size_t>;  // of the front
Points all_points(const ServedReport& report);
// Of points that hardly differ one, but the best of each objective and the chosen one always.
Points shown_points(const ServedReport& report);
report::Table front_table(const ServedReport& report, const Points& points);

}  // namespace halmark
