// Without NLopt: the simplex of Nelder and Mead (1965), kept inside the bounds, begun again around
// its end until that no longer helps.
#include <algorithm>
#include <cmath>

#include "search/surrogate/minimise.hpp"

namespace halmark {

bool has_nlopt() { return false; }

namespace minimiser {
namespace {

struct Vertex {
  std::vector<double> at;
  double value = 0;
};

using Objective = std::function<double(std::span<const double>)>;

Minimum simplex(const Objective& objective, std::span<const double> low,
                std::span<const double> high, std::vector<double> start,
                const MinimiseOptions& options) {
  const std::size_t n = start.size();
  int evaluations = 0;
  const auto vertex = [&](std::vector<double> at) {
    for (std::size_t i = 0; i < n; ++i) at[i] = std::clamp(at[i], low[i], high[i]);
    ++evaluations;
    const double value = objective(at);
    return Vertex{std::move(at), value};
  };
  std::vector<Vertex> corners{vertex(start)};
  for (std::size_t i = 0; i < n; ++i) {
    std::vector<double> at = start;
    const double step = 0.1 * (high[i] - low[i]);
    at[i] += at[i] + step <= high[i] ? step : -step;
    corners.push_back(vertex(std::move(at)));
  }
  std::string stop = "evaluations";
  while (evaluations < options.evaluations_max) {
    std::ranges::stable_sort(corners, {}, &Vertex::value);
    double size = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const double range = std::max(high[i] - low[i], 1e-300);
      size = std::max(size, std::abs(corners.back().at[i] - corners.front().at[i]) / range);
    }
    if (size <= options.relative_tolerance) {
      stop = "xtol";
      break;
    }
    std::vector<double> centre(n, 0);
    for (std::size_t k = 0; k < n; ++k) {
      for (std::size_t i = 0; i < n; ++i) centre[i] += corners[k].at[i] / static_cast<double>(n);
    }
    const auto along = [&](double factor) {
      std::vector<double> at(n);
      for (std::size_t i = 0; i < n; ++i) {
        at[i] = centre[i] + factor * (corners.back().at[i] - centre[i]);
      }
      return vertex(std::move(at));
    };
    Vertex reflected = along(-1);
    if (reflected.value < corners.front().value) {
      Vertex expanded = along(-2);
      corners.back() =
          expanded.value < reflected.value ? std::move(expanded) : std::move(reflected);
    } else if (reflected.value < corners[n - 1].value) {
      corners.back() = std::move(reflected);
    } else {
      Vertex contracted = along(reflected.value < corners.back().value ? -0.5 : 0.5);
      if (contracted.value < std::min(reflected.value, corners.back().value)) {
        corners.back() = std::move(contracted);
      } else {
        for (std::size_t k = 1; k <= n; ++k) {
          std::vector<double> at(n);
          for (std::size_t i = 0; i < n; ++i) {
            at[i] = 0.5 * (corners[k].at[i] + corners.front().at[i]);
          }
          corners[k] = vertex(std::move(at));
        }
      }
    }
  }
  std::ranges::stable_sort(corners, {}, &Vertex::value);
  return {corners.front().at, corners.front().value, evaluations, stop};
}

}  // namespace

Minimum local(const Objective& objective, std::span<const double> low, std::span<const double> high,
              std::span<const double> start, const MinimiseOptions& options) {
  Minimum best = simplex(objective, low, high, {start.begin(), start.end()}, options);
  for (int again = 0; again < 4; ++again) {
    Minimum next = simplex(objective, low, high, best.at, options);
    const bool helps = next.value < best.value - 1e-12 * std::abs(best.value);
    next.evaluations += best.evaluations;
    if (next.value <= best.value) best = std::move(next);
    if (!helps) break;
  }
  return best;
}

std::vector<double> global(const Objective&, std::span<const double>, std::span<const double>,
                           std::span<const double> start, const MinimiseOptions&) {
  return {start.begin(), start.end()};
}

}  // namespace minimiser
}  // namespace halmark
