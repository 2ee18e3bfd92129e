// LaunchFloor: what one launch costs at least, learned from the smallest times of tables. Kernels
// that no table has are not faster than the smallest ones that it has: an expectation, no bound.
#pragma once

#include <span>

#include "latency/latency_point.hpp"

namespace halmark {

class LaunchFloor {
 public:
  // Times of one implementation. A few of the smallest may be mistakes, so the one counts that 1 %
  // of them lie below; collectives wait for others and do not count.
  void add(std::span<const LatencyPoint> series);
  // Of the implementation that launches fastest; 0 = nothing was learned.
  double ns() const { return ns_; }

 private:
  double ns_ = 0;
};

}  // namespace halmark
