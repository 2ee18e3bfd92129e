// Who is most likely to be better than the best of a field, when values are known by draws alone.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace halmark {

struct NearestRival {
  std::size_t rival = 0;
  double behind = 0;       // median of its value over the chosen one's, less 1
  double probability = 0;  // that it is the better one
  // Standard deviation of the logarithm of that ratio, from the middle two thirds of the draws.
  double deviation = 0;

  // How many times as many observations let the difference be two of its deviations; 1 or less =
  // it is already.
  double observations() const;
};

// `draws[s][c]`: positive values of the configurations in joint draw s, less is better. Of the
// others the one that is better than `chosen` in most draws, of those the nearest; nothing without
// another, or without draws.
std::optional<NearestRival> nearest_rival(std::span<const std::vector<double>> draws,
                                          std::size_t chosen);

}  // namespace halmark
