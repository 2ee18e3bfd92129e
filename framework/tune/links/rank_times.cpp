#include "tune/links/rank_times.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "core/numeric/cast.hpp"
#include "core/numeric/statistics.hpp"
#include "tune/plan/kernel_cases.hpp"

namespace halmark::tune {

RankTimes measure_two_ranks(simulate::Collective collective, const KernelMeasuring& measuring) {
  const std::vector<KernelCase> cases =
      kernel_cases({.op = std::string(simulate::collective_name(collective)),
                    .params = "bytes=[1024..67108864*2],ranks=2",
                    .kernel = {},
                    .dtypes = {"f32"},
                    .backend = measuring.backend,
                    .mode = "hot"});
  RankTimes out;
  for (const Measurement& row : measure_kernels(cases, measuring)) {
    if (!has_latency(row.status)) {
      if (out.reason.empty()) out.reason = row.reason;
      continue;
    }
    const auto bytes = as_double(row.kernel_case.problem.params.at("bytes"));
    out.points.push_back({.ranks = 2, .bytes = bytes, .seconds = row.duration_ns_median * 1e-9});
  }
  std::ranges::stable_sort(out.points, {}, &simulate::CollectivePoint::bytes);
  if (!out.points.empty()) out.reason.clear();
  return out;
}

HalvedFit fit_half(simulate::Collective collective,
                   std::span<const simulate::CollectivePoint> points) {
  std::map<double, std::vector<double>> by_size;
  for (const auto& point : points) by_size[point.bytes].push_back(point.seconds);
  std::vector<simulate::CollectivePoint> fitted;
  HalvedFit out;
  bool is_fitted = true;
  for (const auto& [bytes, seconds] : by_size) {
    if (is_fitted) {
      for (const double s : seconds) fitted.push_back({.ranks = 2, .bytes = bytes, .seconds = s});
    } else {
      out.predicted.push_back({.bytes = bytes, .measured_s = median(seconds)});
    }
    is_fitted = !is_fitted;
  }
  out.fit = simulate::fit_collective(collective, fitted);
  for (PredictedSize& size : out.predicted) {
    size.modelled_s = out.fit.seconds(size.bytes, 2);
    const double error = std::abs(size.modelled_s / size.measured_s - 1);
    out.mean_error += error / as_double(out.predicted.size());
    out.worst_error = std::max(out.worst_error, error);
  }
  return out;
}

}  // namespace halmark::tune
