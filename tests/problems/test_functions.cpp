// Continuous test functions of the literature: ZDT2, ZDT3 (Zitzler, Deb, Thiele 2000), DTLZ5, DTLZ7
// (Deb et al. 2002) and WFG4 (Huband et al. 2006), at sizes that 1,000 trials can say something of.
#include <cmath>

#include "problem.hpp"

namespace halmark::problems {
namespace {

constexpr double pi = 3.141592653589793;

Problem continuous(const std::string& name, int dimensions, Objectives reference) {
  Problem out{.name = name, .reference = std::move(reference)};
  for (int i = 1; i <= dimensions; ++i) {
    out.description.domains.push_back(
        {.name = "x" + std::to_string(i), .kind = DomainKind::real, .low = 0, .high = 1});
  }
  for (std::size_t m = 1; m <= out.reference.size(); ++m) {
    out.description.objectives.push_back({"f" + std::to_string(m), "", false});
  }
  return out;
}

double mean_from(const Point& x, std::size_t first) {
  double sum = 0;
  for (std::size_t i = first; i < x.size(); ++i) sum += x[i];
  return sum / static_cast<double>(x.size() - first);
}

}  // namespace

Problem zdt2() {
  Problem out = continuous("zdt2", 12, {1.1, 11});
  out.evaluate = [](const Space&, const Point& x) -> Told {
    const double g = 1 + 9 * mean_from(x, 1);
    return {.point = x, .objectives = {x[0], g * (1 - std::pow(x[0] / g, 2))}};
  };
  return out;
}

Problem zdt3() {
  Problem out = continuous("zdt3", 12, {1.1, 11});
  out.evaluate = [](const Space&, const Point& x) -> Told {
    const double g = 1 + 9 * mean_from(x, 1), a = x[0] / g;
    return {.point = x,
            .objectives = {x[0], g * (1 - std::sqrt(a) - a * std::sin(10 * pi * x[0]))}};
  };
  return out;
}

Problem dtlz5() {
  Problem out = continuous("dtlz5", 6, {2.5, 2.5, 2.5});
  out.evaluate = [](const Space&, const Point& x) -> Told {
    double g = 0;
    for (std::size_t i = 2; i < x.size(); ++i) g += (x[i] - 0.5) * (x[i] - 0.5);
    const double a = x[0] * pi / 2, b = pi / (4 * (1 + g)) * (1 + 2 * g * x[1]);
    return {.point = x,
            .objectives = {(1 + g) * std::cos(a) * std::cos(b), (1 + g) * std::cos(a) * std::sin(b),
                           (1 + g) * std::sin(a)}};
  };
  return out;
}

Problem dtlz7() {
  Problem out = continuous("dtlz7", 6, {1.1, 1.1, 7});
  out.evaluate = [](const Space&, const Point& x) -> Told {
    const double g = 1 + 9 * mean_from(x, 2);
    double h = 3;
    for (std::size_t i = 0; i < 2; ++i) h -= x[i] / (1 + g) * (1 + std::sin(3 * pi * x[i]));
    return {.point = x, .objectives = {x[0], x[1], (1 + g) * h}};
  };
  return out;
}

// Multi-modal distances, a concave front; two position and four distance parameters.
Problem wfg4() {
  Problem out = continuous("wfg4", 6, {3, 5, 7});
  out.evaluate = [](const Space&, const Point& x) -> Told {
    const auto shifted = [](double y) {
      constexpr double a = 30, b = 10, c = 0.35;
      const double q = std::abs(y - c) / (2 * (std::floor(c - y) + c));
      return (1 + std::cos((4 * a + 2) * pi * (0.5 - q)) + 4 * b * q * q) / (b + 2);
    };
    Point t;
    for (const double y : x) t.push_back(shifted(y));
    const double distance = mean_from(t, 2), u = t[0] * pi / 2, v = t[1] * pi / 2;
    return {.point = x,
            .objectives = {distance + 2 * std::sin(u) * std::sin(v),
                           distance + 4 * std::sin(u) * std::cos(v), distance + 6 * std::cos(u)}};
  };
  return out;
}

}  // namespace halmark::problems
