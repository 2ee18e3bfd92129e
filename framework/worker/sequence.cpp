#include "worker/sequence.hpp"

#include <algorithm>
#include <utility>

#include "core/lists.hpp"
#include "core/text/units.hpp"
#include "worker/device_state.hpp"
#include "worker/request_failed.hpp"

namespace halmark::worker {
namespace {

struct Step {
  StagedKernel* kernel;
  int set;
  int advance;
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
        const bool is_own = contains(step.buffers, output.handle);
        return !is_own && output.dtype == input.dtype && output.bytes == input.bytes;
      });
      if (match != written.rend()) step.buffers[input.operand] = match->handle;
    }
    step.arguments = {step.buffers.data(), nullptr, as_uint32(step.buffers.size()), 0};
    const auto outputs = step.kernel->ring().outputs_of(step.set);
    append_all(written, outputs);
    if (written.size() > remembered_outputs) {
      written.erase(written.begin(), written.end() - remembered_outputs);
    }
  }
}

std::vector<Step> resolve(StagedKernels& staged, const protocol::SequenceRequest& request) {
  std::vector<Step> steps;
  steps.reserve(request.steps.size());
  for (const protocol::SequenceStep& step : request.steps) {
    const auto* found = find_value(staged, step.id);
    if (!found) {
      throw RequestFailed(HM_INVALID_ARGUMENT, "sample",
                          "nothing is staged as " + std::to_string(step.id));
    }
    if (step.set < 0 || step.set >= (*found)->sets()) {
      throw RequestFailed(HM_INVALID_ARGUMENT, "sample",
                          "set " + std::to_string(step.set) + " of " +
                              std::to_string((*found)->sets()) + " staged as " +
                              std::to_string(step.id));
    }
    steps.push_back(
        {.kernel = found->get(), .set = step.set, .advance = std::max(0, step.advance)});
  }
  return steps;
}

// The whole stack as one sample: each repetition starts together with the other ranks. Its steps
// are samples of their own, in chunks as those of a loop are.
class SequenceStep : public SampleStep {
 public:
  SequenceStep(std::vector<Step>& steps, bool is_chained, ClockSource& clock)
      : steps_(steps), is_chained_(is_chained), clock_(clock) {
    if (is_chained_) chain(steps_);
  }

  bool arrange(int& set) override {
    set = 0;
    rotate();
    lost_the_others_ = !start_.wait();
    return !lost_the_others_;
  }
  // No allocation; one clock read per step, two where a chunk ends.
  bool execute() override {
    if (labels_) labels_->begin_block();
    TimedSample sample;
    sample.begin_ns = clock_.wall_ns();
    for (const Step& step : steps_) {
      error_ = step.buffers.empty() ? step.kernel->run(step.set, 1)
                                    : step.kernel->run_on(step.set, step.arguments);
      if (!error_.ok()) return false;
      const double end_ns = clock_.wall_ns();
      sample.wall_ns = end_ns - sample.begin_ns;
      sample.set = step.set;
      sample.begin_ns = keep(sample) ? clock_.wall_ns() : end_ns;
    }
    if (labels_) labels_->end_block();
    return true;
  }

  void start_together(CommonStart start) { start_ = start; }
  void record(DisturbanceCounters& counters, const ChunkRule& rule, std::int64_t repetitions) {
    taken_.reserve(as_size(repetitions) * steps_.size());
    labels_.emplace(&counters, rule, taken_);
  }
  std::vector<TimedSample> taken() { return std::move(taken_); }
  std::optional<CounterReading> clean() const { return labels_->clean(); }
  const PluginError& error() const { return error_; }
  bool lost_the_others() const { return lost_the_others_; }

 private:
  // True when the counters were read.
  bool keep(const TimedSample& sample) {
    if (!labels_) return false;
    taken_.push_back(sample);
    return labels_->add_newest();
  }

  // Outside the interval: which buffers a step reads depends on its set.
  void rotate() {
    if (std::ranges::all_of(steps_, [](const Step& s) { return s.advance == 0; })) return;
    if (std::exchange(is_first_, false)) return;
    for (Step& step : steps_) step.set = (step.set + step.advance) % step.kernel->sets();
    if (is_chained_) chain(steps_);
  }

  std::vector<Step>& steps_;
  bool is_chained_;
  ClockSource& clock_;
  CommonStart start_;
  bool is_first_ = true;
  std::vector<TimedSample> taken_;
  std::optional<ChunkLabels> labels_;  // nothing while it warms up
  PluginError error_;
  bool lost_the_others_ = false;
};

// The type in which most is computed: its peak is probed around the repetitions.
Dtype main_dtype(const std::vector<Step>& steps) {
  const auto flops = [](const Step& step) { return step.kernel->work().matmul_flops; };
  const auto most = std::ranges::max_element(steps, {}, flops);
  return most == steps.end() ? Dtype::f32 : most->kernel->work().compute_dtype;
}

class Sequence {
 public:
  Sequence(DeviceContext& context, StagedKernels& staged, const protocol::SequenceRequest& request,
           CommonStart start, MachineProbes& probes)
      : context_(context),
        request_(request),
        start_(start),
        probes_(probes),
        steps_(resolve(staged, request)),
        step_(steps_, request.chains_activations, context.clock),
        deadline_ns_(context.clock.wall_ns() + request.wall_cap_s * ns_per_s) {
    measured_.stop_rule = protocol::StopReason::count;
    measured_.environment = probes.environment();
  }

  void warm_up() {
    int set = 0;
    for (std::int64_t i = 0; i < request_.warmup; ++i) {
      step_.arrange(set);
      step_.execute();
      fail_with("warm");
    }
  }

  void sample() {
    const Dtype dtype = main_dtype(steps_);
    const MachineReading before = probes_.read_state(dtype);
    DeviceState state(context_.device);
    state.begin();
    step_.start_together(start_);
    Interference& interference = probes_.interference();
    interference.begin();
    step_.record(interference.counters(), chunk_rule(), request_.repeat);
    const auto rule = make_count(request_.repeat);
    const SampleSeries series = take_samples({.name = "sequence",
                                              .deadline_ns = deadline_ns_,
                                              .first_block = request_.repeat,
                                              .max_samples = request_.repeat},
                                             step_, *rule, context_.clock);
    measured_.samples = std::ssize(series.samples);
    measured_.signals = interference.end(step_.clean(), is_synchronous());
    state.end(as_double(measured_.samples), busy_ns(series), measured_.signals);
    fail_with("sample");
    measured_.stop_rule =
        step_.lost_the_others() ? protocol::StopReason::aborted : series.stop_rule;
    if (series.stop_rule == protocol::StopReason::deadline) start_.abort();
    if (!series.totals_mismatch.empty()) {
      throw RequestFailed(HM_INTERNAL, "sample", series.totals_mismatch);
    }
    const MachineReading after = probes_.read_state(dtype);
    measured_.clock_hz = {before.clock_hz, after.clock_hz};
    measured_.peak_flops = {before.peak_flops, after.peak_flops};
  }

  SequenceResult result() { return {step_.taken(), std::move(measured_)}; }

 private:
  bool is_synchronous() const { return context_.device.description().synchronous; }

  static double busy_ns(const SampleSeries& series) {
    double out = 0;
    for (const TimedSample& sample : series.samples) out += sample.wall_ns;
    return out;
  }

  // Threads that wait for another rank are off their CPU by themselves.
  ChunkRule chunk_rule() const {
    const bool meets_others =
        std::ranges::any_of(steps_, [](const Step& step) { return step.kernel->is_collective(); });
    return probes_.chunk_rule(request_.disturbed_share, is_synchronous() && !meets_others);
  }

  void fail_with(const char* phase) {
    if (step_.error().ok()) return;
    start_.abort();
    check(step_.error(), phase);
  }

  DeviceContext& context_;
  const protocol::SequenceRequest& request_;
  CommonStart start_;
  MachineProbes& probes_;
  std::vector<Step> steps_;
  SequenceStep step_;
  double deadline_ns_;
  protocol::Measured measured_;
};

}  // namespace

SequenceResult run_sequence(DeviceContext& context, StagedKernels& staged,
                            const protocol::SequenceRequest& request, CommonStart start,
                            MachineProbes& probes, const ReportPhase& report) {
  Sequence sequence(context, staged, request, start, probes);
  report("warm");
  sequence.warm_up();
  report("sample");
  if (request.repeat > 0) sequence.sample();
  return sequence.result();
}

}  // namespace halmark::worker
