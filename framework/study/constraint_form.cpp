#include "framework/study/constraint_form.hpp"
#include "core/numeric/cast.hpp"

#include <algorithm>

#include "core/json/json.hpp"
#include "study/values_json.hpp"

namespace halmark {

void ConstraintForm::learn(TrialState state, const Attributes& system) {
  if (state != TrialState::complete) return;
  std::vector<std::string> names;
  for (const auto& [key, text] : system) {
    if (key.starts_with(named_constraint_prefix)) names.push_back(key);
  }
  const std::string* list = find_attribute(system, constraints_attribute);
  const Json amounts = list != nullptr ? Json::parse(*list, nullptr, false) : Json();
  if (!names.empty()) {
    names_ = std::move(names);
  } else if (amounts.is_array() && !amounts.empty()) {
    list_ = amounts.size();
  } else {
    is_plain_ = true;
  }
}

Attributes ConstraintForm::stated(double total) const {
  if (!is_stated()) return {};
  Attributes out;
  for (const std::string& key : names_) {
    out.emplace_back(key, dump_json(Json(total / as_double(names_.size()))));
  }
  if (!out.empty()) return out;
  const std::size_t size = list_size();
  const std::vector<double> parts(size, total / as_double(size));
  return {{std::string(constraints_attribute), dump_json(Json(parts))}};
}

}  // namespace halmark
