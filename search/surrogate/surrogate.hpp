// Model-based proposals: a Gaussian process per objective, and of a pool of candidates the one with
// the largest expected hypervolume improvement. Candidates keep what was computed for them, so that
// a trial costs O(n) each. Everything is a function of the history, trial by trial, so that a
// resumed study proposes what the uninterrupted one would have.
#pragma once

#include <memory>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "search/proposer.hpp"
#include "search/surrogate/failure_model.hpp"
#include "search/surrogate/gaussian_process.hpp"
#include "search/surrogate/improvement.hpp"

namespace halmark {

struct SurrogateSettings {
  std::size_t observations_max = 240;  // beyond: the best, and some of the others
  std::size_t around = 600;            // candidates near the best points
  std::size_t anywhere = 150;          // candidates drawn from the whole space
};

class Surrogate {
 public:
  // All three outlive it. What it proposes spends `effort`; what it catches up with does not.
  Surrogate(const History& history, const FailureGuard& guard, Effort& effort, std::uint64_t seed,
            SurrogateSettings settings);

  void learn(std::size_t trial) {
    failures_.learn(history_.trials()[trial]);
    if (trial < done_) late_.push_back(trial);
  }
  // A new point; nothing while there are too few observations, or when no candidate promises
  // anything.
  std::optional<Point> propose(Stream& random);

  // Brings models and front up to date; false while there are too few observations.
  bool prepare();
  const std::vector<std::size_t>& front() const { return front_; }  // trials
  // Medians of the objectives at a row of features, 0 to 1 over the extent of the front.
  std::vector<double> scaled_means(std::span<const double> row) const;
  const Features& features() const { return features_; }

 private:
  struct Candidate {
    Point point;
    std::vector<double> row;
    std::vector<GaussianProcess::Probe> probes;  // per objective
    FailureGuard::Probe failures = {};
    double score = 0, risk = 0;
  };
  struct Output {
    Belief::Curve curve = Belief::Curve::plain;
    std::unique_ptr<GaussianProcess> process;
  };

  void advance(std::size_t trials);
  void fit_lengths(std::size_t trials);
  void rebuild(std::size_t trials);
  void observe(std::size_t trial);
  void add_observation(std::size_t trial);
  void presume_pending();
  void forget_presumed();
  void add_candidate(std::optional<Point> point);
  std::size_t add_around(std::size_t trial, std::uint64_t seed);
  void add_offspring(Stream& random, std::size_t count);
  void update_front(std::size_t trials);
  std::vector<std::size_t> observations(std::size_t trials, std::size_t count) const;
  std::vector<Belief> beliefs(Candidate& candidate) const;
  double score(Candidate& candidate, double least) const;
  Candidate* best_of_pool(double risk_max);
  Objectives seen(const Objectives& values) const;
  Candidate candidate_of(Point point) const;
  void climb(Candidate& best, double risk_max, Stream& random) const;

  const History& history_;
  const FailureGuard& guard_;
  Effort& effort_;
  const Space& space_;
  std::uint64_t seed_;
  SurrogateSettings settings_;
  Features features_;
  FailureModel failures_;
  std::vector<Output> outputs_;
  std::size_t done_ = 0, next_fit_, next_rebuild_ = 0;
  std::vector<std::size_t> late_;   // told after they were passed by
  std::size_t presumed_count_ = 0;  // values at the end of the front that are expected ones
  std::unordered_map<std::size_t, Candidate> presumed_;  // pending trials, by number
  std::vector<Candidate> pool_;
  std::unordered_set<std::uint64_t> in_pool_;
  std::vector<std::size_t> front_, elite_;  // trials; elite: the front and who is next to it
  std::vector<std::size_t> view_;  // the objectives that the open region is of, at most three
  std::vector<Objectives> front_values_;
  std::optional<OpenRegion> open_;
  Objectives ideal_, reference_;
};

}  // namespace halmark
