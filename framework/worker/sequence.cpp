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

// One repetition; times[i] is when step i ended. No allocation, one clock read per step.
PluginError run_once(const std::vector<Step>& steps, ClockSource& clock,
                     std::vector<double>& times) noexcept {
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const Step& step = steps[i];
    PluginError error = step.buffers.empty() ? step.kernel->run(step.set, 1)
                                             : step.kernel->run_on(step.set, step.arguments);
    if (!error.ok()) return error;
    times[i] = clock.wall_ns();
  }
  return {};
}

void append_durations(double begin_ns, const std::vector<double>& times,
                      std::vector<double>& block) {
  double before_ns = begin_ns;
  for (const double time_ns : times) {
    block.push_back(time_ns - before_ns);
    before_ns = time_ns;
  }
  block.push_back(before_ns - begin_ns);
}

}  // namespace

SequenceResult run_sequence(DeviceContext& context, StagedKernels& staged,
                            const protocol::SequenceRequest& request, CommonStart start,
                            MachineProbes& probes, const ReportPhase& report) {
  std::vector<Step> steps = resolve(staged, request);
  if (request.chains_activations) chain(steps);
  const double deadline_ns = context.clock.wall_ns() + request.wall_cap_s * ns_per_s;
  std::vector<double> times(steps.size());
  SequenceResult answer;
  protocol::Measured& measured = answer.measured;
  measured.stop_rule = protocol::StopReason::count;
  measured.environment = probes.environment();
  const auto fail = [&](const PluginError& error, const char* phase) {
    if (error.ok()) return;
    start.abort();
    check(error, phase);
  };

  report("warm");
  for (std::int64_t i = 0; i < request.warmup; ++i) {
    fail(run_once(steps, context.clock, times), "warm");
  }

  report("sample");
  const auto repetitions = std::max<std::int64_t>(0, request.repeat);
  answer.block.reserve(static_cast<std::size_t>(repetitions) * (steps.size() + 1));
  probes.interference().begin();
  for (std::int64_t i = 0; i < repetitions; ++i) {
    if (!start.wait()) {
      measured.stop_rule = protocol::StopReason::aborted;
      break;
    }
    const double begin_ns = context.clock.wall_ns();
    fail(run_once(steps, context.clock, times), "sample");
    append_durations(begin_ns, times, answer.block);
    ++measured.samples;
    if (context.clock.wall_ns() >= deadline_ns && i + 1 < repetitions) {
      measured.stop_rule = protocol::StopReason::deadline;
      start.abort();
      break;
    }
  }
  measured.signals =
      probes.interference().end(measured.samples, context.device.description().synchronous);
  return answer;
}

}  // namespace halmark::worker
