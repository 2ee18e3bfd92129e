#include <algorithm>
#include <cmath>

#include "core/numeric/cast.hpp"
#include "report/charts/charts.hpp"
#include "report/charts/label_placer.hpp"
#include "report/charts/svg.hpp"
#include "report/text/quantity.hpp"

namespace halmark::report {
namespace {

constexpr double beyond_points = 1.5;
constexpr double radius_min = 4.5, radius_max = 11;

struct Canvas : FrontPlane {
  double memory_bytes_max;

  // Area in proportion to memory, so that twice the memory looks twice as large.
  double radius(const Estimate& e) const {
    if (memory_bytes_max <= 0) return radius_min;
    const double share = as_double(e.memory_bytes_total) / memory_bytes_max;
    return std::max(radius_min, radius_max * std::sqrt(std::max(0.0, share)));
  }
};

Canvas canvas_for(const PhaseView& view) {
  std::vector<double> latencies;
  std::vector<double> throughputs;
  double memory = 0;
  const auto add = [&](const Estimate& e) {
    latencies.push_back(e.step_ns);
    throughputs.push_back(e.tokens_per_s);
    memory = std::max(memory, as_double(e.memory_bytes_total));
  };
  for (const FrontRow& row : view.front) add(*row.estimate);
  for (const Evaluation* other : view.others) add(*other->estimate);
  // Intervals are whole where they leave the points most of the width; wider ones end at its edge.
  const auto [least, most] = std::ranges::minmax(latencies);
  for (const FrontRow& row : view.front) {
    const Interval interval = interval_of(*row.estimate);
    latencies.push_back(std::max(interval.low, least / beyond_points));
    latencies.push_back(std::min(interval.high, most * beyond_points));
  }
  return {{latencies, 1.25, throughputs}, memory};
}

std::string point_title(const Evaluation& evaluation, const std::string& label) {
  const Estimate& e = *evaluation.estimate;
  const Interval interval = interval_of(e);
  return label + ": " + duration_text(e.step_ns) + " (" +
         duration_range_text(interval.low, interval.high) + "), " +
         significant_text(e.tokens_per_s) + " tokens/s, " + bytes_text(e.memory_bytes_total) +
         ", " + std::string(provenance_name(e.provenance)) + ", " +
         std::string(status_name(evaluation.status));
}

Box between(Point a, Point b) {
  return {std::min(a.x, b.x) - 1, std::min(a.y, b.y) - 1, std::max(a.x, b.x) + 1,
          std::max(a.y, b.y) + 1};
}

std::string error_bar(const Estimate& e, const Canvas& canvas) {
  const double y = canvas.at(e).y;
  const Interval interval = interval_of(e);
  const double all_low = interval.low > 0 ? canvas.x.at(interval.low) : canvas.left;
  const double all_high = canvas.x.at(interval.high);
  const double low = std::max(all_low, canvas.left), high = std::min(all_high, canvas.right);
  if (!(high - low > 1)) return {};
  const auto end = [y](double x, bool is_there) {
    return is_there ? svg_line({x, y - 4}, {x, y + 4}, "bar") : std::string();
  };
  return svg_line({low, y}, {high, y}, "bar") + end(low, low == all_low) +
         end(high, high == all_high);
}

std::string faint_points(const PhaseView& view, const RunReport& report, const Canvas& canvas) {
  std::string out;
  for (const Evaluation* other : view.others) {
    out += svg_marker(canvas.at(*other->estimate), canvas.radius(*other->estimate),
                      dtype_look(other->configuration.precision.name), "h faint",
                      point_title(*other, deployment_label(other->configuration, report)));
  }
  return out;
}

std::string front_points(const PhaseView& view, const Canvas& canvas) {
  std::string bars;
  std::string markers;
  for (const FrontRow& row : view.front) {
    bars += error_bar(*row.estimate, canvas);
    const DtypeLook look = dtype_look(row.evaluation->configuration.precision.name);
    markers +=
        "<a href=\"#" + row.anchor + "\">" +
        svg_marker(canvas.at(*row.estimate), canvas.radius(*row.estimate), look,
                   row.point->is_suspect ? "h" : "m", point_title(*row.evaluation, row.label)) +
        "</a>";
  }
  return bars + markers;
}

LabelPlacer placer_for(const PhaseView& view, const Canvas& canvas,
                       const std::vector<Point>& corners) {
  LabelPlacer placer = canvas.placer();
  for (const FrontRow& row : view.front) {
    const Estimate& e = *row.estimate;
    const double y = canvas.at(e).y;
    placer.avoid(marker_box(canvas.at(e), canvas.radius(e) + 1));
    const Interval interval = interval_of(e);
    placer.avoid(between({canvas.x.at(interval.low), y - 3}, {canvas.x.at(interval.high), y + 3}));
  }
  for (const Evaluation* other : view.others) {
    placer.rather_avoid(marker_box(canvas.at(*other->estimate), canvas.radius(*other->estimate)));
  }
  for (std::size_t i = 1; i < corners.size(); ++i) {
    placer.rather_avoid(between(corners[i - 1], corners[i]));
  }
  return placer;
}

std::string labels(const PhaseView& view, const Canvas& canvas, LabelPlacer placer) {
  std::string out;
  for (const FrontRow& row : view.front) {
    const Point point = canvas.at(*row.estimate);
    const double radius = canvas.radius(*row.estimate);
    const std::string text = row.label + (row.point->is_suspect ? " (suspect)" : "");
    out += placer.label(point, radius, text);
  }
  return out;
}

}  // namespace

FrontPlane::FrontPlane(const std::vector<double>& across, double room,
                       const std::vector<double>& up)
    : x(LogScale::around(across, room, left, right)), y(LogScale::around(up, 1.35, bottom, top)) {}

std::string FrontPlane::axes() const {
  return svg_axes({x, y, "latency of one step (log)", "tokens per second (log)", duration_tick_text,
                   compact_text});
}

std::string FrontPlane::picture(const std::string& name, const std::string& body) {
  return svg_picture(600, 440, name, body);
}

std::vector<Point> staircase_corners(const PhaseView& view, const FrontPlane& plane) {
  std::vector<Point> corners;
  double best = 0;
  for (const FrontRow& row : view.front) {
    if (row.estimate->tokens_per_s <= best) continue;
    best = row.estimate->tokens_per_s;
    const Point at = plane.at(*row.estimate);
    if (!corners.empty()) corners.push_back({at.x, corners.back().y});
    corners.push_back(at);
  }
  if (!corners.empty()) corners.push_back({plane.right, corners.back().y});
  return corners;
}

std::string staircase(const std::vector<Point>& corners, const std::string& css_class) {
  std::string d;
  for (const Point& corner : corners) {
    d += (d.empty() ? 'M' : 'L') + px(corner.x) + ' ' + px(corner.y);
  }
  return d.empty() ? d : "<path class=\"" + css_class + "\" d=\"" + d + "\"/>\n";
}

std::string front_chart(const PhaseView& view, const RunReport& report) {
  if (view.front.empty() && view.others.empty()) return {};
  const Canvas canvas = canvas_for(view);
  const std::string phase(phase_name(view.phase));
  const std::vector<Point> corners = staircase_corners(view, canvas);
  return canvas.picture(phase + ": latency against throughput",
                        canvas.axes() + faint_points(view, report, canvas) +
                            staircase(corners, "front") + front_points(view, canvas) +
                            labels(view, canvas, placer_for(view, canvas, corners)));
}

}  // namespace halmark::report
