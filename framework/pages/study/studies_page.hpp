// What `halmark study list` and `halmark study show` print.
#pragma once

#include <span>
#include <string_view>

#include "report/views/view.hpp"
#include "study/values.hpp"

namespace halmark::pages {

// {"location", "studies": [...]}: one line each.
report::View studies_page(std::string_view location, std::span<const StudySummary> studies);

struct StudyPage {
  std::size_t rows = 20;  // of the front, as text
  bool all = false;       // all trials, not only the front
};
// One study with its Pareto front: a study_summary_json with "front" and, where all are asked for,
// "trials_all".
report::View study_page(const StudySummary& study, std::span<const TrialRow> trials,
                        const StudyPage& options);

}  // namespace halmark::pages
