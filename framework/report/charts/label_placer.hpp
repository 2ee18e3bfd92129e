// Where labels of points go so that none hides another or a marker.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "report/charts/svg.hpp"

namespace halmark::report {

// The square that a marker takes.
Box marker_box(Point at, double radius);

class LabelPlacer {
 public:
  LabelPlacer(Box area, double font_size) : area_(area), font_size_(font_size) {}

  void avoid(const Box& box) { hard_.push_back(box); }         // never covered
  void rather_avoid(const Box& box) { soft_.push_back(box); }  // only when nothing else is free

  struct Placed {
    Point at;  // baseline, left end
    Box box;
    bool needs_leader = false;  // far enough from its point to need a line
  };
  // The nearest free place around a marker; nothing when there is none.
  std::optional<Placed> place(Point point, double radius, std::string_view text);
  // The text there, with a line to its marker where it needs one; nothing where none is free: a
  // table beside the chart names every point.
  std::string label(Point point, double radius, std::string_view text);

 private:
  bool is_free(const Box& box, bool with_soft) const;
  Box area_;
  double font_size_;
  std::vector<Box> hard_, soft_;
};

}  // namespace halmark::report
