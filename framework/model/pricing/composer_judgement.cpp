// What a composed step is judged by: the peaks of its ranks, and their meters.
#include <span>
#include <utility>

#include "core/numeric/cast.hpp"
#include "core/text/text.hpp"
#include "core/text/units.hpp"
#include "model/pricing/composer.hpp"
#include "model/pricing/step_energy.hpp"
#include "roofline/row_utilisation.hpp"

namespace halmark {

// Of all ranks together, in the operator's type.
Result<double, std::string> Composer::flops_per_s(const Operator& op, Figures of) const {
  const auto of_one = [&](const DeviceFacts& facts) -> Result<double, std::string> {
    const std::optional<Device>& device = facts.*of;
    if (!device) return std::string("no device figures");
    if (const auto peak = shard_peak(*device, op.dtype, facts.shard)) return *peak;
    return "device " + device->id + " has no peak for " + std::string(dtype_name(op.dtype)) +
           ", needed by " + op.name;
  };
  const int devices = graph_.configuration.parallel.devices();
  if (facts_.of_ranks.empty()) {
    const auto peak = of_one(facts_);
    return peak ? Result<double, std::string>(devices * *peak) : peak;
  }
  double out = 0;
  for (const DeviceFacts& rank : facts_.of_ranks) {
    const auto peak = of_one(rank);
    if (!peak) return peak;
    out += *peak;
  }
  return out;
}

// sum over operators of FLOPs / (peaks of all ranks in the operator's dtype); MFU = this / step
// time.
Result<double, std::string> Composer::ideal_ns(Figures of) const {
  if (facts_.of_ranks.empty() && !(facts_.*of)) return std::string("no device figures");
  double ns = 0;
  for (const Operator& op : graph_.operators) {
    if (op.matmul_flops <= 0) continue;
    const auto peak = flops_per_s(op, of);
    if (!peak) return peak.failure;
    ns += op.matmul_flops / *peak * ns_per_s;
  }
  return ns;
}

void Composer::judge_utilisation(Estimate& estimate) const {
  const auto measured = ideal_ns(&DeviceFacts::measured);
  estimate.mfu_reason = measured.failure;
  if (measured) {
    const auto mfu = fraction_of_peak(*measured / estimate.step_ns, measured_peak_name);
    estimate.mfu = mfu.value;
    estimate.mfu_reason = mfu.failure;
  }
  const auto datasheet = ideal_ns(&DeviceFacts::datasheet);
  if (datasheet) {
    estimate.mfu_datasheet = fraction_of_peak(*datasheet / estimate.step_ns, {}).value;
  }
}

void Composer::judge_energy(std::span<const std::optional<Latency>> latencies,
                            Estimate& estimate) const {
  EnergySum sum;
  std::int64_t stage = -1;
  for (const PlacedStage& placed : stages_) {
    sum.begin_ranks(placed.stage == stage);
    stage = placed.stage;
    for (const StageKernel& kernel : placed.kernels) {
      const auto at = as_size(table_.find(kernel.kernel_case));
      const auto executions = placed.ranks * kernel.count * graph_.micro_batches();
      sum.add(kernel.kernel_case, *latencies[at], as_double(executions));
    }
  }
  auto metered = sum.energy();
  if (metered) {
    estimate.energy = std::move(*metered);
    return;
  }
  if (!facts_.asks_energy) return;
  assume_energy(metered.failure, estimate);
}

// Only for who asks: energy proportional to the time tells no two configurations apart.
void Composer::assume_energy(const std::string& why, Estimate& estimate) const {
  const bool is_placed = !facts_.of_ranks.empty();
  const std::span<const DeviceFacts> kinds =
      is_placed ? std::span<const DeviceFacts>(facts_.of_ranks) : std::span(&facts_, 1);
  const int alike = is_placed ? 1 : graph_.configuration.parallel.devices();
  StepEnergy out;
  for (const DeviceFacts& facts : kinds) {
    const auto one = assumed_energy(facts.measured, facts.datasheet,
                                    as_double(alike) / facts.shard.parts, estimate.step_ns);
    if (!one) {
      estimate.energy_reason = why + ", and no power of the device is known";
      return;
    }
    out.joules += one->joules;
    if (out.origin.find(one->origin) == std::string::npos)
      append_item(out.origin, "; ", one->origin);
  }
  estimate.energy = std::move(out);
}

}  // namespace halmark
