#include "search/pareto/front_certainty.hpp"

#include "core/lists.hpp"

namespace halmark {
namespace {

// a <= b in every objective.
bool reaches(std::span<const double> a, std::span<const double> b) {
  for (const auto k : indices(a)) {
    if (a[k] > b[k]) return false;
  }
  return true;
}

}  // namespace

std::vector<FrontClass> front_classes(std::span<const Objectives> low,
                                      std::span<const Objectives> high) {
  std::vector<FrontClass> out(low.size(), FrontClass::certain);
  for (const auto i : indices(low)) {
    for (std::size_t j = 0; j < low.size() && out[i] != FrontClass::out; ++j) {
      if (i == j) continue;
      if (dominates(high[j], low[i])) {
        out[i] = FrontClass::out;
      } else if (reaches(low[j], high[i])) {
        out[i] = FrontClass::possible;
      }
    }
  }
  return out;
}

std::vector<std::size_t> rivals(std::size_t i, std::span<const Objectives> low,
                                std::span<const Objectives> high) {
  std::vector<std::size_t> out;
  for (const auto j : indices(low)) {
    if (i != j && reaches(low[j], high[i]) && !dominates(high[i], low[j])) out.push_back(j);
  }
  return out;
}

void FrontMembership::add(std::span<const Objectives> draw) {
  ++draws_;
  for (const std::size_t i : non_dominated(draw)) ++times_[i];
}

double FrontMembership::probability(std::size_t configuration) const {
  return draws_ == 0 ? 0 : as_double(times_[configuration]) / draws_;
}

}  // namespace halmark
