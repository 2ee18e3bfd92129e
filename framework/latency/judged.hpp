// The verdict of the roofline on a figure, the same for every source.
#pragma once

#include <set>
#include <string>
#include <vector>

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
  // How many, then the first with its problem, both times and its file, a line each; none when
  // nothing was quarantined.
  std::vector<std::string> lines() const;

 private:
  std::set<Problem> problems_;
  std::string first_problem_, first_reason_;
};

}  // namespace halmark
