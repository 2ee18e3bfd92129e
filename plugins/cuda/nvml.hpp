// Clocks, power and energy of an NVIDIA device through its management library, where there is one.
#pragma once

#include <halmark_plugin.h>

#include <memory>
#include <string>

namespace hm_cuda {

struct NvmlFunctions;

class Nvml {
 public:
  // The library comes with the driver. Without it everything below is unknown.
  explicit Nvml(const std::string& file = "libnvidia-ml.so.1");
  ~Nvml();
  // Version of the driver; empty = unknown.
  std::string driver_version() const;

  // One device, by its PCI bus id; every figure is NaN where it cannot be read.
  class Device {
   public:
    void clocks(hm_clocks& out) const;
    // Since the driver was loaded.
    double energy_microjoules() const;

   private:
    friend class Nvml;
    std::shared_ptr<const NvmlFunctions> functions_;
    void* handle_ = nullptr;  // nullptr = unknown device
  };
  Device device(const std::string& pci_bus_id) const;

 private:
  std::shared_ptr<const NvmlFunctions> functions_;  // null = absent
};

}  // namespace hm_cuda
