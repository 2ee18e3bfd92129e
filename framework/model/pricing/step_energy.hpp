// Energy of a step from what its kernels were metered at.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "core/chosen/configuration.hpp"
#include "core/device.hpp"
#include "core/latency.hpp"
#include "core/result.hpp"

namespace halmark {

// Adds kernels up: energy = sum over ranks and kernels of executions x energy of one. A meter that
// devices share (the packages of the CPU) counts all of them whatever one does: of those that work
// at once the largest sum counts, once. What ranks wait for each other has no kernel, and so no
// energy.
class EnergySum {
 public:
  // Those added next are of ranks on another device; `is_same_stage`: they work while the ones
  // before do.
  void begin_ranks(bool is_same_stage);
  // `executions`: by all ranks that execute it alike.
  void add(const KernelCase& kernel_case, const Latency& latency, double executions);
  // Or which kernel has no meter.
  Result<StepEnergy, std::string> energy();

 private:
  void end_ranks();
  void end_stage();

  std::map<std::string, double> of_ranks_, of_stage_, all_;  // joules by meter
  std::string without_;
};

// So many devices (a share of one counts as that) at the power that one of these states, all the
// time; nothing where none does.
std::optional<StepEnergy> assumed_energy(const std::optional<Device>& measured,
                                         const std::optional<Device>& datasheet, double devices,
                                         double step_ns);

}  // namespace halmark
