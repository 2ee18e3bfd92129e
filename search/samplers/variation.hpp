// Children of points: uniform crossover and a mutation per kind of domain (Deb et al. 2002; the
// polynomial mutation of Deb and Goyal 1996 on continua).
#pragma once

#include "search/proposer.hpp"

namespace halmark {

struct VariationRates {
  double crossover = 0.9;
  double swap = 0.5;       // share of parameters that come from the second parent
  double mutations = 1.0;  // expected number of mutated parameters
  bool at_least_one = false;
};

// Not necessarily valid.
Point child_of(const Space& space, const Point& first, const Point& second,
               const VariationRates& rates, Stream& random);

// One parameter moved: a category to any other choice, an order by a rounded Gaussian step, a
// continuum polynomially.
void mutate(const Space& space, Point& point, std::size_t domain, Stream& random);

}  // namespace halmark
