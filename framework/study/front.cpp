#include "framework/study/front.hpp"
#include "core/lists.hpp"

#include <algorithm>
#include <cmath>

#include "search/pareto/pareto.hpp"
#include "study/values_json.hpp"

namespace halmark {

std::vector<std::size_t> study_front(const StudyInfo& study, std::span<const TrialRow> rows) {
  std::vector<std::size_t> members;
  std::vector<Objectives> points;
  for (const auto i : indices(rows)) {
    const TrialRow& row = rows[i];
    const bool is_measured =
        row.state == TrialState::complete && row.values.size() == study.directions.size() &&
        std::ranges::all_of(row.values, [](double value) { return std::isfinite(value); });
    if (!is_measured) continue;
    if (std::ranges::any_of(constraint_values(row), [](double g) { return g > 0; })) continue;
    Objectives point = row.values;
    for (const auto d : indices(point)) {
      if (study.directions[d] == StudyDirection::maximize) point[d] = -point[d];
    }
    members.push_back(i);
    points.push_back(std::move(point));
  }
  return mapped(non_dominated(points), [&](const std::size_t k) { return members[k]; });
}

}  // namespace halmark
