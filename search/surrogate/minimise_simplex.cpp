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

// The largest share of a range over which the best and the worst corner differ.
double size_of(const std::vector<Vertex>& corners, std::span<const double> low,
               std::span<const double> high) {
  double out = 0;
  for (std::size_t i = 0; i < low.size(); ++i) {
    const double range = std::max(high[i] - low[i], 1e-300);
    out = std::max(out, std::abs(corners.back().at[i] - corners.front().at[i]) / range);
  }
  return out;
}

// Of all corners but the last.
std::vector<double> centre_of(const std::vector<Vertex>& corners) {
  const std::size_t n = corners.size() - 1;
  std::vector<double> out(n, 0);
  for (std::size_t k = 0; k < n; ++k) {
    for (std::size_t i = 0; i < n; ++i) out[i] += corners[k].at[i] / static_cast<double>(n);
  }
  return out;
}

// From one point to another, and beyond for factors above 1.
std::vector<double> along(const std::vector<double>& from, const std::vector<double>& to,
                          double factor) {
  std::vector<double> out(from.size());
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = from[i] + factor * (to[i] - from[i]);
  return out;
}

// One step of Nelder and Mead (1965) on corners in order of their values.
template <typename MakeVertex>
void move_worst(std::vector<Vertex>& corners, const MakeVertex& vertex) {
  const std::vector<double> centre = centre_of(corners);
  const auto beyond = [&](double factor) {
    return vertex(along(centre, corners.back().at, factor));
  };
  Vertex reflected = beyond(-1);
  if (reflected.value < corners.front().value) {
    Vertex expanded = beyond(-2);
    corners.back() = expanded.value < reflected.value ? std::move(expanded) : std::move(reflected);
    return;
  }
  if (reflected.value < corners[corners.size() - 2].value) {
    corners.back() = std::move(reflected);
    return;
  }
  Vertex contracted = beyond(reflected.value < corners.back().value ? -0.5 : 0.5);
  if (contracted.value < std::min(reflected.value, corners.back().value)) {
    corners.back() = std::move(contracted);
    return;
  }
  for (std::size_t k = 1; k < corners.size(); ++k) {
    corners[k] = vertex(along(corners.front().at, corners[k].at, 0.5));
  }
}

Minimum simplex(const Objective& objective, std::span<const double> low,
                std::span<const double> high, std::vector<double> start,
                const MinimiseOptions& options) {
  int evaluations = 0;
  const auto vertex = [&](std::vector<double> at) {
    for (std::size_t i = 0; i < at.size(); ++i) at[i] = std::clamp(at[i], low[i], high[i]);
    ++evaluations;
    const double value = objective(at);
    return Vertex{std::move(at), value};
  };
  std::vector<Vertex> corners{vertex(start)};
  for (std::size_t i = 0; i < start.size(); ++i) {
    std::vector<double> at = start;
    const double step = 0.1 * (high[i] - low[i]);
    at[i] += at[i] + step <= high[i] ? step : -step;
    corners.push_back(vertex(std::move(at)));
  }
  std::string stop = "evaluations";
  while (evaluations < options.evaluations_max) {
    std::ranges::stable_sort(corners, {}, &Vertex::value);
    if (size_of(corners, low, high) <= options.relative_tolerance) {
      stop = "xtol";
      break;
    }
    move_worst(corners, vertex);
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
