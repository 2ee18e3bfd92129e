// StepSum: the one description of a step's time. Prices, intervals, the formula of a proof and the
// mixed steps of served loads are functions of it; `fold` is the only place that knows its form.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace halmark {

// Time of one execution of a kernel, or a sum of such. Each figure is added and compared apart.
struct KernelTime {
  double ns = 0, low_ns = 0, high_ns = 0, lower_bound_ns = 0;
  bool is_known = false;
};
inline constexpr KernelTime no_executions = {.is_known = true};  // where a sum begins

constexpr void add(KernelTime& sum, const KernelTime& time) {
  sum.ns += time.ns;
  sum.low_ns += time.low_ns;
  sum.high_ns += time.high_ns;
  sum.lower_bound_ns += time.lower_bound_ns;
  sum.is_known = sum.is_known && time.is_known;
}
constexpr KernelTime operator*(double count, const KernelTime& time) {
  return {count * time.ns, count * time.low_ns, count * time.high_ns, count * time.lower_bound_ns,
          time.is_known};
}
constexpr KernelTime largest(const KernelTime& a, const KernelTime& b) {
  return {std::max(a.ns, b.ns), std::max(a.low_ns, b.low_ns), std::max(a.high_ns, b.high_ns),
          std::max(a.lower_bound_ns, b.lower_bound_ns), a.is_known && b.is_known};
}

// step = micro_batches x max over stages of sum(count x time): all stages work at once, each on its
// own micro-batch, so the slowest sets the period. With fewer micro-batches than stages no step is
// shorter than the way of one micro-batch through all of them, the sum over stages.
struct StepSum {
  struct Term {
    std::int32_t kernel = 0;  // index of a time: a kernel of a KernelTable, or another slot
    double count = 0;         // executions per micro-batch
  };
  // Stages that execute the same are stated once.
  struct Stage {
    std::int32_t terms_end = 0;  // one past its last term
    std::int32_t first_stage = 0;
    std::int32_t stages = 1;  // that are alike
    // Other ranks of the stage before it, on another device: the slower one counts.
    bool is_alternative = false;
  };
  std::vector<Term> terms;  // stage after stage
  std::vector<Stage> stages;
  double micro_batches = 1;
  double tokens = 0;               // of one step, whole deployment
  std::optional<double> ideal_ns;  // time of the matmul FLOPs at the measured peaks
  double spread = 0;  // the interval is at least so wide on either side, as a fraction of the time

  // Ends a stage with the terms since the last one; drops them when an earlier stage has the same.
  void end_stage();
  // The same where ranks lie on devices of their own: no stage counts as another. `is_alternative`:
  // of the stage whose terms were ended last.
  void end_placed(bool is_alternative);
  std::span<const Term> terms_of(std::size_t stage) const;  // index into `stages`
};

// Calls begin_stage(), add(term) for each of its terms and end_stage() for every distinct stage,
// and returns visitor.step(micro_batches).
template <class Visitor>
auto fold(const StepSum& sum, Visitor&& visitor) {
  const StepSum::Term* term = sum.terms.data();
  for (const StepSum::Stage& stage : sum.stages) {
    visitor.begin_stage();
    for (const auto* end = sum.terms.data() + stage.terms_end; term != end; ++term) {
      visitor.add(*term);
    }
    visitor.end_stage();
  }
  return visitor.step(sum.micro_batches);
}

struct StepTime {
  KernelTime time;                 // is_known = false when a needed kernel has no time
  std::int32_t slowest_stage = 0;  // into StepSum::stages, by ns
  bool is_way = false;             // the way through all stages is longer than the slowest's turns
};
// `times` by index of the terms. Allocates nothing.
StepTime evaluate(const StepSum& sum, std::span<const KernelTime> times);

// Executions of every kernel in one micro-batch on all stages: terms of one kernel may repeat.
std::vector<StepSum::Term> executions(const StepSum& sum);

struct Price {
  double step_ns = 0, low_ns = 0, high_ns = 0, lower_bound_ns = 0;
  double tokens_per_s = 0;
  std::optional<double> mfu;
  std::int32_t slowest_stage = 0;  // the first of those that are alike
  bool is_way = false;             // see StepTime
};

// Nothing when a needed kernel has no time, or all kernels together take none.
std::optional<Price> price(const StepSum& sum, std::span<const KernelTime> times);
// The same with tokens and ideal time of another step that executes alike.
std::optional<Price> price(const StepSum& sum, std::span<const KernelTime> times, double tokens,
                           std::optional<double> ideal_ns);

}  // namespace halmark
