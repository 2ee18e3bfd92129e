// One sampling of one staged kernel as a fixed order of steps. The order is the method: the machine
// is probed after the warm-up and again after the loop, outputs are poisoned between warm-up and
// loop, and the slope check comes last because it changes the repeat.
#include "worker/sampling.hpp"

#include <algorithm>

#include "core/numeric/cast.hpp"
#include "core/numeric/statistics.hpp"
#include "core/text/units.hpp"
#include "worker/checks/loop_checks.hpp"
#include "worker/device_state.hpp"
#include "worker/request_failed.hpp"
#include "worker/slopes.hpp"
#include "worker/warm_up.hpp"

namespace halmark::worker {
namespace {

using protocol::Stop;
using protocol::StopReason;

class Sampling {
 public:
  Sampling(DeviceContext& context, StagedKernel& kernel, const protocol::SampleRequest& request,
           CommonStart start, MachineProbes& probes, const ReportPhase& report)
      : context_(context),
        kernel_(kernel),
        request_(request),
        start_(start),
        probes_(probes),
        report_(report) {}

  SampleResult run() {
    check_request();
    prepare();
    warm_up();
    if (request_.pilot_only) return pilot_result();
    sample();
    return summarise();
  }

 private:
  void check_request() const;
  void prepare();
  void warm_up();
  void sample();
  SampleResult pilot_result();
  SampleResult summarise();
  void check_more();
  std::optional<double> looped_ns() const;

  SamplePlan plan() const;
  // A device that keeps its own time is never taken at its word. Ranks of a collective all execute
  // as often, in the one request that looks behind the loop.
  bool has_slopes() const {
    if (request_.checks_only) return false;
    if (!kernel_.is_collective()) return keeps_device_time() || !is_synchronous();
    return keeps_device_time() && request_.checks && request_.checks->behind_loop;
  }
  MachineReading probe() {
    return request_.checks_only ? MachineReading{} : probes_.read(kernel_.work().compute_dtype);
  }
  // This thread computes itself; on other devices it sleeps until the device has finished.
  bool is_synchronous() const { return context_.device.description().synchronous; }

  bool keeps_device_time() const {
    return context_.device.description().timer == protocol::Timer::device_event;
  }

  DeviceContext& context_;
  StagedKernel& kernel_;
  const protocol::SampleRequest& request_;
  CommonStart start_;
  MachineProbes& probes_;
  const ReportPhase& report_;

  double begin_ns_ = 0, deadline_ns_ = 0;
  std::unique_ptr<StopRule> rule_;
  std::unique_ptr<TimedStep> step_;
  std::unique_ptr<LoopChecks> checks_;  // where the request asks for them
  double expected_ns_ = 0;              // of one interval
  SampleSeries series_;
  protocol::Measured measured_;
};

void Sampling::check_request() const {
  if (kernel_.is_collective() && !request_.pilot_only && request_.rule.stop != Stop::count) {
    throw RequestFailed(HM_INVALID_ARGUMENT, "warm",
                        "ranks of a collective must agree on n: sample it by count");
  }
}

void Sampling::prepare() {
  begin_ns_ = context_.clock.wall_ns();
  deadline_ns_ = begin_ns_ + request_.wall_cap_s * ns_per_s;
  rule_ = make_stop_rule(request_.rule);
  step_ = make_timed_step(context_, kernel_, 1);
  measured_.id = request_.id;
  measured_.environment = probes_.environment();
}

void Sampling::warm_up() {
  report_("warm");
  expected_ns_ = worker::warm_up(*step_, kernel_, request_, context_.clock);
  measured_.repeat = step_->repeat();
}

// Probes after the warm-up: wide vector units lower the clock for a while, so a probe in front of
// the first call would differ from the one behind the last on a machine that nothing disturbed.
void Sampling::sample() {
  report_("sample");
  const MachineReading before = probe();
  measured_.clock_hz.before = before.clock_hz;
  measured_.peak_flops.before = before.peak_flops;
  kernel_.ring().poison_outputs();
  if (request_.checks) {
    checks_ = std::make_unique<LoopChecks>(context_, kernel_, *request_.checks, expected_ns_);
    step_->act_between(checks_.get());
  }
  DeviceState state(context_.device);
  state.begin();
  step_->start_together(start_);
  probes_.interference().begin();
  series_ = take_samples(plan(), *step_, *rule_, context_.clock);
  measured_.samples = std::ssize(series_.samples);
  measured_.signals = probes_.interference().end(series_.clean, is_synchronous());
  double busy_ns = checks_ ? checks_->executing_ns() : 0;
  for (const TimedSample& sample : series_.samples) {
    busy_ns += sample.device_ns.value_or(sample.wall_ns);
  }
  const std::int64_t executions =
      measured_.samples * measured_.repeat + (checks_ ? checks_->executions() : 0);
  state.end(as_double(executions), busy_ns, measured_.signals);
  // A shard that leaves early must not keep the others waiting.
  if (series_.is_failed || series_.stop_rule == StopReason::deadline) start_.abort();
  check(step_->error(), "sample");
  if (!series_.totals_mismatch.empty()) {
    throw RequestFailed(HM_INTERNAL, "sample", series_.totals_mismatch);
  }
}

SampleResult Sampling::pilot_result() {
  measured_.stop_rule = StopReason::pilot;
  return {.measured = std::move(measured_)};
}

// One execution in the loop by the device's clock; nothing without such a clock.
std::optional<double> Sampling::looped_ns() const {
  const std::vector<Sample> all(series_.samples.begin(), series_.samples.end());
  std::vector<double> device_ns;
  for (const Sample& sample : counted_samples(all)) {
    if (sample.device_ns) device_ns.push_back(*sample.device_ns);
  }
  if (device_ns.empty()) return std::nullopt;
  return median(device_ns) / as_double(step_->repeat());
}

SampleResult Sampling::summarise() {
  measured_.stop_rule = step_->lost_the_others() ? StopReason::aborted : series_.stop_rule;
  step_->start_together({});
  step_->act_between(nullptr);
  if (checks_) checks_->end_loop(series_.samples, measured_.signals);
  if (has_slopes()) {
    add_slopes(*step_, context_.clock, looped_ns(), kernel_.is_collective(), measured_.signals);
  }
  if (checks_) check_more();
  const MachineReading after = probe();
  measured_.clock_hz.after = after.clock_hz;
  measured_.peak_flops.after = after.peak_flops;
  // The parent has a clock that nothing here can reach, and compares.
  measured_.signals.push_back({"request_ns", context_.clock.wall_ns() - begin_ns_, {}});
  for (TimedSample& sample : series_.samples) sample = per_execution(sample, measured_.repeat);
  return {.samples = std::move(series_.samples), .measured = std::move(measured_)};
}

void Sampling::check_more() {
  if (!request_.checks->behind_loop) return checks_->add_to(measured_);
  if (step_->repeat() > 1 && !kernel_.is_collective() && !keeps_device_time()) {
    add_repeat_shares(*step_, context_.clock, measured_.signals);
  }
  if (series_.stop_rule != StopReason::deadline) {
    checks_->check_after_wait(step_->repeat(), measured_.signals);
  }
  checks_->add_to(measured_);
}

SamplePlan Sampling::plan() const {
  SamplePlan plan{.name = kernel_.staged().kernel + "/" + std::to_string(request_.id),
                  .expected_sample_ns = expected_ns_,
                  .deadline_ns = deadline_ns_,
                  .first_block = min_samples_for(request_.rule, expected_ns_),
                  .max_samples = std::max<std::int64_t>(1, request_.rule.max_samples),
                  .counters = &probes_.interference().counters(),
                  .chunk = probes_.chunk_rule(request_.rule.disturbed_share,
                                              is_synchronous() && !kernel_.is_collective())};
  if (request_.rule.stop == Stop::count) {
    plan.first_block = std::max<std::int64_t>(1, request_.rule.count);
    plan.max_samples = std::max(plan.max_samples, plan.first_block);
  }
  return plan;
}

}  // namespace

SampleResult sample(DeviceContext& context, StagedKernel& kernel,
                    const protocol::SampleRequest& request, CommonStart start,
                    MachineProbes& probes, const ReportPhase& report) {
  return Sampling(context, kernel, request, start, probes, report).run();
}

}  // namespace halmark::worker
