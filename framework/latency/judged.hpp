// The verdict of the roofline on a figure, the same for every source.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_set>
#include <vector>

#include "core/chosen/table_use.hpp"
#include "core/latency.hpp"
#include "core/problem.hpp"
#include "roofline/bound.hpp"

namespace halmark {

// With the bound's time and limiter. Status quarantined, with both figures before its own reason,
// where the time is below the bound by more than quarantine_ratio.
Latency judged(Latency latency, const roofline::Bound& bound);

// What became of the times that were asked for: every problem counts once.
class AskedTimes {
 public:
  // `refused`: the first figure that cannot be true, where a source had one.
  void add(const Problem& problem, const Latency* refused, const Latency* answer);

  const QuarantinedTimes& quarantined() const { return quarantined_; }
  // Kernels that a series gave, by its origin and whether it holds them.
  struct Given {
    std::size_t exact = 0, interpolated = 0;
  };
  const std::map<std::string, Given>& given() const { return given_; }

 private:
  std::unordered_set<std::uint64_t> problems_;  // by hash
  QuarantinedTimes quarantined_;
  std::map<std::string, Given> given_;
};

}  // namespace halmark
