// The one loop over configurations: a sampler proposes points of a problem, an evaluator gives
// their figures, a sink keeps what it wants of them, the sampler is told.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "search/loop.hpp"
#include "tune/evaluate/evaluator.hpp"
#include "tune/problem/problem.hpp"

namespace halmark::tune {

class Steering;  // below

struct LoopOptions {
  SearchBudget budget;
  // Asked before each batch; a batch that was asked is always evaluated and told.
  std::function<bool()> should_stop = {};
  Steering* steering = nullptr;  // proposes instead of the sampler
};

// Called once for each trial, in the order of the trials; of a configuration that was proposed
// twice, once.
using Sink = std::function<void(const Point&, const Evaluation&, const TrialTime&)>;

struct TimedEvaluation {
  Evaluation evaluation;
  TrialTime time;
};
// In the order of the points, evaluated in an order in which neighbours stand together.
std::vector<TimedEvaluation> evaluate_points(const TuneProblem& problem, Evaluator& evaluator,
                                             const std::vector<Point>& points);

SearchResult run(const TuneProblem& problem, Sampler& sampler, Evaluator& evaluator,
                 const LoopOptions& options, const Sink& sink);

// Somebody who proposes instead of a sampler, and has a loop of their own for it.
class Steering {
 public:
  virtual ~Steering() = default;
  virtual SearchResult run(const TuneProblem& problem, Evaluator& evaluator,
                           const LoopOptions& options, const Sink& sink) = 0;
  virtual std::string note() const = 0;  // a line for reports: who proposed how much
};

// What a sampler is told of an evaluation: minimised objectives, and by how much levels are missed.
Told told_of(const TuneProblem& problem, const Point& point, const Evaluation& evaluation);

}  // namespace halmark::tune
