#include "tune/stored/baseline.hpp"

#include <algorithm>

#include "core/ranges.hpp"
#include "core/text/error.hpp"
#include "roofline/score.hpp"

namespace halmark::tune {
namespace {

std::string reason_of(const KernelPoint& point, const KernelPoint& base) {
  if (!base.duration_ns) return "the baseline has no time: " + base.reason;
  if (!point.duration_ns) return "no time: " + point.reason;
  return "no bound: this device has no measured peaks (halmark peaks)";
}

}  // namespace

Baseline parse_baseline(const std::string& text) {
  const std::size_t colon = text.find(':');
  Baseline out{.backend = text.substr(0, colon), .kernel = {}};
  if (colon != std::string::npos) out.kernel = text.substr(colon + 1);
  if (out.backend.empty() || (colon != std::string::npos && out.kernel.empty())) {
    throw refused("'" + text + "' names no baseline", "--baseline",
                  "write BACKEND or BACKEND:KERNEL, for example cpu:gemm_onednn");
  }
  return out;
}

std::vector<KernelCase> baseline_cases(std::span<const KernelCase> cases,
                                       const Baseline& baseline) {
  std::vector<KernelCase> out;
  for (KernelCase next : cases) {
    next.backend = baseline.backend;
    next.kernel = baseline.kernel;
    next.config = {};
    if (!contains(out, next)) out.push_back(std::move(next));
  }
  return out;
}

std::vector<KernelCase> joined(std::vector<KernelCase> cases,
                               std::span<const KernelCase> baseline) {
  for (const KernelCase& more : baseline) {
    if (!contains(cases, more)) cases.push_back(more);
  }
  return cases;
}

void score_points(std::span<KernelPoint> points, std::span<const KernelPoint> baseline) {
  for (KernelPoint& point : points) {
    const auto* base = find_or_null(baseline, true, [&](const KernelPoint& b) {
      return b.problem == point.problem && b.mode == point.mode;
    });
    if (!base) continue;
    point.baseline = base->place + ' ' + base->implementation;
    if (point.duration_ns && base->duration_ns) {
      point.score =
          speed_of_light_score(*point.duration_ns, point.lower_bound_ns, *base->duration_ns);
    }
    if (!point.score) point.score_reason = reason_of(point, *base);
  }
}

void score_beside(std::span<KernelPoint> points, std::span<const KernelCase> baseline) {
  std::vector<KernelPoint> base;
  for (const KernelCase& of : baseline) {
    const auto* found = find_or_null(points, of.key(), &KernelPoint::key);
    if (found) base.push_back(*found);
  }
  score_points(points, base);
}

}  // namespace halmark::tune
