#include "worker/sequence.hpp"

#include <algorithm>

#include "core/text/units.hpp"
#include "worker/request_failed.hpp"

namespace halmark::worker {
namespace {

struct Step {
  StagedKernel* kernel;
  int set;
  std::vector<hm_buffer*> buffers;  // of a chained step; empty = the set's own
  hm_arguments arguments{};
};

// The latest outputs of earlier steps, newest last; a few are enough to find both summands of a
// residual.
constexpr std::size_t remembered_outputs = 16;

void chain(std::vector<Step>& steps) {
  std::vector<Activation> written;
  for (Step& step : steps) {
    step.buffers = step.kernel->ring().handles(step.set);
    for (const auto& input : step.kernel->ring().replaceable_inputs(step.set)) {
      const auto match = std::find_if(written.rbegin(), written.rend(), [&](const auto& output) {
        const bool is_own = std::ranges::find(step.buffers, output.handle) != step.buffers.end();
        return !is_own && output.dtype == input.dtype && output.bytes == input.bytes;
      });
      if (match != written.rend()) step.buffers[input.operand] = match->handle;
    }
    step.arguments = {step.buffers.data(), nullptr, static_cast<std::uint32_t>(step.buffers.size()),
                      0};
    const auto outputs = step.kernel->ring().outputs_of(step.set);
    written.insert(written.end(), outputs.begin(), outputs.end());
    if (written.size() > remembered_outputs) {
      written.erase(written.begin(), written.end() - remembered_outputs);
    }
  }
}

std::vector<Step> resolve(StagedKernels& staged, const protocol::SequenceRequest& request) {
  std::vector<Step> steps;
  steps.reserve(request.steps.size());
  for (const protocol::SequenceStep& step : request.steps) {
    const auto found = staged.find(step.id);
    if (found == staged.end()) {
      throw RequestFailed(HM_INVALID_ARGUMENT, "sample",
                          "nothing is staged as " + std::to_string(step.id));
    }
    if (step.set < 0 || step.set >= found->second->sets()) {
      throw RequestFailed(HM_INVALID_ARGUMENT, "sample",
                          "set " + std::to_string(step.set) + " of " +
                              std::to_string(found->second->sets()) + " staged as " +
                              std::to_string(step.id));
    }
    steps.push_back({.kernel = found->second.get(), .set = step.set});
  }
  return steps;
}

// The whole stack as one sample: each repetition starts together with the other ranks.
class SequenceStep : public SampleStep {
 public:
  SequenceStep(const std::vector<Step>& steps, ClockSource& clock, CommonStart start)
      : steps_(steps), clock_(clock), start_(start), times_(steps.size()) {}

  bool arrange(int& set) override {
    set = 0;
    lost_the_others_ = !start_.wait();
    return !lost_the_others_;
  }
  // No allocation, one clock read per step.
  bool execute() override {
    begin_ns_ = clock_.wall_ns();
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      const Step& step = steps_[i];
      error_ = step.buffers.empty() ? step.kernel->run(step.set, 1)
                                    : step.kernel->run_on(step.set, step.arguments);
      if (!error_.ok()) return false;
      times_[i] = clock_.wall_ns();
    }
    return true;
  }
  // Asked once behind each interval: the place to write the durations down.
  std::optional<double> device_ns() override {
    double before_ns = begin_ns_;
    for (const double time_ns : times_) {
      block_.push_back(time_ns - before_ns);
      before_ns = time_ns;
    }
    block_.push_back(before_ns - begin_ns_);
    return std::nullopt;
  }

  void reserve(std::int64_t repetitions) {
    block_.reserve(static_cast<std::size_t>(repetitions) * (steps_.size() + 1));
  }
  std::vector<double> block() { return std::move(block_); }
  const PluginError& error() const { return error_; }
  bool lost_the_others() const { return lost_the_others_; }

 private:
  const std::vector<Step>& steps_;
  ClockSource& clock_;
  CommonStart start_;
  double begin_ns_ = 0;
  std::vector<double> times_;  // when each step ended
  std::vector<double> block_;
  PluginError error_;
  bool lost_the_others_ = false;
};

}  // namespace

SequenceResult run_sequence(DeviceContext& context, StagedKernels& staged,
                            const protocol::SequenceRequest& request, CommonStart start,
                            MachineProbes& probes, const ReportPhase& report) {
  std::vector<Step> steps = resolve(staged, request);
  if (request.chains_activations) chain(steps);
  const double deadline_ns = context.clock.wall_ns() + request.wall_cap_s * ns_per_s;
  SequenceStep step(steps, context.clock, start);
  SequenceResult answer;
  protocol::Measured& measured = answer.measured;
  measured.stop_rule = protocol::StopReason::count;
  measured.environment = probes.environment();
  const auto fail = [&](const char* phase) {
    if (step.error().ok()) return;
    start.abort();
    check(step.error(), phase);
  };

  report("warm");
  for (std::int64_t i = 0; i < request.warmup; ++i) {
    step.execute();
    fail("warm");
  }

  report("sample");
  if (request.repeat > 0) {
    step.reserve(request.repeat);
    const auto rule = make_count(request.repeat);
    probes.interference().begin();
    const SampleSeries series = take_samples({.name = "sequence",
                                              .deadline_ns = deadline_ns,
                                              .first_block = request.repeat,
                                              .max_samples = request.repeat},
                                             step, *rule, context.clock);
    measured.samples = static_cast<std::int64_t>(series.samples.size());
    measured.signals =
        probes.interference().end(measured.samples, context.device.description().synchronous);
    fail("sample");
    measured.stop_rule = step.lost_the_others() ? protocol::StopReason::aborted : series.stop_rule;
    if (series.stop_rule == protocol::StopReason::deadline) start.abort();
    if (!series.book_error.empty()) {
      throw RequestFailed(HM_INTERNAL, "sample", series.book_error);
    }
  }
  answer.block = step.block();
  return answer;
}

}  // namespace halmark::worker
