// How sure the membership of a front is when objectives are known by intervals or by draws.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "core/chosen/configuration.hpp"
#include "search/pareto/pareto.hpp"

namespace halmark {

// `low[i]` and `high[i]`: the ends of what configuration i may really score, minimised.
std::vector<FrontClass> front_classes(std::span<const Objectives> low,
                                      std::span<const Objectives> high);

// Rivals of configuration i: those that may dominate it and that do not certainly lose to it.
std::vector<std::size_t> rivals(std::size_t i, std::span<const Objectives> low,
                                std::span<const Objectives> high);

// In how many joint draws each configuration is on the front.
class FrontMembership {
 public:
  explicit FrontMembership(std::size_t configurations) : times_(configurations, 0) {}
  void add(std::span<const Objectives> draw);
  double probability(std::size_t configuration) const;

 private:
  std::vector<int> times_;
  int draws_ = 0;
};

}  // namespace halmark
