#include <algorithm>
#include <cmath>
#include <map>

#include "report/charts/charts.hpp"
#include "report/charts/label_placer.hpp"
#include "report/charts/svg.hpp"
#include "report/kernel_rates.hpp"
#include "report/text/quantity.hpp"

namespace halmark::report {
namespace {

constexpr double width = 1100, height = 560;
constexpr double left = 84, right = 880, top = 18, bottom = 508;
constexpr double marker_radius = 4.5;
constexpr double label_gap = 15;

// One horizontal roof per dtype (its best path) and one slope per memory level, widest cut of the
// device.
struct Roofs {
  std::vector<Peak> peaks;
  std::vector<Bandwidth> levels;
  double peak_max = 0;
  double level_max = 0;
};

Roofs roofs_of(const RunReport& report) {
  Roofs out;
  if (!report.device) return out;
  std::map<Dtype, Peak> peaks;
  for (const Peak& peak : report.device->peaks) {
    if (!(peak.flops_per_s > 0)) continue;
    Peak& best = peaks[peak.dtype];
    if (peak.flops_per_s > best.flops_per_s) best = peak;
  }
  for (const auto& [dtype, peak] : peaks) out.peaks.push_back(peak);
  std::ranges::stable_sort(out.peaks, std::greater{}, &Peak::flops_per_s);
  std::map<std::string, Bandwidth> levels;
  for (const Bandwidth& level : report.device->bandwidths) {
    if (!(level.bytes_per_s > 0) || level.level == "l1") continue;
    Bandwidth& best = levels[level.level];
    if (level.bytes_per_s > best.bytes_per_s) best = level;
  }
  for (const auto& [name, level] : levels) out.levels.push_back(level);
  std::ranges::stable_sort(out.levels, std::greater{}, &Bandwidth::bytes_per_s);
  if (!out.peaks.empty()) out.peak_max = out.peaks.front().flops_per_s;
  if (!out.levels.empty()) out.level_max = out.levels.front().bytes_per_s;
  return out;
}

struct PlottedKernel {
  const KernelPoint* kernel = nullptr;
  double intensity = 0;    // FLOP/byte
  double flops_per_s = 0;  // matmul FLOPs of the contract over time
  std::string contradiction;
};

std::vector<PlottedKernel> plotted(const RunReport& report) {
  std::vector<PlottedKernel> out;
  for (const KernelPoint& kernel : report.kernels) {
    const auto rate = flops_per_s(kernel);
    if (!rate || !std::isfinite(*rate) || !(kernel.bytes > 0)) continue;
    out.push_back(
        {&kernel, kernel.matmul_flops / kernel.bytes, *rate, contradiction(kernel, report)});
  }
  return out;
}

struct Plane {
  LogScale x;
  LogScale y;
};

Plane plane_for(const std::vector<PlottedKernel>& kernels, const Roofs& roofs) {
  std::vector<double> intensities;
  std::vector<double> rates;
  for (const PlottedKernel& k : kernels) {
    intensities.push_back(k.intensity);
    rates.push_back(k.flops_per_s);
  }
  for (const Peak& peak : roofs.peaks) {
    rates.push_back(peak.flops_per_s);
    for (const Bandwidth& level : roofs.levels) {
      intensities.push_back(peak.flops_per_s / level.bytes_per_s);
    }
  }
  return {LogScale::around(intensities, 1.6, left, right),
          LogScale::around(rates, 1.5, bottom, top)};
}

// The slope from the left or bottom edge up to the highest peak (or the top).
std::string slope(const Bandwidth& level, std::size_t index, const Plane& plane,
                  const Roofs& roofs) {
  const double ceiling = roofs.peak_max > 0 ? roofs.peak_max : plane.y.high();
  const double first = std::max(plane.x.low(), plane.y.low() / level.bytes_per_s);
  const double last = std::min(plane.x.high(), ceiling / level.bytes_per_s);
  if (!(first < last)) return {};
  const auto at = [&](double i) { return Point{plane.x.at(i), plane.y.at(i * level.bytes_per_s)}; };
  const Point from = at(first);
  const Point to = at(last);
  // Labels of neighbouring slopes are staggered, or they would lie on each other.
  const double along = 0.05 + 0.13 * static_cast<double>(index % 4);
  const Point label{from.x + (to.x - from.x) * along, from.y + (to.y - from.y) * along};
  const double angle = std::atan2(to.y - from.y, to.x - from.x) * 180 / 3.14159265358979;
  const std::string text = level.level + ' ' + bandwidth_text(level.bytes_per_s);
  return svg_line(from, to, "roof") +
         svg_text({label.x, label.y - 5}, Anchor::start, "rooflabel", text, angle);
}

std::string peak_name(const Peak& peak) {
  const std::string dtype(dtype_name(peak.dtype));
  return dtype + ' ' + flops_text(peak.flops_per_s);
}

// Horizontal roofs from their ridge with the fastest level; a tick where main memory suffices.
std::string peak_lines(const Plane& plane, const Roofs& roofs) {
  std::string out;
  double label_y = -1e9;
  for (const Peak& peak : roofs.peaks) {
    const int color = dtype_look(dtype_name(peak.dtype)).color;
    const std::string css = "peak s" + std::to_string(color);
    const double y = plane.y.at(peak.flops_per_s);
    const double ridge = roofs.level_max > 0 ? peak.flops_per_s / roofs.level_max : plane.x.low();
    out += svg_line({plane.x.at(ridge), y}, {right, y}, css);
    if (!roofs.levels.empty()) {
      const double slowest = peak.flops_per_s / roofs.levels.back().bytes_per_s;
      out += "<circle class=\"ridge\" cx=\"" + px(plane.x.at(slowest)) + "\" cy=\"" + px(y) +
             "\" r=\"3.5\">" +
             svg_title("ridge of " + peak_name(peak) + " with " + roofs.levels.back().level + ": " +
                       significant_text(slowest) + " FLOP/byte") +
             "</circle>\n";
    }
    label_y = std::max(y, label_y + label_gap);
    out += svg_line({right, y}, {right + 12, label_y}, "leader");
    out += svg_text({right + 15, label_y + 4}, Anchor::start, "peaklabel", peak_name(peak));
  }
  return out;
}

std::string kernel_title(const PlottedKernel& p) {
  const KernelPoint& k = *p.kernel;
  std::string out = k.problem + " | " + k.place + " | " + k.mode + ": " +
                    duration_text(k.duration_ns.value_or(0)) + ", " + flops_text(p.flops_per_s) +
                    ", " + significant_text(p.intensity) + " FLOP/byte";
  if (k.mfu) out += ", MFU " + percent_text(k.mfu);
  if (k.status != Status::ok) out += ", " + std::string(status_name(k.status));
  if (!p.contradiction.empty()) out += ", ERROR: " + p.contradiction;
  return out;
}

std::string markers(const std::vector<PlottedKernel>& kernels, const Plane& plane) {
  std::string out;
  std::string errors;
  for (const PlottedKernel& p : kernels) {
    const Point at{plane.x.at(p.intensity), plane.y.at(p.flops_per_s)};
    const std::string_view css = p.kernel->op.ends_with("gemm") ? "m" : "h";
    out += svg_marker(at, marker_radius, dtype_look(p.kernel->dtype), css, kernel_title(p));
    if (!p.contradiction.empty()) errors += svg_error_mark(at, marker_radius);
  }
  return out + errors;
}

}  // namespace

std::string roofline_chart(const RunReport& report) {
  const std::vector<PlottedKernel> kernels = plotted(report);
  const Roofs roofs = roofs_of(report);
  if (kernels.empty()) return {};
  const Plane plane = plane_for(kernels, roofs);
  std::string body = svg_axes({plane.x, plane.y, "arithmetic intensity, FLOP/byte (log)",
                               "FLOP/s (log)", compact_text, compact_text});
  for (std::size_t i = 0; i < roofs.levels.size(); ++i) {
    body += slope(roofs.levels[i], i, plane, roofs);
  }
  body += peak_lines(plane, roofs) + markers(kernels, plane);
  return svg_picture(width, height, "roofline of every measured kernel", body);
}

}  // namespace halmark::report
