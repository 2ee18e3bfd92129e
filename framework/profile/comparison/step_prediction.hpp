// A step of a trace as kernels that can be measured here and a rest that the trace itself timed,
// and the time of the step that follows: of a model that nobody has described.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/json/json_type.hpp"
#include "core/problem.hpp"
#include "profile/trace/attribution.hpp"

namespace halmark::trace {

// Executions of equal problems in one pass.
struct TracedKernel {
  Problem problem;
  std::int64_t count = 0;
  double traced_ns = 0;  // all executions; median over the passes
};

// Passes that execute the same kernels equally often: one step, recorded several times. Times are
// medians over these passes, of the device where the trace has any, else of the host.
struct TracedStep {
  TraceStage stage = TraceStage::unknown;
  int passes = 0;
  std::vector<TracedKernel> kernels;
  std::int64_t other_count = 0;  // operators without a problem of ours, executions of one pass
  double other_ns = 0;
  double outside_ns = 0;  // of the pass outside of every operator: the interpreter
  double wall_ns = 0;     // the pass as it was recorded, with what the profiler costs
};

// Matrix products and attention whose shapes and dtypes the trace has become problems; a mask given
// as a tensor, products of batches and packed sequences stay with the trace. In the order of the
// trace.
std::vector<TracedStep> traced_steps(const Attribution& attribution);

// Of the weights, and of the keys and values, that the kernels of the step read.
double constant_bytes(const TracedStep& step);

// Nanoseconds of one execution, or why there are none.
struct KernelTime {
  std::optional<double> ns, low_ns, high_ns;
  std::string reason;
};
using KernelTimes = std::function<KernelTime(const Problem&)>;

struct StepPrediction {
  double measured_ns = 0;                 // of kernels measured here
  double traced_ns = 0;                   // of operators and gaps that the trace timed
  double low_ns = 0, high_ns = 0;         // moved by the intervals of the kernels alone, added up
  std::int64_t measured = 0, traced = 0;  // executions
  std::vector<KernelTime> kernels;        // as in the step
  double total_ns() const { return measured_ns + traced_ns; }
};
// Kernels without a time keep that of the trace.
StepPrediction predict(const TracedStep& step, const KernelTimes& times);

Json prediction_json(const TracedStep& step, const StepPrediction& prediction);

}  // namespace halmark::trace
