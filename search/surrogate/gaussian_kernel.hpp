// The correlation of two points of a Gaussian process and the priors of its parameters: what
// fitting and predicting share.
#pragma once

#include <cmath>
#include <vector>

#include "search/surrogate/gaussian_process.hpp"

namespace halmark::gaussian {

constexpr double noise_floor = 1e-6;
constexpr double worst_likelihood = -1e300;
// Priors, of logarithms (lengths grow with the root of the dimension: Hvarfner et al. 2024), and of
// the logit of the share of what parameters do on their own: most of it, until the data object.
constexpr double length_centre = 0.7, length_spread = 1;
constexpr double noise_centre = -8, noise_spread = 2;
constexpr double share_centre = 2, share_spread = 1;

inline double log_length_of(double length, std::size_t width) {
  return std::log(length) + 0.5 * std::log(static_cast<double>(width));
}

// What one parameter does on its own: a rational quadratic of the curvature that Matern 5/2 has at
// zero, without a root and an exponential for each parameter of each pair.
inline double alone(double squared) {
  const double u = 1 + 5.0 / 12 * squared;
  return 1 / (u * u);
}

inline double alone_slope(double squared) {
  const double u = 1 + 5.0 / 12 * squared;
  return 5.0 / 3 * squared / (u * u * u);
}

inline double share_of(double parameter) { return 1 / (1 + std::exp(-parameter)); }

struct Parts {
  double joint, alone;  // correlation: of all parameters together, the mean of each on its own
  double slope;         // of `joint` by the logarithm of a length is this times its own distance
};

inline Parts parts(const Features& features, const std::vector<double>& inverse_squares,
                   const double* a, const double* b) {
  const double width = static_cast<double>(inverse_squares.size());
  double squared = 0, sum = 0;
  for (std::size_t d = 0; d < inverse_squares.size(); ++d) {
    const double s = features.squared(d, a[d], b[d]) * inverse_squares[d];
    squared += s;
    sum += alone(width * s);
  }
  const double r = std::sqrt(5 * squared), e = std::exp(-r);
  return {.joint = (1 + r + r * r / 3) * e, .alone = sum / width, .slope = 5.0 / 3 * (1 + r) * e};
}

}  // namespace halmark::gaussian
