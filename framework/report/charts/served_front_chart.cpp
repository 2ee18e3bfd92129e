#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

#include "core/lists.hpp"
#include "report/charts/charts.hpp"
#include "report/charts/label_placer.hpp"
#include "report/charts/svg.hpp"
#include "report/served_report.hpp"
#include "report/text/quantity.hpp"

namespace halmark::report {
namespace {

constexpr double radius_of_points = 5, radius_of_choice = 9;
constexpr double ns_per_s = 1e9;

double user_rate(const ServingFigures& figures) { return ns_per_s / figures.tpot_ns; }

struct Canvas : FrontPlane {
  Point at(const ServedEstimate& e) const {
    return {x.at(user_rate(e.figures)), y.at(e.figures.tokens_per_s_per_device)};
  }
};

Canvas canvas_for(const std::vector<ServedPoint>& front) {
  std::vector<double> users, devices;
  for (const ServedPoint& point : front) {
    users.push_back(user_rate(point.estimate.figures));
    devices.push_back(point.estimate.figures.tokens_per_s_per_device);
  }
  return {{users, 1.35, devices}};
}

// Points that no other beats in both rates, the fastest for a user first: of a front by further
// objectives the rest has no name in the picture.
std::vector<std::size_t> best_points(const std::vector<ServedPoint>& front, const Canvas& canvas) {
  std::vector<std::size_t> order(front.size()), out;
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, std::greater<>(), [&](std::size_t i) {
    const Point at = canvas.at(front[i].estimate);
    return std::pair(at.x, -at.y);
  });
  double best = canvas.bottom;
  for (const std::size_t i : order) {
    const double y = canvas.at(front[i].estimate).y;
    if (y >= best) continue;
    best = y;
    out.push_back(i);
  }
  return out;
}

std::string best_rates(const std::vector<std::size_t>& best, const ServedReport& report,
                       const Canvas& canvas) {
  std::vector<Point> corners;
  for (const std::size_t i : best) {
    const Point at = canvas.at(report.front[i].estimate);
    corners.push_back({at.x, corners.empty() ? canvas.bottom : corners.back().y});
    corners.push_back(at);
  }
  corners.push_back({canvas.left, corners.back().y});
  return staircase(corners, "front");
}

// 90 % of the rate of a user.
std::string interval_bar(const ServedEstimate& e, const Canvas& canvas) {
  if (!e.has_interval) return {};
  const double y = canvas.at(e).y;
  return svg_line({canvas.x.at(user_rate(e.slow)), y}, {canvas.x.at(user_rate(e.fast)), y}, "bar");
}

}  // namespace

std::string served_front_chart(const ServedReport& report) {
  if (report.front.empty()) return {};
  const Canvas canvas = canvas_for(report.front);
  const auto is_chosen = [&](std::size_t i) { return report.chosen && report.chosen->index == i; };
  LabelPlacer placer = canvas.placer();
  std::string bars, markers, labels;
  for (const auto i : indices(report.front)) {
    const Configuration& configuration = report.front[i].configuration;
    const ServedEstimate& estimate = report.front[i].estimate;
    const Point at = canvas.at(estimate);
    const double radius = is_chosen(i) ? radius_of_choice : radius_of_points;
    placer.avoid(marker_box(at, radius + 1));
    if (is_chosen(i)) bars += interval_bar(estimate, canvas);
    markers +=
        svg_marker(at, radius, dtype_look(configuration.precision.name), "m",
                   "point " + std::to_string(i + 1) + ", " + served_label(configuration) + ": " +
                       significant_text(user_rate(estimate.figures)) + " tokens/s a user, " +
                       significant_text(estimate.figures.tokens_per_s_per_device) +
                       " tokens/s per device, TTFT " + duration_text(estimate.figures.ttft_ns));
  }
  // The choice has its name first, then whatever finds a place.
  std::vector<std::size_t> named = best_points(report.front, canvas);
  const std::string line = best_rates(named, report, canvas);
  if (report.chosen) {
    std::erase(named, report.chosen->index);
    named.insert(named.begin(), report.chosen->index);
  }
  for (const std::size_t i : named) {
    const ServedPoint& point = report.front[i];
    labels +=
        placer.label(canvas.at(point.estimate), is_chosen(i) ? radius_of_choice : radius_of_points,
                     (is_chosen(i) ? "choice: " : "") + served_label(point.configuration));
  }
  return canvas.picture(
      "tokens per second of a user and of a device",
      svg_axes({canvas.x, canvas.y, "tokens per second of a user (log)",
                "tokens per second per device (log)", compact_text, compact_text}) +
          line + bars + markers + labels);
}

}  // namespace halmark::report
