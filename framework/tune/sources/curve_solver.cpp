#include "tune/sources/curve_solver.hpp"

#include "search/surrogate/minimise.hpp"

namespace halmark::tune {

CurveSolver curve_solver() {
  return
      [](const std::function<double(std::span<const double>)>& objective,
         std::span<const double> low, std::span<const double> high, std::span<const double> start) {
        return minimise(objective, low, high, start,
                        {.evaluations_max = 1200, .relative_tolerance = 1e-4, .starts = 3})
            .at;
      };
}

}  // namespace halmark::tune
