// Pieces of inline SVG. Every coordinate passes `px`, every text is escaped here.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "report/charts/scale.hpp"

namespace halmark::report {

struct Point {
  double x = 0;
  double y = 0;
};

struct Box {
  double left = 0, top = 0, right = 0, bottom = 0;
  bool overlaps(const Box& other) const {
    return left < other.right && other.left < right && top < other.bottom && other.top < bottom;
  }
  bool contains(const Box& other) const {
    return left <= other.left && top <= other.top && right >= other.right && bottom >= other.bottom;
  }
};

// One decimal; a value that is not finite is 0 (the callers leave such points out).
std::string px(double value);

// <svg> with a viewBox, a name for readers of the page and the body inside.
std::string svg_picture(double width, double height, std::string_view name, std::string_view body);

enum class Anchor { start, middle, end };
std::string svg_text(Point at, Anchor anchor, std::string_view css_class, std::string_view text,
                     double rotate_degrees = 0);
std::string svg_line(Point from, Point to, std::string_view css_class);
std::string svg_title(std::string_view text);

// Width that a text of this font size takes at most, near enough to keep labels apart.
double text_width(std::string_view text, double font_size);

// How a data type looks, the same in every chart: a shape, and a colour that only repeats it.
struct DtypeLook {
  std::string_view name;  // "int8"; "other" for types without a look of their own
  int shape = 0;
  int color = 0;  // index of the CSS classes k0..k7
};
DtypeLook dtype_look(std::string_view dtype);
// The marker with its tooltip; `css_class` adds to the colour ("m" filled, "h" hollow).
std::string svg_marker(Point at, double radius, const DtypeLook& look, std::string_view css_class,
                       std::string_view title);
std::string svg_error_mark(Point at, double radius);

// A small picture of a marker for legends in running text.
std::string legend_marker(const DtypeLook& look, std::string_view css_class);
// Legend entries "marker name" for the dtypes given, each look once.
std::string dtype_legend(const std::vector<std::string>& dtypes);

// Grid lines with labels below and to the left of a plot area, and the axis titles.
struct Axes {
  LogScale x;
  LogScale y;  // from() is the bottom, to() the top
  std::string x_title, y_title;
  std::string (*x_text)(double value);
  std::string (*y_text)(double value);
};
std::string svg_axes(const Axes& axes);

}  // namespace halmark::report
