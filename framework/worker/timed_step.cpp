// Who keeps the time decides what an interval holds: the host's clock includes launch and wait,
// events of the device do not, so a device that has events is never timed by the host.
#include "worker/timed_step.hpp"

#include "worker/request_failed.hpp"

namespace halmark::worker {
namespace {

class HostClockStep : public TimedStep {
 public:
  using TimedStep::TimedStep;
  bool execute() override { return keep(kernel_.run(current_set_, repeat_)); }
};

// hold, record, enqueue, record, unhold, wait: launch latency stays out of the events' interval. A
// kernel that waits inside enqueue would wait for itself, so there the stream is not held; neither
// is one that queues more launches than a device is sure to take (CUDA's queues block at about a
// thousand): that would wait for the hold to time out.
class DeviceEventStep : public TimedStep {
 public:
  DeviceEventStep(DeviceContext& context, StagedKernel& kernel, std::int64_t repeat)
      : TimedStep(context, kernel, repeat),
        begin_(take(context.device.create_event(), "warm")),
        end_(take(context.device.create_event(), "warm")),
        holds_(context.stream.can_hold() && !kernel.syncs_inside()) {}

  bool execute() override {
    DeviceStream& stream = context_.stream;
    const bool is_held = holds_ && repeat_ <= held_executions_max;
    const double begin_ns = context_.clock.wall_ns();
    if (is_held && !keep(stream.hold(hold_timeout_ns))) return false;
    const bool queued = keep(stream.record(begin_)) &&
                        keep(kernel_.enqueue(current_set_, repeat_)) && keep(stream.record(end_));
    launch_ns_ = is_held ? context_.clock.wall_ns() - begin_ns : 0;
    // Released even after a failure: a held stream never ends its wait.
    if (is_held && !keep(stream.unhold())) return false;
    return keep(stream.wait()) && queued;
  }

  double launch_ns() const override { return launch_ns_; }
  // Twice as many are still held, which the slope check needs.
  std::int64_t repeat_max() const override {
    return holds_ ? held_executions_max / 2 : TimedStep::repeat_max();
  }

  std::optional<double> device_ns() override {
    PluginResult<double> elapsed = context_.stream.elapsed_ns(begin_, end_);
    if (!elapsed.value) keep(std::move(elapsed.failure));
    return elapsed.value;
  }

 private:
  static constexpr std::uint64_t hold_timeout_ns = 2'000'000'000;
  static constexpr std::int64_t held_executions_max = 256;
  DeviceEvent begin_, end_;
  bool holds_;
  double launch_ns_ = 0;
};

}  // namespace

bool TimedStep::arrange(int& set) {
  if (between_ && has_sample_ && !keep(between_->act(current_set_, repeat_, next_set_))) {
    return false;
  }
  has_sample_ = true;
  set = current_set_ = next_set_;
  next_set_ = static_cast<int>((next_set_ + repeat_) % kernel_.sets());
  if (between_ && !keep(between_->prepare(current_set_, repeat_))) return false;
  kernel_.ring().mark_outputs(current_set_, repeat_);
  if (kernel_.mode() == CacheMode::flush) {
    // Waited for: what is left of it would be inside the host's interval.
    if (!keep(context_.stream.flush()) || !keep(context_.stream.wait())) return false;
  }
  if (start_.wait()) return true;
  lost_the_others_ = true;
  return false;
}

std::unique_ptr<TimedStep> make_timed_step(DeviceContext& context, StagedKernel& kernel,
                                           std::int64_t repeat) {
  if (context.device.description().timer == protocol::Timer::device_event) {
    return std::make_unique<DeviceEventStep>(context, kernel, repeat);
  }
  return std::make_unique<HostClockStep>(context, kernel, repeat);
}

}  // namespace halmark::worker
