// Along one size with everything else equal: times are linear between their two neighbours. What a
// kernel does from one tile to the next it does exactly, and it knows nothing of other shapes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace halmark {

class LineInterpolation {
 public:
  struct Point {
    std::int32_t line = 0;
    double size = 0;
    double ns = 0;
  };
  explicit LineInterpolation(const std::vector<Point>& points);

  struct Prediction {
    double ns = 0;
    double octaves = 0;  // between the two neighbours; 0 = the size is known
  };
  // At `size` of a line, without the known point `left_out` (its index). Nothing outside of the
  // ends of a line.
  std::optional<Prediction> at(std::int32_t line, double size,
                               std::optional<std::size_t> left_out = {}) const;

 private:
  struct Known {
    std::int32_t line = 0;
    double size = 0;
    double ns = 0;
    std::size_t index = 0;
  };
  std::vector<Known> points_;  // by line, then by size
};

}  // namespace halmark
