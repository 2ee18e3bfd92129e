// In which order a measured sweep tries what it can price beforehand.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/device.hpp"
#include "latency/case_bounds.hpp"
#include "tune/plan/composers.hpp"
#include "tune/problem/problem.hpp"

namespace halmark {
class Store;
}

namespace halmark::tune {

// Bounds at the peaks that a run began with: peaks that were refined meanwhile would make another
// order when the run is resumed.
class FirstPeaks {
 public:
  // Of a run whose peaks are stored.
  FirstPeaks(const Store& store, std::int64_t run, const Target& target);
  FirstPeaks(const FirstPeaks&) = delete;
  FirstPeaks& operator=(const FirstPeaks&) = delete;

  double bound_ns(const KernelCase& kernel_case) const;  // 0 = not known

 private:
  std::map<std::string, Device> devices_;  // by "cpu:0"
  std::map<std::string, CaseBounds> bounds_;
};

// The possible points of a problem, each step at its bound: front by front of the bounds, and
// within one the best of each objective in turn. Then those that are impossible. Empty where an
// objective has no bound, or no step.
std::vector<Point> priced_order(const TuneProblem& problem, Composers& composers,
                                const FirstPeaks& peaks);

}  // namespace halmark::tune
