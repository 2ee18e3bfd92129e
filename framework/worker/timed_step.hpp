// One sample of a staged kernel: rotate, start together, run. What is inside the interval depends
// on who keeps the time.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>

#include "host/process/start_barrier.hpp"
#include "measure/sampling/gbench.hpp"
#include "worker/staging/staged_kernel.hpp"

namespace halmark::worker {

// The common start of shards that are measured at the same time.
struct CommonStart {
  StartBarrier* barrier = nullptr;  // null: measured alone
  int parties = 1;
  std::chrono::nanoseconds timeout{0};
  // False when another shard gave up.
  bool wait() { return !barrier || barrier->arrive_and_spin(parties, timeout) == released; }
  void abort() {
    if (barrier) barrier->abort();
  }

 private:
  static constexpr BarrierOutcome released = BarrierOutcome::released;
};

// What happens between two samples, outside every interval.
class BetweenSamples {
 public:
  virtual ~BetweenSamples() = default;
  // The sample that just ended executed `repeat` times from `first_set` on. Executions of its own
  // begin at `next_set` and move it on.
  virtual PluginError act(int first_set, std::int64_t repeat, int& next_set) = 0;
  // The next sample executes `repeat` times from `first_set` on.
  virtual PluginError prepare(int /*first_set*/, std::int64_t /*repeat*/) { return {}; }
};

class TimedStep : public SampleStep {
 public:
  TimedStep(DeviceContext& context, StagedKernel& kernel, std::int64_t repeat)
      : context_(context), kernel_(kernel), repeat_(repeat) {}
  bool arrange(int& set) override;

  // Of the last interval, the part before the device was allowed to begin; 0 = began at once.
  virtual double launch_ns() const { return 0; }
  // More executions than this in one interval gain nothing, or cannot be queued.
  virtual std::int64_t repeat_max() const { return std::int64_t{1} << 20; }

  void set_repeat(std::int64_t repeat) { repeat_ = repeat; }
  std::int64_t repeat() const { return repeat_; }
  // Warm-up and pilot run without the barrier: shards may need different numbers of them.
  void start_together(CommonStart start) { start_ = start; }
  // From the next sample on, behind it; null: nothing happens.
  void act_between(BetweenSamples* between) {
    between_ = between;
    has_sample_ = false;
  }
  const PluginError& error() const { return error_; }
  bool lost_the_others() const { return lost_the_others_; }

 protected:
  bool keep(PluginError error) {
    if (!error.ok()) error_ = std::move(error);
    return error_.ok();
  }
  DeviceContext& context_;
  StagedKernel& kernel_;
  std::int64_t repeat_;
  int current_set_ = 0;

 private:
  int next_set_ = 0;
  CommonStart start_;
  BetweenSamples* between_ = nullptr;
  bool has_sample_ = false;
  PluginError error_;
  bool lost_the_others_ = false;
};

// Host clock around enqueue and wait, or events of the device, by the device's declared timer.
std::unique_ptr<TimedStep> make_timed_step(DeviceContext& context, StagedKernel& kernel,
                                           std::int64_t repeat);

}  // namespace halmark::worker
