#include "nvml.hpp"

#include <array>
#include <limits>

#include "dynamic_library.hpp"

namespace hm_cuda {

// The signatures of the library's stable C interface: its header is a package that toolkits leave
// out.
struct NvmlFunctions {
  using Count = unsigned long long;
  int (*init)();
  int (*driver_version)(char*, unsigned);
  int (*device_by_bus_id)(const char*, void**);
  int (*clock_mhz)(void*, int type, unsigned*);
  int (*temperature_c)(void*, int sensor, unsigned*);
  int (*power_mw)(void*, unsigned*);
  int (*energy_mj)(void*, Count*);
  int (*throttle_reasons)(void*, Count*);
};

namespace {

constexpr int clock_sm = 1, clock_memory = 2, sensor_gpu = 0;
constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

struct Reason {
  NvmlFunctions::Count bit;
  std::uint32_t flag;
};
constexpr std::array<Reason, 5> reasons{{
    {0x04, HM_THROTTLE_POWER},              // software power cap
    {0x80, HM_THROTTLE_POWER},              // power brake
    {0x20, HM_THROTTLE_THERMAL},            // software thermal slowdown
    {0x40, HM_THROTTLE_THERMAL},            // hardware thermal slowdown
    {0x08, HM_THROTTLE_HARDWARE_SLOWDOWN},  // any hardware slowdown
}};

// `read` fills an unsigned figure; anything but 0 means that the device does not have it.
template <class T, class Read>
double figure(double scale, Read&& read) {
  T value = 0;
  return read(&value) == 0 ? scale * static_cast<double>(value) : unknown;
}

}  // namespace

Nvml::Nvml(const std::string& file) {
  DynamicLibrary library(file);
  auto found = std::make_shared<NvmlFunctions>();
  library.find(found->init, "nvmlInit_v2");
  library.find(found->driver_version, "nvmlSystemGetDriverVersion");
  library.find(found->device_by_bus_id, "nvmlDeviceGetHandleByPciBusId_v2");
  library.find(found->clock_mhz, "nvmlDeviceGetClockInfo");
  library.find(found->temperature_c, "nvmlDeviceGetTemperature");
  library.find(found->power_mw, "nvmlDeviceGetPowerUsage");
  library.find(found->energy_mj, "nvmlDeviceGetTotalEnergyConsumption");
  library.find(found->throttle_reasons, "nvmlDeviceGetCurrentClocksThrottleReasons");
  if (library.absence().empty() && found->init() == 0) functions_ = std::move(found);
}

Nvml::~Nvml() = default;

std::string Nvml::driver_version() const {
  std::array<char, 96> text{};
  if (!functions_ || functions_->driver_version(text.data(), text.size() - 1) != 0) return {};
  return text.data();
}

Nvml::Device Nvml::device(const std::string& pci_bus_id) const {
  Device device;
  device.functions_ = functions_;
  if (functions_ && functions_->device_by_bus_id(pci_bus_id.c_str(), &device.handle_) != 0) {
    device.handle_ = nullptr;
  }
  return device;
}

void Nvml::Device::clocks(hm_clocks& out) const {
  out.core_hz = out.memory_hz = out.temperature_c = out.power_w = unknown;
  out.throttle = 0;
  if (handle_ == nullptr) return;
  const NvmlFunctions& nvml = *functions_;
  out.core_hz =
      figure<unsigned>(1e6, [&](unsigned* v) { return nvml.clock_mhz(handle_, clock_sm, v); });
  out.memory_hz =
      figure<unsigned>(1e6, [&](unsigned* v) { return nvml.clock_mhz(handle_, clock_memory, v); });
  out.temperature_c =
      figure<unsigned>(1, [&](unsigned* v) { return nvml.temperature_c(handle_, sensor_gpu, v); });
  out.power_w = figure<unsigned>(1e-3, [&](unsigned* v) { return nvml.power_mw(handle_, v); });
  NvmlFunctions::Count bits = 0;
  if (nvml.throttle_reasons(handle_, &bits) != 0) return;
  for (const Reason& reason : reasons) {
    if (bits & reason.bit) out.throttle |= reason.flag;
  }
}

double Nvml::Device::energy_microjoules() const {
  if (handle_ == nullptr) return unknown;
  return figure<NvmlFunctions::Count>(
      1e3, [&](NvmlFunctions::Count* v) { return functions_->energy_mj(handle_, v); });
}

}  // namespace hm_cuda
