// Bounds before anything is measured.
#pragma once

#include <map>
#include <string>

#include "core/device.hpp"
#include "journal/store.hpp"
#include "latency/case_bounds.hpp"
#include "tune/plan/target.hpp"

namespace halmark::tune {

// Bounds at the peaks that a run began with: peaks that were refined meanwhile would make another
// order when the run is resumed.
class FirstPeaks {
 public:
  // Of a run whose peaks are stored.
  FirstPeaks(const Store& store, std::int64_t run, const Target& target);
  FirstPeaks(const FirstPeaks&) = delete;
  FirstPeaks& operator=(const FirstPeaks&) = delete;

  double bound_ns(const KernelCase& kernel_case) const { return of(kernel_case).bound.ns(); }
  CaseBound of(const KernelCase& kernel_case) const;          // a bound of 0 = not known
  const Device* device(const KernelCase& kernel_case) const;  // null = not known

 private:
  std::map<std::string, Device> devices_;  // by "cpu:0"
  std::map<std::string, CaseBounds> bounds_;
  CaseBounds unbounded_{BoundingDevice{}};
};

}  // namespace halmark::tune
