// Which kernels of a batch of configurations are measured, and in which order.
#pragma once

#include <functional>
#include <span>

#include "core/chosen/configuration.hpp"
#include "latency/measured_source.hpp"
#include "tune/plan/composers.hpp"

namespace halmark::tune {

class KernelChooser {
 public:
  virtual ~KernelChooser() = default;
  // Measures through `source` what the configurations need, or as much of it as is worth its time.
  virtual void measure(std::span<const Configuration> configurations, Composers& composers,
                       MeasuredSource& source) = 0;
};

// Every kernel of every configuration.
class AllKernels : public KernelChooser {
 public:
  void measure(std::span<const Configuration> configurations, Composers& composers,
               MeasuredSource& source) override {
    source.require(composers.kernels(configurations));
  }
};

}  // namespace halmark::tune
