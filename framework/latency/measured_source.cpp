// Rows arrive in rounds and are folded when asked, because later rounds change what earlier ones
// said.
#include "latency/measured_source.hpp"

#include <set>
#include <utility>

#include "core/lists.hpp"

namespace halmark {

MeasuredSource::MeasuredSource(Measure measure, BoundingDevice bounding)
    : measure_(std::move(measure)), bounds_(bounding) {}

void MeasuredSource::require(std::span<const KernelCase> cases) {
  std::vector<KernelCase> unknown;
  std::set<std::string> seen;
  for (const KernelCase& kernel_case : cases) {
    const std::string key = kernel_case.key();
    if (!rows_.contains(key) && seen.insert(key).second) unknown.push_back(kernel_case);
  }
  if (unknown.empty() || !measure_) return;
  for (const KernelCase& kernel_case : unknown) rows_[kernel_case.key()];
  for (const Measurement& row : measure_(unknown)) add(row);
}

void MeasuredSource::add(const Measurement& measurement) {
  rows_[measurement.kernel_case.key()].push_back(measurement);
}

const CaseBounds& MeasuredSource::bounds(const KernelCase& kernel_case) const {
  const auto* own = find_value(bounds_of_, kernel_case.backend + ':' + kernel_case.device);
  return !own ? bounds_ : *own;
}

std::optional<Latency> MeasuredSource::latency(const KernelCase& kernel_case) const {
  const auto* found = find_value(rows_, kernel_case.key());
  if (!found || found->empty()) return std::nullopt;
  const roofline::Bound bound = bounds(kernel_case).of(kernel_case).bound;
  auto out = fold_usable_rounds(*found, bound.ns());
  if (out) out->limiter = bound.limiter();
  return out;
}

double MeasuredSource::bound_ns(const KernelCase& kernel_case) const {
  return bounds(kernel_case).of(kernel_case).bound.ns();
}

std::vector<Measurement> MeasuredSource::rows(const KernelCase& kernel_case) const {
  const auto* found = find_value(rows_, kernel_case.key());
  return !found ? std::vector<Measurement>{} : *found;
}

std::string MeasuredSource::why_absent(const KernelCase& kernel_case) const {
  const auto* found = find_value(rows_, kernel_case.key());
  if (!found || found->empty()) return "never measured";
  const Measurement& last = found->back();
  return std::string(status_name(last.status)) + ": " + last.reason;
}

}  // namespace halmark
