// Thinned tables hold few lines of few points, each where time bends. Along a line the share of the
// device's rate is linear in the logarithm of the size; a line of which no point is there is a
// weighted linear regression over the nearest ones (Cleveland, 1979). Whoever thinned them stated
// the errors of exactly this.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace halmark {

class LineRegression {
 public:
  struct Point {
    std::int32_t line = 0;       // 0, 1, 2, ...
    std::span<const double> at;  // of its line, in correlation lengths
    double size = 0;             // the free one
    double share = 0;            // logarithm of time over the least time
  };
  explicit LineRegression(std::span<const Point> points);

  struct Prediction {
    double share = 0;
    double distance = 0;  // to the nearest line; 0 = the line is there
  };
  // Nothing without any line that reaches the size. `line`: of the place, where it is known.
  std::optional<Prediction> at(std::optional<std::int32_t> line, std::span<const double> at,
                               double size) const;

 private:
  struct Known {
    double size = 0, share = 0;
  };
  struct Line {
    std::vector<double> at;
    std::vector<Known> points;  // by size; sizes are log2(size + 1)
    bool reaches(double size_asked) const;
  };
  static double along(const Line& line, double size);

  std::vector<Line> lines_;
};

}  // namespace halmark
