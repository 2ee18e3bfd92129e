// The kernels are measured in other processes first, as a sweep does it: that is the prediction.
// The run and its kernels then take turns in one: that is the composition.
#include "tune/validate/run_configuration.hpp"

#include "core/text/error.hpp"
#include "latency/measured_source.hpp"
#include "tune/evaluate/step/placed_latencies.hpp"
#include "tune/validate/validate.hpp"

namespace halmark::tune {
namespace {

constexpr double min_block_s = 0.01;

Error refusal_of(const Refusal& refusal, const Configuration& configuration) {
  const std::string said = refusal.reason + ": " + refusal.text;
  if (refusal.reason != "ep_exceeds_group") return {exit_code_of(refusal), said};
  const std::string ep = std::to_string(configuration.parallel.ep);
  return refused(
      said, {},
      "experts are spread over the ranks of tp and dp: add --dp " + ep + " or --tp " + ep);
}

}  // namespace

void require_runnable(const ModelSpec& spec, const Configuration& configuration,
                      const Target& target) {
  Composers composers(spec, target, true);
  const Composers::Entry& entry = composers.of(configuration);
  if (!entry.composer) throw refusal_of(*entry.refusal, configuration);
}

RunOutcome run_configuration(const ModelSpec& spec, const Configuration& configuration,
                             const Target& target, const KernelMeasuring& measuring,
                             double stack_s) {
  Composers composers(spec, target, true);
  const Composers::Entry& entry = composers.of(configuration);
  if (!entry.composer) throw refusal_of(*entry.refusal, configuration);
  const int ranks = configuration.devices();
  if (configuration.places.empty() && target.is_oversubscribed(ranks)) {
    RunOutcome out{.evaluation = refused_evaluation(
                       configuration, {"oversubscribed", oversubscribed_text(ranks, target.cores) +
                                                             ": run for its outputs, not timed"})};
    out.validation = run_oversubscribed(entry.composer->graph(), target,
                                        {.plugin_path = measuring.plugin_path,
                                         .plugin_path_by_backend = measuring.others.paths,
                                         .limits = measuring.worker_limits,
                                         .job = measuring.job,
                                         .stop = measuring.stop});
    return out;
  }
  KernelMeasuring where_they_stand = measuring;
  where_they_stand.stacks_of = [&](const KernelCase& k) { return composers.stacks_of(k); };
  MeasuredSource source(
      [&](std::span<const KernelCase> cases) { return measure_kernels(cases, where_they_stand); },
      target.bounding());
  for (const Target& named : target.named) source.bound_by(named.device_text(), named.bounding());
  source.require(entry.composer->kernels());
  LatencyChain chain;
  if (target.fabric) add_fabric(target, source, chain);
  RunOutcome out{.evaluation = target.fabric
                                   ? entry.composer->compose(placed(chain, entry.composer->graph()))
                                   : entry.composer->compose(source)};
  if (!out.evaluation.estimate || measuring.stop.stop_requested()) return out;
  const Estimate& printed = *out.evaluation.estimate;
  out.validation = run_and_confront(
      *entry.composer, target, source, printed,
      {.plugin_path = measuring.plugin_path,
       .plugin_path_by_backend = measuring.others.paths,
       .limits = measuring.worker_limits,
       .turns = {stack_pairs, stack_pairs_more, std::max(stack_s / stack_turns, min_block_s)},
       .device = measuring.peaks ? &measuring.peaks->device() : nullptr,
       .job = measuring.job,
       .stop = measuring.stop});
  return out;
}

}  // namespace halmark::tune
