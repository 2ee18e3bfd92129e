#include "study/storage/open.hpp"

#include <cmath>
#include <stdexcept>

#include "core/json/json.hpp"
#include "core/lists.hpp"
#include "core/text/error.hpp"
#include "study/storage/backends.hpp"
#include "study/storage/location.hpp"
#include "study/values_json.hpp"

namespace halmark {
namespace journal {

void require_study_revision(const std::string& revision, const std::string& location) {
  if (revision == study_revision) return;
  throw refused(
      "these studies have " +
          (revision.empty() ? std::string("no revision") : "revision '" + revision + "'") +
          " of Optuna's tables; revision '" + study_revision + "' (Optuna 3.2 and later) is needed",
      location, "optuna storage upgrade brings older ones forward");
}

std::string number_text(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
  return Json(value).dump();
}

const char* value_type_name(double value) {
  if (std::isnan(value)) return "NAN";
  if (std::isinf(value)) return value > 0 ? "INF_POS" : "INF_NEG";
  return "FINITE";
}

double typed_value(bool is_null, double value, std::string_view type) {
  if (type == "INF_POS") return HUGE_VAL;
  if (type == "INF_NEG") return -HUGE_VAL;
  return is_null || type == "NAN" ? std::nan("") : value;
}

StudyDirection direction_of(std::string_view name) {
  if (name == "MINIMIZE") return StudyDirection::minimize;
  return name == "MAXIMIZE" ? StudyDirection::maximize : StudyDirection::not_set;
}

const char* direction_name(StudyDirection direction) {
  if (direction == StudyDirection::minimize) return "MINIMIZE";
  return direction == StudyDirection::maximize ? "MAXIMIZE" : "NOT_SET";
}

TrialState state_of(std::string_view name, const std::string& location) {
  for (const auto i : indices(trial_states)) {
    const auto state = static_cast<TrialState>(i);
    if (state_name(state) == name) return state;
  }
  throw refused("a trial has the unknown state '" + std::string(name) + "'", location);
}

std::shared_ptr<const ParamDistribution> DistributionTexts::parsed(std::string_view text) {
  if (const auto* found = find_value(by_text_, text)) return *found;
  auto value = std::make_shared<const ParamDistribution>(parse_distribution(text, location_));
  by_text_.emplace(text, value);
  by_value_.emplace(value, text);
  return value;
}

const std::string& DistributionTexts::text(
    const std::shared_ptr<const ParamDistribution>& distribution) {
  const auto* found = find_value(by_value_, distribution);
  if (found) return *found;
  return by_value_.emplace(distribution, distribution_text(*distribution)).first->second;
}

}  // namespace journal

std::unique_ptr<StudyStore> open_study_store(const std::string& location, StudyAccess access) {
  const journal::StudyPlace place = journal::study_place(location);
  switch (place.backend) {
    case journal::StudyBackend::memory:
      return journal::open_sqlite_studies(location, ":memory:", access);
    case journal::StudyBackend::sqlite:
      return journal::open_sqlite_studies(location, place.target, access);
    case journal::StudyBackend::journal:
      return journal::open_journal_studies(location, place.target, access);
    case journal::StudyBackend::postgresql:
      return journal::open_postgresql_studies(place.target, access);
  }
  throw std::logic_error("a kind of storage without a way to open it");
}

}  // namespace halmark
