// A point is turned into a configuration parameter by parameter: each domain has one function that
// writes its value. The problems of steps and of requests differ in their list of parameters alone.
#include "tune/problem/problem.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/json/json.hpp"
#include "core/lists.hpp"
#include "core/text/digest.hpp"

namespace halmark::tune {

namespace {

Json domain_json(const SearchDomain& domain) {
  Json values = json_list(domain.values, [](const ParamValue& value) { return text_of(value); });
  Json out = {{"name", domain.name}, {"values", std::move(values)}};
  if (!domain.when.empty()) out["when"] = domain.when;
  return out;
}

}  // namespace

TuneProblem::TuneProblem(std::string name, SpaceDescription description, std::vector<Set> setters,
                         Configuration base, std::vector<Objective> objectives,
                         std::vector<ServiceLevel> levels)
    : name_(std::move(name)),
      description_(std::make_shared<const SpaceDescription>(std::move(description))),
      space_(std::make_shared<const Space>(*description_)),
      setters_(std::move(setters)),
      base_(std::move(base)),
      objectives_(std::move(objectives)),
      levels_(std::move(levels)) {}

Configuration TuneProblem::at(const Point& point) const {
  Configuration out = base_;
  for (const auto d : indices(setters_)) {
    if (point[d] == absent) continue;
    setters_[d](out, space_->domains()[d].value(point[d]));
  }
  return out;
}

Json TuneProblem::json() const {
  Json domains = json_list(description_->domains, domain_json);
  Json constraints = json_list(description_->constraints, [](const StatedConstraint& c) -> Json {
    return {{"name", c.name}, {"expression", c.expression}};
  });
  return {{"name", name_},
          {"parameters", std::move(domains)},
          {"constraints", std::move(constraints)},
          {"configurations", space_->size()}};
}

std::string TuneProblem::hash() const { return sha256_of(json().dump()); }

TuneProblem TuneProblem::with(std::vector<StatedConstraint> constraints) const {
  SpaceDescription description = *description_;
  std::ranges::move(constraints, std::back_inserter(description.constraints));
  return {name_, std::move(description), setters_, base_, objectives_, levels_};
}

}  // namespace halmark::tune
