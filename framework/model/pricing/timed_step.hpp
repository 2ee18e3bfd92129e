// TimedStep: an operator graph with what one execution of each of its operators takes on the rank
// that decides the step. Every figure of a step on paper is a fold over it; StepPricer is the fast
// way to the same sum.
#pragma once

#include <cstdint>
#include <vector>

#include "model/graph/graph.hpp"
#include "model/pricing/step_sum.hpp"

namespace halmark {

class TimedStep {
 public:
  // By operator of the graph, which it refers to; one whose is_known is false makes the sums
  // unknown that it is in. Of training: a time with all passes of the operator.
  TimedStep(const OperatorGraph& graph, std::vector<KernelTime> times);
  // Stages on devices that differ: times by stage.
  TimedStep(const OperatorGraph& graph, std::vector<std::vector<KernelTime>> by_stage);

  const KernelTime& of(std::size_t stage, std::size_t op) const;
  KernelTime stage(std::size_t stage) const;  // one micro-batch on one of its ranks
  // A step of a stream of steps that follow each other: `evaluate` of a StepSum.
  const StepTime& stream() const { return stream_; }
  // The stage whose ranks are busiest.
  std::size_t slowest_stage() const { return slowest_; }
  // From the first stage's begin to the last one's end, when nothing stands before or behind the
  // step; of one stage the same as stream().
  KernelTime alone() const;
  // By operator, the executions that stream() is the sum of: of the slowest stage for every
  // micro-batch, or of all stages for one.
  std::vector<double> executions() const;

 private:
  const OperatorGraph& graph_;
  std::vector<std::vector<KernelTime>> times_;  // by stage, or once for all
  StepTime stream_;
  std::size_t slowest_ = 0;
};

}  // namespace halmark
