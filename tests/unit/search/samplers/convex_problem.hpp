// 4096 points of six ordinal domains; two objectives whose front is a thin convex curve.
#pragma once

#include <cmath>
#include <cstdint>

#include "core/numeric/random.hpp"
#include "search/sampler.hpp"

namespace halmark::test {

inline Space convex_space() {
  std::vector<SearchDomain> domains;
  for (int d = 0; d < 6; ++d) {
    SearchDomain domain{.name = "x" + std::to_string(d), .kind = DomainKind::ordinal};
    for (int v = 0; v < 4; ++v) domain.values.push_back(std::to_string(v));
    domains.push_back(domain);
  }
  return {domains, {}};
}

// Distance to two opposite corners, with seeded weights.
inline std::vector<double> convex_objectives(const Point& point, std::uint64_t seed) {
  double left = 0, right = 0;
  for (std::size_t d = 0; d < point.size(); ++d) {
    const double x = point[d] / 3.0, weight = 0.5 + uniform_01(hash_u64(seed, d));
    const bool is_distance_only = d >= 3;  // better in both at zero
    left += weight * x * x;
    right += weight * (is_distance_only ? x * x : (1 - x) * (1 - x));
  }
  return {left, right};
}

inline std::vector<Told> evaluate_convex(const std::vector<Point>& points, std::uint64_t seed) {
  std::vector<Told> out;
  for (const Point& p : points)
    out.push_back({.point = p, .objectives = convex_objectives(p, seed)});
  return out;
}

}  // namespace halmark::test
