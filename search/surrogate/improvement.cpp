#include "search/surrogate/improvement.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "core/lists.hpp"

namespace halmark {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();

double normal_cdf(double z) { return 0.5 * std::erfc(-z * 0.7071067811865476); }
double normal_pdf(double z) { return 0.3989422804014327 * std::exp(-0.5 * z * z); }

// E[max(0, a - e^w)], w normal: the price of an option to sell.
double exponential_shortfall(double a, double mean, double s) {
  if (a <= 0) return 0;
  const double z = (std::log(a) - mean) / s;
  return std::max(0.0, a * normal_cdf(z) - std::exp(mean + 0.5 * s * s) * normal_cdf(z - s));
}

double skewness(const std::vector<double>& values) {
  const double n = as_double(values.size());
  double mean = 0, second = 0, third = 0;
  for (const double v : values) mean += v / n;
  for (const double v : values) {
    second += (v - mean) * (v - mean) / n;
    third += std::pow(v - mean, 3) / n;
  }
  return second > 0 ? third / std::pow(second, 1.5) : 0;
}

}  // namespace

double on_curve(Belief::Curve curve, double y) {
  switch (curve) {
    case Belief::Curve::exponent:
      return std::log(y);
    case Belief::Curve::negated:
      return -std::log(-y);
    case Belief::Curve::plain:
      break;
  }
  return y;
}

Belief::Curve curve_of(const std::vector<double>& values) {
  const auto [low, high] = std::ranges::minmax(values);
  if (low <= 0 && high >= 0) return Belief::Curve::plain;
  const auto curve = low > 0 ? Belief::Curve::exponent : Belief::Curve::negated;
  std::vector<double> bent = mapped(values, [&](const double y) { return on_curve(curve, y); });
  return std::abs(skewness(bent)) < std::abs(skewness(values)) ? curve : Belief::Curve::plain;
}

bool fits_curve(Belief::Curve curve, double y) {
  return curve == Belief::Curve::plain || (curve == Belief::Curve::exponent) == (y > 0);
}

double Belief::median() const {
  switch (curve) {
    case Curve::exponent:
      return std::exp(mean);
    case Curve::negated:
      return -std::exp(-mean);
    case Curve::plain:
      break;
  }
  return mean;
}

double Belief::shortfall(double a) const {
  if (a == -inf) return 0;
  if (!(deviation > 0)) return std::max(0.0, a - median());
  switch (curve) {
    case Curve::exponent:
      return exponential_shortfall(a, mean, deviation);
    case Curve::negated: {
      // a - y = e^v - |a| with v = -w: E[(e^v - k)+] = E[e^v] - k + E[(k - e^v)+].
      const double expected = std::exp(-mean + 0.5 * deviation * deviation);
      if (a >= 0) return a + expected;
      return std::max(0.0, expected + a + exponential_shortfall(-a, -mean, deviation));
    }
    case Curve::plain:
      break;
  }
  const double z = (a - mean) / deviation;
  return std::max(0.0, (a - mean) * normal_cdf(z) + deviation * normal_pdf(z));
}

OpenRegion::OpenRegion(std::span<const Objectives> points, std::span<const double> reference)
    : objectives_(reference.size()) {
  std::vector<Objectives> inside;
  for (const Objectives& p : points) {
    bool is_inside = true;
    for (const auto m : indices(objectives_)) is_inside = is_inside && p[m] < reference[m];
    if (!is_inside) continue;
    inside.push_back(p);
    inside.back().resize(3, 0);
  }
  for (const auto m : indices(3)) {
    edges_[m] = {-inf};
    if (m >= objectives_) {
      // A missing objective is a single slab of thickness one.
      edges_[m] = {-inf, 0, 1};
      continue;
    }
    for (const Objectives& p : inside) edges_[m].push_back(p[m]);
    edges_[m].push_back(reference[m]);
    std::ranges::sort(edges_[m]);
    edges_[m].erase(std::unique(edges_[m].begin(), edges_[m].end()), edges_[m].end());
  }
  build_three(std::move(inside));
}

// Along the third objective, each point that enters the staircase ends the strips that it covers.
void OpenRegion::build_three(std::vector<Objectives> points) {
  struct Strip {
    std::size_t y, z;  // its upper edge, and where along the third objective it began
  };
  const auto at = [&](std::size_t m, double value) {
    return as_size(std::ranges::lower_bound(edges_[m], value) - edges_[m].begin());
  };
  const std::size_t x_end = edges_[0].size() - 1, y_end = edges_[1].size() - 1;
  const std::size_t z_end = edges_[2].size() - 1;
  std::ranges::sort(points, [](const Objectives& a, const Objectives& b) {
    return a[2] != b[2] ? a[2] < b[2] : a < b;
  });
  std::map<std::size_t, Strip> strips{{0, {y_end, 0}}};  // by left edge
  const auto close = [&](std::size_t left, std::size_t right, const Strip& s, std::size_t z) {
    if (s.z < z && left < right) boxes_.push_back({left, right, s.y, s.z, z});
  };
  for (const Objectives& p : points) {
    const std::size_t x = at(0, p[0]), y = at(1, p[1]), z = at(2, p[2]);
    auto it = std::prev(strips.upper_bound(x));
    if (it->second.y <= y) continue;
    const auto right_of = [&](auto strip) {
      const auto next = std::next(strip);
      return next == strips.end() ? x_end : next->first;
    };
    // Of the strip over x only the part right of x ends; its left part lives on, narrower.
    close(x, right_of(it), it->second, z);
    it = it->first < x ? std::next(it) : strips.erase(it);
    while (it != strips.end() && it->second.y >= y) {
      close(it->first, right_of(it), it->second, z);
      it = strips.erase(it);
    }
    strips.insert_or_assign(x, Strip{y, z});
  }
  for (auto it = strips.begin(); it != strips.end(); ++it) {
    const auto next = std::next(it);
    close(it->first, next == strips.end() ? x_end : next->first, it->second, z_end);
  }
}

template <class Shortfall>
double OpenRegion::sum(const Shortfall& shortfall) const {
  std::vector<double> below[3];  // expected length below each edge
  for (const auto m : indices(3)) {
    below[m].reserve(edges_[m].size());
    for (const double edge : edges_[m]) {
      below[m].push_back(m < objectives_ ? shortfall(m, edge) : std::max(0.0, edge));
    }
  }
  double total = 0;
  for (const Box& b : boxes_) {
    total += (below[0][b.x_high] - below[0][b.x_low]) * below[1][b.y_high] *
             (below[2][b.z_high] - below[2][b.z_low]);
  }
  return total;
}

double OpenRegion::expected(std::span<const Belief> beliefs) const {
  return sum([&](std::size_t m, double edge) { return beliefs[m].shortfall(edge); });
}

double OpenRegion::gain(std::span<const double> point) const {
  return sum([&](std::size_t m, double edge) { return std::max(0.0, edge - point[m]); });
}

}  // namespace halmark
