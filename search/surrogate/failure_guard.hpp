// How much a search may lose to failures that no constraint states: no more than uniform draws
// would. The share of the space that fails is estimated from all finished trials at even places;
// once a search has lost more than its part of that, it proposes only what lies clearly nearer to
// successes than to failures. A search climbs to the very edge of what it may risk, where an
// estimate from distances is too low: how clearly is learned from what fails nevertheless.
// Optima may lie beside failures. So a bounded share of all trials may go where caution would not,
// as large as such trials have earned: by how many of them were among the best of their time.
#pragma once

#include <span>
#include <vector>

#include "search/history.hpp"
#include "search/pareto/pareto.hpp"
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
  // Neither a failure nor a trial at the border is left to spend.
  bool is_spent() const;
  // Of all trials: what may be at the border.
  double border_share() const;
  bool is_among_the_best(const Trial& complete) const;
  void add_places();

  const Space& space_;
  std::uint64_t seed_;
  Features features_;
  double caution_;  // of the share that fails: what a proposal may risk when nothing is left
  int power_;       // of the squared distance
  std::vector<double> rows_;
  std::vector<bool> is_failed_;
  std::size_t finished_ = 0, failures_ = 0;
  std::vector<Objectives> complete_;
  // Where caution would not have gone; of these, that were complete and among the best.
  std::size_t border_trials_ = 0, border_gains_ = 0;
  struct Place {
    std::vector<double> row;
    Probe probe;
  };
  std::vector<Place> places_;  // even; none before the first failure
};

}  // namespace halmark
