// How likely parameters of a Gaussian process are, given what was seen, and the slope of that.
#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "core/lists.hpp"
#include "search/surrogate/gaussian_kernel.hpp"

namespace halmark {
namespace {

struct Standard {
  double centre = 0, scale = 1;
};

Standard standard_of(std::span<const double> targets) {
  Standard out;
  for (const double y : targets) out.centre += y;
  out.centre /= as_double(targets.size());
  double squares = 0;
  for (const double y : targets) squares += (y - out.centre) * (y - out.centre);
  out.scale = std::sqrt(squares / as_double(targets.size()));
  if (!(out.scale > 0)) out.scale = 1;
  return out;
}

// Of all pairs of rows: the factor of their correlations and what the gradient needs of each.
struct Covariance {
  std::size_t rows = 0;
  double share = 0, noise = 0;  // noise without its floor
  std::vector<double> inverse_squares;
  std::vector<double> slope, excess;  // of the joint part; what the share adds
  CholeskyFactor factor;
};

// Nothing where the matrix has not its full rank.
std::optional<Covariance> covariance_of(const Features& features, std::span<const double> rows,
                                        std::size_t n, std::span<const double> parameters) {
  const std::size_t width = features.width();
  Covariance out{.rows = n,
                 .share = gaussian::share_of(parameters[width + 1]),
                 .noise = std::exp(parameters[width]),
                 .inverse_squares = std::vector<double>(width),
                 .slope = std::vector<double>(n * n),
                 .excess = std::vector<double>(n * n),
                 .factor = {}};
  for (const auto d : indices(width)) out.inverse_squares[d] = std::exp(-2 * parameters[d]);
  for (const auto i : indices(n)) {
    std::vector<double> row(i + 1);
    for (const auto j : indices(i)) {
      const gaussian::Parts k =
          gaussian::parts(features, out.inverse_squares, &rows[i * width], &rows[j * width]);
      row[j] = k.joint + out.share * (k.alone - k.joint);
      out.slope[i * n + j] = (1 - out.share) * k.slope;
      out.excess[i * n + j] = k.alone - k.joint;
    }
    row[i] = 1 + (out.noise + gaussian::noise_floor);
    if (!out.factor.append(std::move(row))) return std::nullopt;
  }
  return out;
}

// K^-1 = L^-T L^-1; row c is column c of L^-1.
std::vector<double> inverse_of(const CholeskyFactor& factor, std::size_t n) {
  std::vector<double> out(n * n, 0);
  for (const auto c : indices(n)) {
    double* x = &out[c * n];
    x[c] = 1 / factor.diagonal(c);
    for (std::size_t i = c + 1; i < n; ++i) {
      x[i] = -inner_product(factor.row(i) + c, x + c, i - c) / factor.diagonal(i);
    }
  }
  return out;
}

// K^-1 y, and the variance that is then most likely.
struct Weights {
  std::vector<double> of_rows;
  double variance = 0;
};

// Of the marginal likelihood alone, by the logarithms of lengths and noise and the logit of the
// share.
std::vector<double> gradient_of(const Features& features, std::span<const double> rows,
                                const Covariance& k, const Weights& weights) {
  const std::size_t n = k.rows, width = features.width();
  const std::vector<double> inverse = inverse_of(k.factor, n);
  const std::vector<double>& a = weights.of_rows;
  std::vector<double> out(width + 2, 0);
  double trace_noise = 0, trace_share = 0;
  const double count_d = as_double(width), each = k.share / count_d;
  for (const auto i : indices(n)) {
    for (std::size_t j = 0; j <= i; ++j) {
      // Both columns of L^-1 are zero above row i.
      const double w = a[i] * a[j] / weights.variance -
                       inner_product(&inverse[i * n + i], &inverse[j * n + i], n - i);
      if (i == j) {
        trace_noise += 0.5 * w;
        continue;
      }
      // d k / d log length; both triangles count.
      trace_share += w * k.excess[i * n + j];
      for (const auto d : indices(width)) {
        const double s =
            k.inverse_squares[d] * features.squared(d, rows[i * width + d], rows[j * width + d]);
        out[d] += w * (k.slope[i * n + j] * s + each * gaussian::alone_slope(count_d * s));
      }
    }
  }
  out[width] = trace_noise * k.noise;
  out[width + 1] = trace_share * k.share * (1 - k.share);
  return out;
}

void add_prior_slopes(std::span<const double> parameters, std::vector<double>& gradient) {
  const std::size_t width = gradient.size() - 2;
  const double centre = gaussian::length_centre + gaussian::log_length_of(1, width);
  for (const auto d : indices(width)) {
    gradient[d] -= (parameters[d] - centre) / (gaussian::length_spread * gaussian::length_spread);
  }
  gradient[width] -= (parameters[width] - gaussian::noise_centre) /
                     (gaussian::noise_spread * gaussian::noise_spread);
  gradient[width + 1] -= (parameters[width + 1] - gaussian::share_centre) /
                         (gaussian::share_spread * gaussian::share_spread);
}

}  // namespace

double GaussianProcess::likelihood(std::span<const double> rows, std::span<const double> targets,
                                   std::span<const double> parameters,
                                   std::vector<double>* gradient) const {
  const std::size_t n = targets.size(), width = features_.width();
  const auto k = covariance_of(features_, rows, n, parameters);
  if (!k) return gaussian::worst_likelihood;
  const Standard standard = standard_of(targets);
  Weights weights{.of_rows = std::vector<double>(n)};
  std::vector<double>& a = weights.of_rows;
  double log_determinant = 0;
  for (const auto i : indices(n)) {
    a[i] = (targets[i] - standard.centre) / standard.scale;
    log_determinant += 2 * std::log(k->factor.diagonal(i));
  }
  const std::vector<double> y = a;
  k->factor.solve_lower(a.data());
  k->factor.solve_upper(a.data());
  const double count = as_double(n);
  weights.variance = std::max(inner_product(y.data(), a.data(), n) / count, 1e-12);
  double out = -0.5 * (count * std::log(weights.variance) + log_determinant);
  const double centre = gaussian::length_centre + gaussian::log_length_of(1, width);
  for (const auto d : indices(width)) {
    out -= 0.5 * std::pow((parameters[d] - centre) / gaussian::length_spread, 2);
  }
  out -= 0.5 * std::pow((parameters[width] - gaussian::noise_centre) / gaussian::noise_spread, 2);
  out -=
      0.5 * std::pow((parameters[width + 1] - gaussian::share_centre) / gaussian::share_spread, 2);
  if (gradient != nullptr) {
    *gradient = gradient_of(features_, rows, *k, weights);
    add_prior_slopes(parameters, *gradient);
  }
  return out;
}

}  // namespace halmark
