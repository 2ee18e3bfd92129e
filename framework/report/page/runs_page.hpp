// Several stored runs side by side: which configurations each evaluated, how fast, and where their
// fronts lie. Nothing is judged here: halmark compare tells a change from noise.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "report/report.hpp"

namespace halmark {

struct NumberedReport {
  std::int64_t run = 0;
  RunReport report;
};

// As many as there are colours and shapes that stay apart.
inline constexpr std::size_t runs_max = 6;

// {"runs", "configurations"}: the latter in the order of the first run that has each, with one
// entry a run; the text has both as tables for `width` columns.
Json runs_json(const std::vector<NumberedReport>& runs);
std::string runs_text(const std::vector<NumberedReport>& runs, int width);

// One self-contained page, readable without script.
std::string runs_html(const std::vector<NumberedReport>& runs);

// By suffix: .html .json .md. Throws Error: exit 2 for another, exit 1 for a storage error.
void write_runs(const std::vector<NumberedReport>& runs, const std::string& path);

}  // namespace halmark
