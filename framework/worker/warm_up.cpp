// Warm-up ends when two medians agree, never after a fixed count: a kernel of 100 ms must not be
// warmed a hundred times, and one of 1 us needs thousands of executions before clocks and caches
// are steady. The repeat is fitted before and after, because cold executions are slower.
#include "worker/warm_up.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/lists.hpp"
#include "core/numeric/statistics.hpp"
#include "core/text/units.hpp"
#include "worker/request_failed.hpp"

namespace halmark::worker {
namespace {

constexpr double warm_agreement = 0.02;
constexpr double long_interval_ns = 10e6;
constexpr int fits_max = 4;

// One long interval is enough; of short ones the median of three.
double batch_median_ns(const std::function<double()>& interval) {
  std::array<double, 3> intervals{};
  intervals[0] = interval();
  if (intervals[0] >= long_interval_ns) return intervals[0];
  intervals[1] = interval();
  intervals[2] = interval();
  return median(intervals);
}

std::int64_t repeat_of(const TimedStep& step, double execution_ns, double min_sample_ns, int sets) {
  return repeat_for(execution_ns, min_sample_ns, sets, step.repeat_max());
}

// A first idea of the time of one execution: intervals that grow until one is long enough.
double pilot_ns(TimedStep& step, double min_sample_ns, ClockSource& clock) {
  for (std::int64_t repeat = 1;; repeat *= 4) {
    step.set_repeat(repeat);
    const double elapsed_ns = interval_ns(step, clock);
    if (elapsed_ns >= min_sample_ns / 4 || 4 * repeat > step.repeat_max()) {
      return elapsed_ns / as_double(repeat);
    }
  }
}

double steady_ns(TimedStep& step, double cap_s, ClockSource& clock) {
  return run_until_steady([&] { return interval_ns(step, clock); }, cap_s, clock);
}

// What the ranks pay once per sample, behind the barrier: their skew, and a library that was not
// called for a while. About 5 us with Open MPI 4.1 in shared memory; 1 % of a
// sample of this length.
constexpr double collective_sample_ns = 500e3;

// Ranks of a collective must all run the same number of executions, so nothing here may depend on
// what one rank measured: a fixed number of calls, and the parent chooses among the answers.
double settle_collective(TimedStep& step, const protocol::SampleRequest& request,
                         ClockSource& clock) {
  constexpr int calls = 5;
  const std::int64_t repeat = std::max<std::int64_t>(1, request.rule.repeat);
  step.set_repeat(repeat);
  std::array<double, calls> intervals{};
  for (double& interval : intervals) interval = interval_ns(step, clock);
  const double warm_ns = median(intervals);
  if (request.pilot_only) {
    step.set_repeat(repeat_of(step, warm_ns / as_double(repeat),
                              std::max(request.rule.min_sample_ns, collective_sample_ns), 1));
  }
  return warm_ns;
}

// Leaves the step with the repeat to sample with; gives the expected length of one interval.
double settle(TimedStep& step, const protocol::SampleRule& rule, const StagedKernel& kernel,
              ClockSource& clock) {
  if (rule.repeat > 0) {
    step.set_repeat(rule.repeat);
    return rule.warmup_cap_s > 0 ? steady_ns(step, rule.warmup_cap_s, clock) : 0;
  }
  // The first call has warmed a slow kernel: more of them would take longer than sampling it.
  const double first_call_ns = kernel.staged().one_time.first_ns;
  if (first_call_ns >= slow_call_ns) {
    step.set_repeat(1);
    return first_call_ns >= rule.warmup_cap_s * ns_per_s ? first_call_ns : interval_ns(step, clock);
  }
  const double first_ns = pilot_ns(step, rule.min_sample_ns, clock);
  step.set_repeat(repeat_of(step, first_ns, rule.min_sample_ns, kernel.sets()));
  double warm_ns = steady_ns(step, rule.warmup_cap_s, clock);
  // What an interval costs once is part of every fit: the fewer executions it had, the more, and a
  // first interval that something disturbed has one. So the repeat is fitted until it stays.
  for (int fit = 0; fit < fits_max; ++fit) {
    const double execution_ns = warm_ns / as_double(step.repeat());
    const std::int64_t repeat = repeat_of(step, execution_ns, rule.min_sample_ns, kernel.sets());
    const bool stays = repeat < 2 * step.repeat();
    step.set_repeat(repeat);
    if (stays) return execution_ns * as_double(repeat);
    warm_ns = batch_median_ns([&] { return interval_ns(step, clock); });
  }
  return warm_ns;
}

}  // namespace

std::int64_t repeat_for(double execution_ns, double min_sample_ns, int sets, std::int64_t most) {
  if (execution_ns >= min_sample_ns) return 1;
  const double wanted = std::ceil(min_sample_ns / std::max(execution_ns, 1.0));
  const auto repeat = as_int64(std::min(wanted, as_double(most)));
  if (repeat <= sets) return repeat;
  const std::int64_t rounds = (repeat + sets - 1) / sets;
  return rounds * sets <= most ? rounds * sets : (rounds - 1) * sets;
}

double run_until_steady(const std::function<double()>& interval, double cap_s, ClockSource& clock) {
  const double deadline_ns = clock.wall_ns() + cap_s * ns_per_s;
  double before_ns = batch_median_ns(interval);
  while (clock.wall_ns() < deadline_ns) {
    const double now_ns = batch_median_ns(interval);
    const bool agrees =
        std::abs(now_ns - before_ns) <= warm_agreement * std::max(now_ns, before_ns);
    before_ns = now_ns;
    if (agrees) break;
  }
  return before_ns;
}

double interval_ns(TimedStep& step, ClockSource& clock) {
  int set = 0;
  if (!step.arrange(set)) check(step.error(), "warm");
  const double begin_ns = clock.wall_ns();
  if (!step.execute()) check(step.error(), "warm");
  return clock.wall_ns() - begin_ns;
}

double warm_up(TimedStep& step, const StagedKernel& kernel, const protocol::SampleRequest& request,
               ClockSource& clock) {
  return kernel.is_collective() ? settle_collective(step, request, clock)
                                : settle(step, request.rule, kernel, clock);
}

}  // namespace halmark::worker
