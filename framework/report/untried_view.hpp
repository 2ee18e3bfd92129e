// What a run did not try, beside the front of its phase: a sentence and a table.
#pragma once

#include <cstddef>
#include <string>

#include "report/front_view.hpp"
#include "report/text/table.hpp"

namespace halmark::report {

// Null where everything of the phase was tried, or nothing is known.
const Untried* untried_of(const RunReport& report, Phase phase);
// "14 of 30 configurations were not tried; 3 of them could still enter this front, best bound
// first"; "" where everything was tried.
std::string untried_text(const RunReport& report, const PhaseView& view);
// The first `rows_max` of those that could enter.
Table untried_table(const RunReport& report, const Untried& untried, std::size_t rows_max);
// "and 12 more: --json has them"; "" where the table has all.
std::string untried_more(const Untried& untried, std::size_t rows_max);

}  // namespace halmark::report
