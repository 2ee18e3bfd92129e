#include <algorithm>
#include <cmath>
#include <map>

#include "core/lists.hpp"
#include "report/charts/charts.hpp"
#include "report/charts/svg.hpp"
#include "report/kernel_rates.hpp"
#include "report/text/quantity.hpp"

namespace halmark::report {
namespace {

constexpr double width = 1100, left = 150, right = 880, top = 12, strip = 30;
constexpr double marker_radius = 4.5;
constexpr double share_max = 1.2;  // room beyond the bound for what contradicts it

double x_at(double share) {
  return left + (right - left) * std::clamp(share, 0.0, share_max) / share_max;
}

std::map<std::string, std::vector<const KernelPoint*>> strips_of(const RunReport& report) {
  std::map<std::string, std::vector<const KernelPoint*>> out;
  for (const KernelPoint& kernel : report.kernels) {
    const bool has_share = kernel.roofline_fraction && std::isfinite(*kernel.roofline_fraction);
    if (kernel.matmul_flops > 0 || !kernel.duration_ns || !has_share) continue;
    out[kernel.op].push_back(&kernel);
  }
  return out;
}

std::string scale_lines(double bottom) {
  std::string out;
  for (const int percent : {0, 25, 50, 75, 100}) {
    const double x = x_at(percent / 100.0);
    out += svg_line({x, top}, {x, bottom}, percent == 100 ? "roof" : "grid");
    out += svg_text({x, bottom + 16}, Anchor::middle, "tick", std::to_string(percent) + " %");
  }
  return out + svg_text({(left + right) / 2, bottom + 36}, Anchor::middle, "axis",
                        "share of the bound reached (bound / time)");
}

std::string title_of(const KernelPoint& kernel, const std::string& error) {
  const auto rate = bytes_per_s(kernel);
  return kernel.problem + " | " + kernel.place + " | " + kernel.mode + ": " +
         duration_text(*kernel.duration_ns) + (rate ? ", " + bandwidth_text(*rate) : "") + ", " +
         percent_text(kernel.roofline_fraction) + " of the bound" +
         (error.empty() ? "" : ", ERROR: " + error);
}

std::string strip_row(const std::string& op, const std::vector<const KernelPoint*>& kernels,
                      double y, const RunReport& report) {
  std::string out = svg_line({left, y}, {right, y}, "grid") +
                    svg_text({left - 8, y + 4}, Anchor::end, "tick", op);
  std::string errors;
  for (const auto i : indices(kernels)) {
    const KernelPoint& kernel = *kernels[i];
    // Three heights in turn: neighbours of equal share stay apart.
    const Point at{x_at(*kernel.roofline_fraction), y + 7 * (as_double(i % 3) - 1)};
    const std::string error = contradiction(kernel, report);
    out += svg_marker(at, marker_radius, dtype_look(kernel.dtype), "h", title_of(kernel, error));
    if (!error.empty()) errors += svg_error_mark(at, marker_radius);
  }
  return out + errors;
}

}  // namespace

std::string bandwidth_strips(const RunReport& report) {
  const auto strips = strips_of(report);
  if (strips.empty()) return {};
  const double bottom = top + strip * as_double(strips.size());
  std::string body = scale_lines(bottom);
  double y = top + strip / 2;
  for (const auto& [op, kernels] : strips) {
    body += strip_row(op, kernels, y, report);
    const auto worst = std::ranges::minmax(
        kernels, {}, [](const KernelPoint* k) { return *k->roofline_fraction; });
    body += svg_text({right + 15, y + 4}, Anchor::start, "peaklabel",
                     std::to_string(kernels.size()) + ": " +
                         percent_text(worst.min->roofline_fraction) + " .. " +
                         percent_text(worst.max->roofline_fraction));
    y += strip;
  }
  return svg_picture(width, bottom + 46, "share of the bound of kernels without matmul FLOPs",
                     body);
}

}  // namespace halmark::report
