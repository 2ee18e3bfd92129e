// Steps of models that were not measured: executed whole, and forecast from the device's tables as
// every command does it.
#pragma once

#include <optional>

#include "core/measured/validation.hpp"
#include "onboard/onboard.hpp"
#include "tune/sources/priced_latencies.hpp"

namespace halmark::onboard {

class WholeSteps {
 public:
  // `device`: with its tables. All must outlive it.
  WholeSteps(const Setting& setting, const Device& device, const tune::KernelMeasuring& measuring);

  Validation executed(const HeldStep& step) const;
  // Nothing where the step was not timed, or no figure is known of some kernel.
  std::optional<StepError> error_of(const HeldStep& step, const Validation& run) const;

 private:
  const Setting& setting_;
  const tune::KernelMeasuring& measuring_;
  Device device_;
  tune::PricedLatencies latencies_;
};

}  // namespace halmark::onboard
