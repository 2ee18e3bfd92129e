// Probabilistic bisection under noise (Horstein 1963; Waeber, Frazier, Henderson 2013): which
// revision made a figure larger or smaller, from pairs of runs beside the good revision. The size
// of the change and the variance of a pair are unknown and estimated with it. Numbers only.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/numeric/statistics.hpp"

namespace halmark::history {

// In the order of the commits: the first is the good one, the last the bad one.
struct RevisionPairs {
  std::vector<double> log_ratios;  // ln(figure here / figure of the good one), one per pair
  bool is_skipped = false;         // it does not build or run: never measured
};

// Before the first pair. Weights: the number of pairs that a belief counts for.
struct BisectPrior {
  double size = 0, size_weight = 0.1;           // of the change, as a logarithm
  double variance = 1e-4, variance_weight = 1;  // of a pair
  double no_change = 0.5;                       // probability
};

// That a revision is the first changed one, or that none is: a normal-inverse-gamma posterior.
struct BisectHypothesis {
  double probability = 0;
  double size = 0, size_weight = 0;
  double variance = 0;  // of a pair
};
struct BisectPosterior {
  std::vector<BisectHypothesis> hypotheses;  // per revision; the first: there is no change
  double freedom = 0;                        // of Student's t, of all sizes
  std::size_t best() const;                  // the most probable
  // Of the change under a hypothesis, 95 %, as a ratio.
  double ratio(std::size_t revision) const;
  Interval ratio_interval(std::size_t revision) const;
};

// A revision that is skipped adds its share of the prior to the next that is not: pairs cannot tell
// them apart. Values beyond 3.5 robust deviations from the median of their revision count as
// those.
BisectPosterior bisect_posterior(std::span<const RevisionPairs> revisions,
                                 const BisectPrior& prior = {});

// Where one more pair tells most, for what it costs, about whether the change is before or after.
// `costs`: per revision, of a pair there. Never the first nor one that is skipped.
std::size_t next_revision(std::span<const RevisionPairs> revisions,
                          const BisectPosterior& posterior, std::span<const double> costs);

enum class BisectState { open, found, no_change };
std::string_view bisect_state_name(BisectState state);
// found: one revision has `confidence`, and two pairs or more on either side. no_change: that there
// is none has it, or six pairs or more of the bad revision lie within the floor with their whole 95
// % interval.
BisectState bisect_state(std::span<const RevisionPairs> revisions, const BisectPosterior& posterior,
                         double confidence, double floor);

}  // namespace halmark::history
