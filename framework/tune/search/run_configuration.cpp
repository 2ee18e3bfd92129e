// The kernels are measured in other processes first, as a sweep does it: that is the prediction.
// The run and its kernels then take turns in one: that is the composition.
#include "tune/search/run_configuration.hpp"

#include "core/text/error.hpp"
#include "latency/measured_source.hpp"
#include "tune/search/validate.hpp"

namespace halmark::tune {
namespace {

constexpr double min_block_s = 0.01;

}  // namespace

void require_runnable(const ModelSpec& spec, const Configuration& configuration,
                      const Target& target) {
  Composers composers(spec, target, true);
  const Composers::Entry& entry = composers.of(configuration);
  if (!entry.composer) throw refused(entry.refusal->reason + ": " + entry.refusal->text);
}

RunOutcome run_configuration(const ModelSpec& spec, const Configuration& configuration,
                             const Target& target, const KernelMeasuring& measuring,
                             double stack_s) {
  Composers composers(spec, target, true);
  const Composers::Entry& entry = composers.of(configuration);
  if (!entry.composer) throw refused(entry.refusal->reason + ": " + entry.refusal->text);
  KernelMeasuring where_they_stand = measuring;
  where_they_stand.stacks_of = [&](const KernelCase& k) { return composers.stacks_of(k); };
  MeasuredSource source(
      [&](std::span<const KernelCase> cases) { return measure_kernels(cases, where_they_stand); },
      target.bounding());
  source.require(entry.composer->kernels());
  RunOutcome out{.evaluation = entry.composer->compose(source)};
  if (!out.evaluation.estimate || (measuring.is_interrupted && measuring.is_interrupted()))
    return out;
  const Estimate& printed = *out.evaluation.estimate;
  out.validation =
      run_and_confront(*entry.composer, target, source, printed,
                       {.plugin_path = measuring.plugin_path,
                        .block_s = std::max(stack_s / stack_turns, min_block_s),
                        .device = measuring.peaks ? &measuring.peaks->device() : nullptr,
                        .is_interrupted = measuring.is_interrupted});
  return out;
}

}  // namespace halmark::tune
