// The verdict of the roofline on a figure, the same for every source.
#pragma once

#include <set>
#include <string>

#include "core/latency.hpp"
#include "core/problem.hpp"
#include "roofline/bound.hpp"

namespace halmark {

// With the bound's time and limiter. Status quarantined, with both figures before its own reason,
// where the time is below the bound by more than quarantine_ratio.
Latency judged(Latency latency, const roofline::Bound& bound);

// Problems that had a quarantined time, each counted once.
class Quarantined {
 public:
  void add(const Problem& problem, const std::string& reason);
  std::size_t size() const { return problems_.size(); }
  // "2 times quarantined, the first: gemm k=...: faster_than_roofline: ...; FILE"; "" when none.
  std::string text() const;

 private:
  std::set<Problem> problems_;
  std::string first_;
};

}  // namespace halmark
