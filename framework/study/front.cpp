#include "framework/study/front.hpp"

#include <algorithm>
#include <cmath>

#include "search/pareto/pareto.hpp"
#include "study/values_json.hpp"

namespace halmark {

std::vector<std::size_t> study_front(const StudyInfo& study, std::span<const TrialRow> rows) {
  std::vector<std::size_t> members;
  std::vector<Objectives> points;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const TrialRow& row = rows[i];
    const bool is_measured =
        row.state == TrialState::complete && row.values.size() == study.directions.size() &&
        std::ranges::all_of(row.values, [](double value) { return std::isfinite(value); });
    if (!is_measured) continue;
    if (std::ranges::any_of(constraint_values(row), [](double g) { return g > 0; })) continue;
    Objectives point = row.values;
    for (std::size_t d = 0; d < point.size(); ++d) {
      if (study.directions[d] == StudyDirection::maximize) point[d] = -point[d];
    }
    members.push_back(i);
    points.push_back(std::move(point));
  }
  std::vector<std::size_t> out;
  for (const std::size_t k : non_dominated(points)) out.push_back(members[k]);
  return out;
}

}  // namespace halmark
