#include "search/loop.hpp"

#include <algorithm>
#include <limits>

#include "core/lists.hpp"

namespace halmark {

SearchResult run_search(Sampler& sampler, const SearchBudget& budget, const SearchHooks& hooks) {
  constexpr std::size_t all = std::numeric_limits<std::size_t>::max();
  const std::size_t trials = budget.trials == 0 ? all : budget.trials;
  const std::size_t batch = budget.batch == 0 ? all : budget.batch;
  SearchResult result;
  if (hooks.should_stop) sampler.heed(hooks.should_stop);
  while (result.told.size() < trials) {
    if (hooks.should_stop && hooks.should_stop()) {
      result.end = SearchEnd::stopped;
      return result;
    }
    const std::vector<Point> points = sampler.ask(std::min(batch, trials - result.told.size()));
    if (points.empty()) {
      if (hooks.should_stop && hooks.should_stop()) result.end = SearchEnd::stopped;
      return result;
    }
    const std::vector<Told> outcomes = hooks.evaluate(points);
    sampler.tell(outcomes);
    if (hooks.on_told) hooks.on_told(outcomes);
    append_all(result.told, outcomes);
  }
  result.end = SearchEnd::budget;
  return result;
}

}  // namespace halmark
