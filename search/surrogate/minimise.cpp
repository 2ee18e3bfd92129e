#include "search/surrogate/minimise.hpp"

#include <cmath>

#include "core/text/error.hpp"
#include "search/samplers/sobol_sequence.hpp"

namespace halmark {

Minimum minimise(const std::function<double(std::span<const double>)>& objective,
                 std::span<const double> low, std::span<const double> high,
                 std::span<const double> start, const MinimiseOptions& options) {
  bool is_inside = low.size() == high.size() && low.size() == start.size() && !low.empty();
  for (std::size_t i = 0; is_inside && i < low.size(); ++i) {
    is_inside = low[i] <= start[i] && start[i] <= high[i];
  }
  if (!is_inside) throw Error(ExitCode::error, "a start outside of the bounds of a minimisation");
  const auto finite = [&](std::span<const double> x) {
    const double y = objective(x);
    return std::isfinite(y) ? y : 1e300;
  };
  std::vector<double> first(start.begin(), start.end());
  if (options.is_global_first) first = minimiser::global(finite, low, high, first, options);
  Minimum best = minimiser::local(finite, low, high, first, options);
  SobolSequence sequence(low.size(), options.seed);
  for (int s = 0; s < options.starts; ++s) {
    const std::span<const double> u = sequence.at(static_cast<std::uint64_t>(s));
    std::vector<double> from(low.size());
    for (std::size_t i = 0; i < from.size(); ++i) from[i] = low[i] + u[i] * (high[i] - low[i]);
    Minimum other = minimiser::local(finite, low, high, from, options);
    other.evaluations += best.evaluations;
    if (other.value < best.value) {
      best = std::move(other);
    } else {
      best.evaluations = other.evaluations;
    }
  }
  return best;
}

}  // namespace halmark
