#include "model/pricing/timed_step.hpp"

#include <utility>

#include "core/numeric/cast.hpp"
#include "model/pricing/pipeline.hpp"

namespace halmark {
namespace {

// Over operators in place of kernels; those of a second device come behind those of the first.
StepSum sum_of(const OperatorGraph& graph, bool has_devices) {
  StepSum out{.terms = {}, .stages = {}, .micro_batches = as_double(graph.micro_batches())};
  const std::size_t operators = graph.operators.size();
  for (std::size_t stage = 0; stage < graph.stages.size(); ++stage) {
    const std::size_t first = has_devices ? stage * operators : 0;
    for (std::size_t op = 0; op < operators; ++op) {
      const std::int64_t count = graph.operators[op].stage_counts[stage];
      if (count > 0) {
        out.terms.push_back({static_cast<std::int32_t>(first + op), as_double(count)});
      }
    }
    out.end_stage();
  }
  out.spread = unconfirmed_spread(graph.spec);
  return out;
}

}  // namespace

TimedStep::TimedStep(const OperatorGraph& graph, std::vector<KernelTime> times)
    : TimedStep(graph, std::vector<std::vector<KernelTime>>{std::move(times)}) {}

TimedStep::TimedStep(const OperatorGraph& graph, std::vector<std::vector<KernelTime>> by_stage)
    : graph_(graph), times_(std::move(by_stage)) {
  const StepSum sum = sum_of(graph, times_.size() > 1);
  std::vector<KernelTime> all;
  for (const auto& times : times_) all.insert(all.end(), times.begin(), times.end());
  stream_ = evaluate(sum, all);
  slowest_ = as_size(sum.stages[as_size(stream_.slowest_stage)].first_stage);
}

const KernelTime& TimedStep::of(std::size_t stage, std::size_t op) const {
  return times_[times_.size() > 1 ? stage : 0][op];
}

KernelTime TimedStep::stage(std::size_t stage) const {
  KernelTime out = no_executions;
  for (std::size_t op = 0; op < graph_.operators.size(); ++op) {
    const std::int64_t count = graph_.operators[op].stage_counts[stage];
    if (count > 0) add(out, as_double(count) * of(stage, op));
  }
  return out;
}

KernelTime TimedStep::alone() const {
  std::vector<KernelTime> stages;
  for (std::size_t s = 0; s < graph_.stages.size(); ++s) stages.push_back(stage(s));
  return pipeline_time(pipeline_slots(std::ssize(stages), graph_.micro_batches()),
                       [&](std::int64_t stage, std::int64_t) { return stages[as_size(stage)]; });
}

std::vector<double> TimedStep::executions() const {
  std::vector<double> out;
  for (const Operator& op : graph_.operators) {
    double count = as_double(graph_.micro_batches() * op.stage_counts[slowest_]);
    if (stream_.is_way) {
      count = 0;
      for (const std::int64_t of_stage : op.stage_counts) count += as_double(of_stage);
    }
    out.push_back(count);
  }
  return out;
}

}  // namespace halmark
