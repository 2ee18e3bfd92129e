// The one loop: ask, evaluate, tell. A sweep is this loop with the grid sampler.
#pragma once

#include <functional>
#include <vector>

#include "search/sampler.hpp"

namespace halmark {

struct SearchBudget {
  std::size_t trials = 0;  // 0 = the whole space
  std::size_t batch = 0;   // points asked for at once; 0 = all that remain
};

struct SearchHooks {
  // Outcomes in the order of the points. The evaluator sees a whole batch so that what its points
  // share is measured once.
  std::function<std::vector<Told>(const std::vector<Point>&)> evaluate;
  std::function<void(const std::vector<Told>&)> on_told;  // may be empty
  std::function<bool()> should_stop;  // may be empty; looked at inside of asks, too
};

enum class SearchEnd { exhausted, budget, stopped };

struct SearchResult {
  std::vector<Told> told;
  SearchEnd end = SearchEnd::exhausted;
};

SearchResult run_search(Sampler& sampler, const SearchBudget& budget, const SearchHooks& hooks);

}  // namespace halmark
