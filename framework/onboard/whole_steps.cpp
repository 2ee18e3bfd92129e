#include "onboard/whole_steps.hpp"

#include "core/text/error.hpp"
#include "tune/evaluate/step/placed_latencies.hpp"
#include "tune/plan/composers.hpp"
#include "tune/validate/run_configuration.hpp"

namespace halmark::onboard {
namespace {

constexpr double stack_s = 2;  // of the turns of the whole stack and its kernels

tune::LatencyChoice usual() {
  tune::LatencyChoice out;
  out.sources = tune::default_sources();
  return out;
}

}  // namespace

WholeSteps::WholeSteps(const Setting& setting, const Device& device,
                       const tune::KernelMeasuring& measuring)
    : setting_(setting),
      measuring_(measuring),
      device_(device),
      latencies_(tune::priced_latencies(usual(), device_, setting.devices, {})) {}

Validation WholeSteps::executed(const HeldStep& step) const {
  Validation out;
  out.deployment_key = step.configuration.key();
  out.status = Status::cancelled;
  try {
    const ModelSpec spec = load_model(step.model, setting_.models);
    const auto outcome =
        tune::run_configuration(spec, step.configuration, setting_.target, measuring_, stack_s);
    if (outcome.validation) return *outcome.validation;
    out.reason = outcome.evaluation.reason;
  } catch (const Error& e) {  // of this model: the others go on
    out.reason = e.what();
  }
  if (out.reason.empty()) out.reason = "it was not executed";
  return out;
}

std::optional<StepError> WholeSteps::error_of(const HeldStep& step, const Validation& run) const {
  if (!run.has_time()) return std::nullopt;
  const ModelSpec spec = load_model(step.model, setting_.models);
  tune::Composers composers(spec, setting_.target, false);
  const auto& entry = composers.of(step.configuration);
  if (!entry.composer) return std::nullopt;
  const Evaluation evaluation =
      entry.composer->compose(tune::modelled_lookup(latencies_.chain, entry.composer->graph()));
  if (!evaluation.estimate) return std::nullopt;
  return StepError{.model = step.model,
                   .phase = std::string(phase_name(step.configuration.workload.phase)),
                   .deployment = step.configuration.key(),
                   .measured_ns = run.measured_ns,
                   .ns = evaluation.estimate->step_ns,
                   .low_ns = evaluation.estimate->low_ns,
                   .high_ns = evaluation.estimate->high_ns};
}

}  // namespace halmark::onboard
