#include "core/numeric/student_t.hpp"

#include <cmath>
#include <limits>

namespace halmark {
namespace {

// Continued fraction of the incomplete beta function by the modified Lentz method (DLMF 8.17.22).
double beta_fraction(double a, double b, double x) {
  constexpr double tiny = 1e-300, enough = 1e-15;
  constexpr int steps_max = 10'000;
  const auto away_from_zero = [](double v) { return std::abs(v) < tiny ? tiny : v; };
  double c = 1, d = 1 / away_from_zero(1 - (a + b) * x / (a + 1)), out = d;
  for (int m = 1; m <= steps_max; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    for (const double term : {even, odd}) {
      d = 1 / away_from_zero(1 + term * d);
      c = away_from_zero(1 + term / c);
      out *= c * d;
    }
    if (std::abs(c * d - 1) < enough) break;
  }
  return out;
}

// lgamma writes a global; this one is of the same values and does not.
double log_gamma(double x) {
  int sign = 0;
  return ::lgamma_r(x, &sign);
}

// `y` is 1 - x, given apart because it may be too close to 1 or 0 to be formed from x.
double incomplete_beta(double a, double b, double x, double y) {
  if (x <= 0) return 0;
  if (y <= 0) return 1;
  const double front =
      std::exp(log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * std::log(x) + b * std::log(y));
  // The fraction converges fast on this side of the mean; the other one is its mirror image.
  if (x < (a + 1) / (a + b + 2)) return front * beta_fraction(a, b, x) / a;
  return 1 - front * beta_fraction(b, a, y) / b;
}

}  // namespace

double t_two_sided_p(double t, double freedom) {
  if (std::isinf(t)) return 0;
  const double square = t * t;
  return incomplete_beta(freedom / 2, 0.5, freedom / (freedom + square),
                         square / (freedom + square));
}

double t_critical(double p, double freedom) {
  double low = 0, high = 1;
  while (t_two_sided_p(high, freedom) > p) {
    low = high;
    high *= 2;
  }
  while (high - low > 4 * std::numeric_limits<double>::epsilon() * high) {
    const double middle = low + (high - low) / 2;
    if (middle <= low || middle >= high) break;
    (t_two_sided_p(middle, freedom) > p ? low : high) = middle;
  }
  return high;
}

}  // namespace halmark
