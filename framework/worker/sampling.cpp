#include "worker/sampling.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/statistics.hpp"
#include "worker/request_failed.hpp"

namespace halmark::worker {
namespace {

constexpr double warm_agreement = 0.02;
constexpr double long_interval_ns = 10e6;

// Nanoseconds of one untimed interval; throws the plugin's error.
double interval_ns(TimedStep& step, ClockSource& clock) {
  int set = 0;
  if (!step.arrange(set)) check(step.error(), "warm");
  const double begin_ns = clock.wall_ns();
  if (!step.execute()) check(step.error(), "warm");
  return clock.wall_ns() - begin_ns;
}

// One long interval tells enough; of short ones the middle of three.
double batch_median_ns(TimedStep& step, ClockSource& clock) {
  std::array<double, 3> intervals{};
  intervals[0] = interval_ns(step, clock);
  if (intervals[0] >= long_interval_ns) return intervals[0];
  intervals[1] = interval_ns(step, clock);
  intervals[2] = interval_ns(step, clock);
  return median(intervals);
}

// Executions per sample. Beyond one round of the ring only whole rounds, so that every sample meets
// every set equally often; below, the start moves on and samples share the ring between them.
std::int64_t repeat_for(const TimedStep& step, double execution_ns, double min_sample_ns,
                        int sets) {
  if (execution_ns >= min_sample_ns) return 1;
  const auto most = step.repeat_max();
  const double wanted = std::ceil(min_sample_ns / std::max(execution_ns, 1.0));
  const auto repeat = static_cast<std::int64_t>(std::min(wanted, static_cast<double>(most)));
  if (repeat <= sets) return repeat;
  const std::int64_t rounds = (repeat + sets - 1) / sets;
  return rounds * sets <= most ? rounds * sets : (rounds - 1) * sets;
}

// A first idea of the time of one execution: intervals that grow until one is long enough.
double pilot_ns(TimedStep& step, double min_sample_ns, ClockSource& clock) {
  for (std::int64_t repeat = 1;; repeat *= 4) {
    step.set_repeat(repeat);
    const double elapsed_ns = interval_ns(step, clock);
    if (elapsed_ns >= min_sample_ns / 4 || 4 * repeat > step.repeat_max()) {
      return elapsed_ns / static_cast<double>(repeat);
    }
  }
}

// Until two consecutive batch medians agree, or the cap. Gives the last interval.
double warm_up(TimedStep& step, double cap_s, ClockSource& clock) {
  const double deadline_ns = clock.wall_ns() + cap_s * 1e9;
  double before_ns = batch_median_ns(step, clock);
  while (clock.wall_ns() < deadline_ns) {
    const double now_ns = batch_median_ns(step, clock);
    const bool agrees =
        std::abs(now_ns - before_ns) <= warm_agreement * std::max(now_ns, before_ns);
    before_ns = now_ns;
    if (agrees) break;
  }
  return before_ns;
}

// What the ranks pay once per sample, behind the barrier: their skew, and a library that was not
// called for a while. About 5 us with Open MPI 4.1 in shared memory; 1 % of so long a sample.
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
    step.set_repeat(repeat_for(step, warm_ns / static_cast<double>(repeat),
                               std::max(request.rule.min_sample_ns, collective_sample_ns), 1));
  }
  return warm_ns;
}

// Leaves the step with the repeat to sample with; gives the expected length of one interval.
double settle(TimedStep& step, const protocol::SampleRule& rule, const StagedKernel& kernel,
              ClockSource& clock) {
  if (rule.repeat > 0) {
    step.set_repeat(rule.repeat);
    return rule.warmup_cap_s > 0 ? warm_up(step, rule.warmup_cap_s, clock) : 0;
  }
  // The first call has warmed a slow kernel: more of them would take longer than sampling it.
  const double first_call_ns = kernel.staged().one_time.first_ns;
  if (first_call_ns >= slow_call_ns) {
    step.set_repeat(1);
    return first_call_ns >= rule.warmup_cap_s * 1e9 ? first_call_ns : interval_ns(step, clock);
  }
  const double first_ns = pilot_ns(step, rule.min_sample_ns, clock);
  step.set_repeat(repeat_for(step, first_ns, rule.min_sample_ns, kernel.sets()));
  const double warm_ns = warm_up(step, rule.warmup_cap_s, clock);
  const double execution_ns = warm_ns / static_cast<double>(step.repeat());
  step.set_repeat(repeat_for(step, execution_ns, rule.min_sample_ns, kernel.sets()));
  return execution_ns * static_cast<double>(step.repeat());
}

SamplePlan plan_of(const protocol::SampleRequest& request, const StagedKernel& kernel,
                   double expected_ns, double deadline_ns) {
  SamplePlan plan{.name = kernel.staged().kernel + "/" + std::to_string(request.id),
                  .expected_sample_ns = expected_ns,
                  .deadline_ns = deadline_ns,
                  .first_block = min_samples_for(request.rule, expected_ns),
                  .max_samples = std::max<std::int64_t>(1, request.rule.max_samples)};
  if (request.rule.stop == "count") {
    plan.first_block = std::max<std::int64_t>(1, request.rule.count);
    plan.max_samples = std::max(plan.max_samples, plan.first_block);
  }
  return plan;
}

std::vector<double> pack(const SampleSeries& series, std::int64_t repeat) {
  const auto executions = static_cast<double>(repeat);
  std::vector<double> block;
  block.reserve(series.samples.size() * 5);
  for (const TimedSample& sample : series.samples) {
    for (const double value :
         {sample.begin_ns, sample.wall_ns / executions, sample.cpu_ns / executions,
          sample.device_ns / executions, static_cast<double>(sample.set)}) {
      block.push_back(value);
    }
  }
  return block;
}

struct Slope {
  double wall_ns = 0;
  std::optional<double> device_ns;
};

// The shortest of five intervals of `repeat` executions, by both clocks.
Slope shortest(TimedStep& step, std::int64_t repeat, ClockSource& clock) {
  step.set_repeat(repeat);
  Slope best;
  for (int i = 0; i < 5; ++i) {
    const double whole_ns = interval_ns(step, clock);
    const double wall_ns = whole_ns - step.launch_ns();
    const double device_ns = step.device_ns();
    if (i == 0 || wall_ns < best.wall_ns) best.wall_ns = wall_ns;
    if (std::isfinite(device_ns)) {
      best.device_ns = std::min(best.device_ns.value_or(device_ns), device_ns);
    }
  }
  return best;
}

// (W(2r) - W(r)) / r is free of launch and wait latency: the host's truth about a device's clock.
// W of a held stream begins when it is released, or each execution would carry its launch.
void add_slopes(TimedStep& step, ClockSource& clock, std::vector<Signal>& signals) {
  const std::int64_t repeat = step.repeat();
  const Slope once = shortest(step, repeat, clock);
  const Slope twice = shortest(step, 2 * repeat, clock);
  const auto per_execution = [&](double longer, double shorter) {
    return (longer - shorter) / static_cast<double>(repeat);
  };
  signals.push_back({"slope_wall_ns", per_execution(twice.wall_ns, once.wall_ns), {}});
  if (once.device_ns && twice.device_ns) {
    signals.push_back({"slope_device_ns", per_execution(*twice.device_ns, *once.device_ns), {}});
  } else {
    signals.push_back({"slope_device_ns", std::nullopt, "the device keeps no time"});
  }
  step.set_repeat(repeat);
}

}  // namespace

SampleResult sample(DeviceContext& context, StagedKernel& kernel,
                    const protocol::SampleRequest& request, CommonStart start,
                    MachineProbes& probes, const ReportPhase& report) {
  if (kernel.is_collective() && !request.pilot_only && request.rule.stop != "count") {
    throw RequestFailed(HM_INVALID_ARGUMENT, "warm",
                        "ranks of a collective must agree on n: sample it by count");
  }
  const double deadline_ns = context.clock.wall_ns() + request.wall_cap_s * 1e9;
  const bool is_busy = context.device.description().synchronous;
  std::unique_ptr<StopRule> rule = make_stop_rule(request.rule);
  std::unique_ptr<TimedStep> step = make_timed_step(context, kernel, 1);
  SampleResult answer;
  protocol::Measured& measured = answer.measured;
  measured.id = request.id;

  report("warm");
  const double expected_ns = kernel.is_collective()
                                 ? settle_collective(*step, request, context.clock)
                                 : settle(*step, request.rule, kernel, context.clock);
  measured.repeat = step->repeat();
  measured.environment = probes.environment();
  if (request.pilot_only) {
    measured.stop_rule = "pilot";
    return answer;
  }

  report("sample");
  // After the warm-up: wide vector units lower the clock for a while, so a probe in front of the
  // first call would differ from the one behind the last on a machine that nothing disturbed.
  probes.read(kernel.work().compute_dtype, measured.clock_hz_before, measured.peak_before);
  kernel.poison_outputs();
  step->start_together(start);
  probes.interference().begin();
  const SampleSeries series =
      take_samples(plan_of(request, kernel, expected_ns, deadline_ns), *step, *rule, context.clock);
  const auto count = static_cast<std::int64_t>(series.samples.size());
  measured.signals = probes.interference().end(count, is_busy);
  // A shard that leaves early must not keep the others waiting.
  if (series.is_failed || series.stop_rule == "deadline") start.abort();
  check(step->error(), "sample");
  if (!series.book_error.empty()) {
    throw RequestFailed(HM_INTERNAL, "sample", series.book_error);
  }
  measured.stop_rule = step->lost_the_others() ? "aborted" : series.stop_rule;
  measured.samples = count;
  step->start_together({});
  if (!is_busy && !kernel.is_collective()) add_slopes(*step, context.clock, measured.signals);
  probes.read(kernel.work().compute_dtype, measured.clock_hz_after, measured.peak_after);
  answer.block = pack(series, measured.repeat);
  return answer;
}

}  // namespace halmark::worker
