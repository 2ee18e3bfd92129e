// A continuous function within bounds, minimised without derivatives: a step inside other searches
// (calibrating curves to measurements, relaxations of a deployment), never a search by itself, and
// never a lower bound.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace halmark {

struct MinimiseOptions {
  int evaluations_max = 2000;        // per start
  double relative_tolerance = 1e-8;  // of the parameters
  int starts = 1;                    // beyond the given one: Sobol points of the box
  bool is_global_first = false;  // a deterministic global search (DIRECT-L) before the local ones
  std::uint64_t seed = 1;
};

struct Minimum {
  std::vector<double> at;
  double value = 0;
  int evaluations = 0;
  std::string stop;  // why the best start ended: "xtol", "evaluations", "roundoff"
};

// By NLopt's Subplex. `objective` may return NaN or infinity: worse than everything. Throws Error
// (exit 1) when lows, highs and start differ in length or the start is outside.
Minimum minimise(const std::function<double(std::span<const double>)>& objective,
                 std::span<const double> low, std::span<const double> high,
                 std::span<const double> start, const MinimiseOptions& options);

}  // namespace halmark
