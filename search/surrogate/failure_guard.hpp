// How much a search may lose to failures that no constraint states: no more than uniform draws
// would. The share of the space that fails is estimated from all finished trials at even places;
// once a search has lost more than its part of that, it proposes only what lies clearly nearer to
// successes than to failures. A search climbs to the very edge of what it may risk, where an
// estimate from distances is too low: how clearly is learned from what fails nevertheless.
#pragma once

#include <span>
#include <vector>

#include "search/history.hpp"
#include "search/surrogate/gaussian_process.hpp"

namespace halmark {

class FailureGuard {
 public:
  FailureGuard(const Space& space, std::uint64_t seed);

  void learn(const Trial& finished);

  // Nothing to guard against while nothing, or next to nothing, is known.
  bool is_awake() const { return failures_ > 0 && finished_ >= finished_min; }
  // What a proposal's risk should not exceed: 1 while the search has failures to spend.
  double risk_max() const;
  // Estimated share of the valid points that fail.
  double share() const;

  // What was computed for one place so far; O(1) per trial that has finished since.
  struct Probe {
    std::size_t seen = 0;
    double failed = 0, all = 0;
  };
  // 0 to 1: the weight of failures among finished trials, by inverse distance. The steeper, the
  // more parameters there are, so that the nearest decide at every scale.
  double risk(std::span<const double> row, Probe& probe) const;
  double risk(const Point& point) const;

 private:
  static constexpr std::size_t finished_min = 6;
  double weight(const double* a, const double* b) const;
  // No failure is left to spend.
  bool is_spent() const;
  void add_places();

  const Space& space_;
  std::uint64_t seed_;
  Features features_;
  double caution_;  // of the share that fails: what a proposal may risk when nothing is left
  int power_;       // of the squared distance
  std::vector<double> rows_;
  std::vector<bool> is_failed_;
  std::size_t finished_ = 0, failures_ = 0;
  struct Place {
    std::vector<double> row;
    Probe probe;
  };
  std::vector<Place> places_;  // even; none before the first failure
};

}  // namespace halmark
