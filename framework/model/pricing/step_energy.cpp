#include "model/pricing/step_energy.hpp"

#include <algorithm>

#include "core/text/text.hpp"
#include "core/text/units.hpp"

namespace halmark {

void EnergySum::begin_ranks(bool is_same_stage) {
  end_ranks();
  if (!is_same_stage) end_stage();
}

void EnergySum::add(const KernelCase& kernel_case, const Latency& latency, double executions) {
  if (!latency.energy_j) {
    if (without_.empty()) without_ = kernel_case.problem.text();
    return;
  }
  of_ranks_[latency.energy_origin] += executions * *latency.energy_j;
}

void EnergySum::end_ranks() {
  for (const auto& [meter, joules] : of_ranks_) {
    double& largest = of_stage_[meter];
    largest = std::max(largest, joules);
  }
  of_ranks_.clear();
}

void EnergySum::end_stage() {
  for (const auto& [meter, joules] : of_stage_) all_[meter] += joules;
  of_stage_.clear();
}

Result<StepEnergy, std::string> EnergySum::energy() {
  end_ranks();
  end_stage();
  if (!without_.empty()) return "no meter was read around " + without_;
  if (all_.empty()) return std::string("no kernel was metered");
  StepEnergy out{.is_measured = true, .origin = "measured:"};
  for (const auto& [meter, joules] : all_) {
    out.joules += joules;
    out.origin += ' ' + meter;
  }
  return out;
}

std::optional<StepEnergy> assumed_energy(const std::optional<Device>& measured,
                                         const std::optional<Device>& datasheet, double devices,
                                         double step_ns) {
  for (const std::optional<Device>* known : {&measured, &datasheet}) {
    const std::optional<Device>& device = *known;
    if (!device || !device->power_w) continue;
    return StepEnergy{.joules = *device->power_w * devices * step_ns / ns_per_s,
                      .origin = "assumed: " + number_text(*device->power_w, 4) + " W of " +
                                device->id + " all the time"};
  }
  return std::nullopt;
}

}  // namespace halmark
