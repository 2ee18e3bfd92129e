// Figures measured here: the first of the chain.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/latency.hpp"
#include "latency/case_bounds.hpp"

namespace halmark {

// Measures what it does not know yet, in one go. `measure` runs a campaign over cases and returns
// its rows (all rounds, resumed ones included); it is asked for each case once, and may be empty:
// the source then knows what was added. One thread.
class MeasuredSource final : public LatencySource {
 public:
  using Measure = std::function<std::vector<Measurement>(std::span<const KernelCase>)>;
  MeasuredSource(Measure measure, BoundingDevice bounding);

  using LatencySource::latency;
  void require(std::span<const KernelCase> cases) override;
  // Folds the rounds. Rows that are only noisy (`invalid`) count when a case has no valid one: the
  // figure is then `suspect` and says so. Each row was judged by its bound when it was measured, at
  // the peaks of that hour; it is not judged again at later ones.
  std::optional<Latency> latency(const KernelCase& kernel_case) const override;

  void add(const Measurement& measurement);  // a row from a journal
  // Bounds of latencies from now on: peaks may have been refined by probes.
  void bound_by(BoundingDevice bounding) { bounds_ = CaseBounds(bounding); }
  // Of cases on this device ("cuda:0"), instead.
  void bound_by(const std::string& device, BoundingDevice bounding) {
    bounds_of_.insert_or_assign(device, CaseBounds(bounding));
  }
  double bound_ns(const KernelCase& kernel_case) const;  // 0 = not known
  std::vector<Measurement> rows(const KernelCase& kernel_case) const;
  // Why a required case has no latency: the reason of its last row.
  std::string why_absent(const KernelCase& kernel_case) const;

 private:
  const CaseBounds& bounds(const KernelCase& kernel_case) const;

  Measure measure_;
  CaseBounds bounds_;
  std::map<std::string, CaseBounds> bounds_of_;           // by device
  std::map<std::string, std::vector<Measurement>> rows_;  // by case key
};

}  // namespace halmark
