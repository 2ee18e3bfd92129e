#include "report/charts/label_placer.hpp"

#include <algorithm>
#include <cmath>

namespace halmark::report {
namespace {

// Directions in order of preference: right, left, above, below, then the corners.
constexpr Point directions[] = {{1, 0},    {-1, 0},    {0, -1},  {0, 1},
                                {1, -0.7}, {-1, -0.7}, {1, 0.7}, {-1, 0.7}};
constexpr double distances[] = {4, 12, 22, 34, 48, 64};

Box box_at(Point point, double reach, Point direction, double width, double height) {
  const double x = point.x + direction.x * reach;
  const double y = point.y + direction.y * reach;
  const double left = direction.x > 0 ? x : direction.x < 0 ? x - width : x - width / 2;
  const double top = direction.y > 0 ? y : direction.y < 0 ? y - height : y - height / 2;
  return {left, top, left + width, top + height};
}

// From the marker's edge to the nearest point of the label.
std::string leader(Point point, double radius, const Box& box) {
  const Point end{std::clamp(point.x, box.left, box.right),
                  std::clamp(point.y, box.top, box.bottom)};
  const double length = std::hypot(end.x - point.x, end.y - point.y);
  if (length <= radius) return {};
  const Point start{point.x + (end.x - point.x) * radius / length,
                    point.y + (end.y - point.y) * radius / length};
  return svg_line(start, end, "leader");
}

}  // namespace

Box marker_box(Point at, double radius) {
  return {at.x - radius, at.y - radius, at.x + radius, at.y + radius};
}

bool LabelPlacer::is_free(const Box& box, bool with_soft) const {
  const auto hits = [&](const Box& other) { return box.overlaps(other); };
  if (!area_.contains(box) || std::ranges::any_of(hard_, hits)) return false;
  return !with_soft || std::ranges::none_of(soft_, hits);
}

std::optional<LabelPlacer::Placed> LabelPlacer::place(Point point, double radius,
                                                      std::string_view text) {
  const double width = text_width(text, font_size_);
  const double height = font_size_ + 2;
  for (const bool with_soft : {true, false}) {
    for (const double distance : distances) {
      for (const Point& direction : directions) {
        const Box box = box_at(point, radius + distance, direction, width, height);
        if (!is_free(box, with_soft)) continue;
        hard_.push_back(box);
        return Placed{{box.left, box.bottom - 3}, box, distance > 12};
      }
    }
  }
  return std::nullopt;
}

std::string LabelPlacer::label(Point point, double radius, std::string_view text) {
  const auto placed = place(point, radius, text);
  if (!placed) return {};
  return (placed->needs_leader ? leader(point, radius, placed->box) : "") +
         svg_text(placed->at, Anchor::start, "label", text);
}

}  // namespace halmark::report
