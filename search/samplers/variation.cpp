#include "search/samplers/variation.hpp"

#include <algorithm>

#include "core/lists.hpp"

namespace halmark {
namespace {

constexpr double polynomial_index = 20;
constexpr double order_step = 0.1;  // of the number of levels; at least one level

double polynomial_step(double u) {
  const double power = 1 / (polynomial_index + 1);
  return u < 0.5 ? std::pow(2 * u, power) - 1 : 1 - std::pow(2 - 2 * u, power);
}

}  // namespace

void mutate(const Space& space, Point& point, std::size_t d, Stream& random) {
  const SearchDomain& domain = space.domains()[d];
  const std::uint64_t levels = domain.levels();
  if (point[d] == absent || levels == 1) return;
  if (levels == 0) {
    point[d] = domain.from_unit(domain.unit(point[d]) + polynomial_step(random.uniform()));
    return;
  }
  const auto last = as_double(levels - 1);
  if (!domain.has_order()) {
    const auto other = as_double(random.below(levels - 1));
    point[d] = other < point[d] ? other : other + 1;
    return;
  }
  const double spread = std::max(1.0, order_step * as_double(levels));
  double step = std::round(spread * random.normal());
  if (step == 0) step = random.uniform() < 0.5 ? -1 : 1;
  double moved = point[d] + step;
  if (moved < 0 || moved > last) moved = point[d] - step;  // reflected, so that the end is no trap
  point[d] = std::clamp(moved, 0.0, last);
}

Point child_of(const Space& space, const Point& first, const Point& second,
               const VariationRates& rates, Stream& random) {
  Point out = first;
  if (random.uniform() < rates.crossover) {
    for (const auto d : indices(out)) {
      if (random.uniform() < rates.swap) out[d] = second[d];
    }
  }
  const double rate = rates.mutations / as_double(out.size());
  bool is_mutated = false;
  for (std::size_t d = 0; d < out.size(); ++d) {
    if (random.uniform() >= rate) continue;
    mutate(space, out, d, random);
    is_mutated = true;
  }
  if (rates.at_least_one && !is_mutated) mutate(space, out, random.below(out.size()), random);
  return space.settle(std::move(out), random.bits());
}

}  // namespace halmark
