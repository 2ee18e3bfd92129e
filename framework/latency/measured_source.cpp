#include "latency/measured_source.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "roofline/utilisation.hpp"

namespace halmark {
namespace {

LowerBound bound_of(const KernelCase& kernel_case, const BoundingDevice& bounding) {
  const Problem problem = complete_problem(kernel_case.problem);
  const Work work = find_contract(problem.op)->work(problem.params);
  const int threads = std::max(1, bounding.threads / std::max(1, kernel_case.parts));
  return lower_bound(work, traffic(work, kernel_case.mode, kernel_case.sets), *bounding.device,
                     threads);
}

}  // namespace

double bound_ns(const KernelCase& kernel_case, const BoundingDevice& bounding) {
  return bounding.device == nullptr ? 0 : bound_of(kernel_case, bounding).ns();
}

MeasuredSource::MeasuredSource(Measure measure, BoundingDevice bounding)
    : measure_(std::move(measure)), bounding_(bounding) {}

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

std::optional<Latency> MeasuredSource::latency(const KernelCase& kernel_case) const {
  const auto found = rows_.find(kernel_case.key());
  if (found == rows_.end() || found->second.empty()) return std::nullopt;
  return fold_usable_rounds(found->second, bound_ns(kernel_case, bounding_));
}

std::vector<Measurement> MeasuredSource::rows(const KernelCase& kernel_case) const {
  const auto found = rows_.find(kernel_case.key());
  return found == rows_.end() ? std::vector<Measurement>{} : found->second;
}

std::string MeasuredSource::why_absent(const KernelCase& kernel_case) const {
  const auto found = rows_.find(kernel_case.key());
  if (found == rows_.end() || found->second.empty()) return "never measured";
  const Measurement& last = found->second.back();
  return std::string(status_name(last.status)) + ": " + last.reason;
}

std::optional<Latency> RooflineSource::latency(const KernelCase& kernel_case) const {
  const double ns = bound_ns(kernel_case, bounding_);
  if (ns <= 0) return std::nullopt;
  return Latency{.ns = ns,
                 .low_ns = ns,
                 .high_ns = ns,
                 .lower_bound_ns = ns,
                 .provenance = Provenance::roofline,
                 .status = Status::ok,
                 .reason = {},
                 .implementation = {},
                 .rounds = 0};
}

void ChainedSource::require(std::span<const KernelCase> cases) {
  std::vector<KernelCase> open(cases.begin(), cases.end());
  for (LatencySource* source : sources_) {
    if (open.empty()) return;
    source->require(open);
    std::erase_if(open, [source](const KernelCase& kernel_case) {
      return source->latency(kernel_case).has_value();
    });
  }
}

std::optional<Latency> ChainedSource::latency(const KernelCase& kernel_case) const {
  for (const LatencySource* source : sources_) {
    if (auto latency = source->latency(kernel_case)) return latency;
  }
  return std::nullopt;
}

}  // namespace halmark
