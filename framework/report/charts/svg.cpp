#include "report/charts/svg.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/lists.hpp"
#include "report/text/clean_text.hpp"
#include "report/text/quantity.hpp"

namespace halmark::report {
namespace {

constexpr double tick_font = 11;

// Shapes: 0 circle, 1 square, 2 triangle up, 3 diamond, 4 triangle down, 5 plus, 6 cross.
struct Look {
  std::string_view dtype;
  DtypeLook look;
};
constexpr std::array<Look, 13> looks{{{"f32", {"f32", 0, 0}},
                                      {"bf16", {"bf16", 1, 1}},
                                      {"int8", {"int8", 2, 2}},
                                      {"s8", {"int8", 2, 2}},
                                      {"u8", {"int8", 2, 2}},
                                      {"f16", {"f16", 3, 3}},
                                      {"fp8", {"fp8", 4, 4}},
                                      {"f8_e4m3fn", {"fp8", 4, 4}},
                                      {"f8_e5m2", {"fp8", 4, 4}},
                                      {"f8_e4m3fnuz", {"fp8", 4, 4}},
                                      {"f64", {"f64", 5, 5}},
                                      {"tf32", {"tf32", 5, 6}},
                                      {"other", {"other", 6, 7}}}};

std::string path(std::string_view css, std::initializer_list<Point> corners) {
  std::string d;
  for (const Point& corner : corners) {
    d += (d.empty() ? 'M' : 'L') + px(corner.x) + ' ' + px(corner.y);
  }
  return "<path class=\"" + std::string(css) + "\" d=\"" + d + "Z\"";
}

// The element without its end, so that a tooltip can go inside. Radii are scaled to equal areas.
std::string open_shape(Point p, double r, int shape, std::string_view css) {
  switch (shape) {
    case 0:
      return "<circle class=\"" + std::string(css) + "\" cx=\"" + px(p.x) + "\" cy=\"" + px(p.y) +
             "\" r=\"" + px(r) + '"';
    case 1:
      r *= 0.9;
      return path(css,
                  {{p.x - r, p.y - r}, {p.x + r, p.y - r}, {p.x + r, p.y + r}, {p.x - r, p.y + r}});
    case 2:
      r *= 1.2;
      return path(css, {{p.x, p.y - r}, {p.x + r, p.y + r * 0.8}, {p.x - r, p.y + r * 0.8}});
    case 3:
      r *= 1.25;
      return path(css, {{p.x, p.y - r}, {p.x + r, p.y}, {p.x, p.y + r}, {p.x - r, p.y}});
    case 4:
      r *= 1.2;
      return path(css, {{p.x, p.y + r}, {p.x + r, p.y - r * 0.8}, {p.x - r, p.y - r * 0.8}});
    case 5: {
      const double w = r * 0.45;
      r *= 1.2;
      return path(css, {{p.x - w, p.y - r},
                        {p.x + w, p.y - r},
                        {p.x + w, p.y - w},
                        {p.x + r, p.y - w},
                        {p.x + r, p.y + w},
                        {p.x + w, p.y + w},
                        {p.x + w, p.y + r},
                        {p.x - w, p.y + r},
                        {p.x - w, p.y + w},
                        {p.x - r, p.y + w},
                        {p.x - r, p.y - w},
                        {p.x - w, p.y - w}});
    }
    default: {
      const double w = r * 0.5;
      return path(css, {{p.x - r, p.y - r + w},
                        {p.x - r + w, p.y - r},
                        {p.x, p.y - w},
                        {p.x + r - w, p.y - r},
                        {p.x + r, p.y - r + w},
                        {p.x + w, p.y},
                        {p.x + r, p.y + r - w},
                        {p.x + r - w, p.y + r},
                        {p.x, p.y + w},
                        {p.x - r + w, p.y + r},
                        {p.x - r, p.y + r - w},
                        {p.x - w, p.y}});
    }
  }
}

std::string_view anchor_name(Anchor anchor) {
  return anchor == Anchor::start ? "start" : anchor == Anchor::middle ? "middle" : "end";
}

std::string x_axis(const Axes& axes) {
  std::string out;
  double last_right = -1e9;
  const int count = as_int((axes.x.to() - axes.x.from()) / 48);
  for (const double value : log_ticks(axes.x.low(), axes.x.high(), count)) {
    const double x = axes.x.at(value);
    out += svg_line({x, axes.y.to()}, {x, axes.y.from()}, "grid");
    const std::string label = axes.x_text(value);
    const double half = text_width(label, tick_font) / 2;
    if (x - half < last_right + 4) continue;
    last_right = x + half;
    out += svg_text({x, axes.y.from() + 16}, Anchor::middle, "tick", label);
  }
  const Point title{(axes.x.from() + axes.x.to()) / 2, axes.y.from() + 36};
  return out + svg_text(title, Anchor::middle, "axis", axes.x_title);
}

std::string y_axis(const Axes& axes) {
  std::string out;
  double widest = 0;
  const int count = as_int((axes.y.from() - axes.y.to()) / 26);
  for (const double value : log_ticks(axes.y.low(), axes.y.high(), count)) {
    const double y = axes.y.at(value);
    const std::string label = axes.y_text(value);
    widest = std::max(widest, text_width(label, tick_font));
    out += svg_line({axes.x.from(), y}, {axes.x.to(), y}, "grid");
    out += svg_text({axes.x.from() - 6, y + 4}, Anchor::end, "tick", label);
  }
  const Point title{axes.x.from() - widest - 16, (axes.y.from() + axes.y.to()) / 2};
  return out + svg_text(title, Anchor::middle, "axis", axes.y_title, -90);
}

}  // namespace

std::string px(double value) {
  if (!std::isfinite(value)) return "0";
  std::string out = fixed_text(value, 1);
  if (out.ends_with(".0")) out.resize(out.size() - 2);
  return out;
}

std::string svg_picture(double width, double height, std::string_view name, std::string_view body) {
  return "<svg viewBox=\"0 0 " + px(width) + ' ' + px(height) + "\" role=\"group\" aria-label=\"" +
         html_text(name) + "\">\n" + std::string(body) + "</svg>\n";
}

std::string svg_text(Point at, Anchor anchor, std::string_view css_class, std::string_view text,
                     double rotate_degrees) {
  std::string out =
      "<text class=\"" + std::string(css_class) + "\" x=\"" + px(at.x) + "\" y=\"" + px(at.y) + '"';
  if (anchor != Anchor::start) {
    out += " text-anchor=\"" + std::string(anchor_name(anchor)) + '"';
  }
  if (rotate_degrees != 0) {
    out += " transform=\"rotate(" + px(rotate_degrees) + ' ' + px(at.x) + ' ' + px(at.y) + ")\"";
  }
  return out + '>' + html_text(text) + "</text>\n";
}

std::string svg_line(Point from, Point to, std::string_view css_class) {
  return "<line class=\"" + std::string(css_class) + "\" x1=\"" + px(from.x) + "\" y1=\"" +
         px(from.y) + "\" x2=\"" + px(to.x) + "\" y2=\"" + px(to.y) + "\"/>\n";
}

std::string svg_title(std::string_view text) { return "<title>" + html_text(text) + "</title>"; }

double text_width(std::string_view text, double font_size) {
  return 0.58 * font_size * display_width(text);
}

DtypeLook dtype_look(std::string_view dtype) {
  for (const Look& entry : looks) {
    if (entry.dtype == dtype) return entry.look;
  }
  return looks.back().look;
}

std::string svg_marker(Point at, double radius, const DtypeLook& look, std::string_view css_class,
                       std::string_view title) {
  const std::string css = std::string(css_class) + " k" + std::to_string(look.color);
  return open_shape(at, radius, look.shape, css) + '>' + svg_title(title) +
         (look.shape == 0 ? "</circle>\n" : "</path>\n");
}

std::string svg_error_mark(Point at, double radius) {
  const double r = radius + 3;
  return "<g class=\"error\"><circle cx=\"" + px(at.x) + "\" cy=\"" + px(at.y) + "\" r=\"" + px(r) +
         "\"/>" + svg_text({at.x, at.y - r - 3}, Anchor::middle, "mark", "ERROR") + "</g>\n";
}

std::string legend_marker(const DtypeLook& look, std::string_view css_class) {
  const std::string css = std::string(css_class) + " k" + std::to_string(look.color);
  return "<svg class=\"key\" viewBox=\"0 0 14 14\" aria-hidden=\"true\">" +
         open_shape({7, 7}, 5, look.shape, css) + "/></svg>";
}

std::string dtype_legend(const std::vector<std::string>& dtypes) {
  std::string out;
  std::vector<std::string_view> seen;
  for (const Look& entry : looks) {
    const bool is_used = std::ranges::any_of(
        dtypes, [&](const std::string& d) { return dtype_look(d).name == entry.look.name; });
    if (!is_used || contains(seen, entry.look.name)) continue;
    seen.push_back(entry.look.name);
    out +=
        "<span>" + legend_marker(entry.look, "m") + ' ' + std::string(entry.look.name) + "</span> ";
  }
  return out;
}

std::string svg_axes(const Axes& axes) {
  const double width = axes.x.to() - axes.x.from();
  const double height = axes.y.from() - axes.y.to();
  return x_axis(axes) + y_axis(axes) + "<rect class=\"frame\" x=\"" + px(axes.x.from()) +
         "\" y=\"" + px(axes.y.to()) + "\" width=\"" + px(width) + "\" height=\"" + px(height) +
         "\"/>\n";
}

}  // namespace halmark::report
