#include "tune/search/run_configuration.hpp"

#include "core/text/error.hpp"
#include "latency/measured_source.hpp"
#include "measure/campaign/stack/stack_run.hpp"
#include "tune/search/validate.hpp"

namespace halmark::tune {

RunOutcome run_configuration(const ModelSpec& spec, const Configuration& configuration,
                             const Target& target, const KernelMeasuring& measuring,
                             double stack_s) {
  Composers composers(spec, target, true);
  const Composers::Entry& entry = composers.of(configuration);
  if (!entry.composer) throw refused(entry.refusal->reason + ": " + entry.refusal->text);
  MeasuredSource source(
      [&](std::span<const KernelCase> cases) { return measure_kernels(cases, measuring); },
      target.bounding());
  source.require(entry.composer->kernels());
  RunOutcome out{.evaluation = entry.composer->compose(source)};
  if (!out.evaluation.estimate || (measuring.is_interrupted && measuring.is_interrupted()))
    return out;
  const std::vector<Stack> stacks =
      build_stacks(entry.composer->graph(), target.placement(configuration.devices()));
  const StackRunResult whole =
      run_stacks(stacks, {.plugin_path = measuring.plugin_path, .seed = 1, .budget_s = stack_s});
  out.validation = confront(entry.composer->graph(), *out.evaluation.estimate, whole);
  return out;
}

}  // namespace halmark::tune
