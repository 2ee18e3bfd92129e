#include "device.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

#include "cublas_lt.hpp"
#include "kernels.hpp"

namespace hm_cuda {
namespace {

std::int64_t attribute(cudaDeviceAttr name, int ordinal) {
  int value = 0;
  return cudaDeviceGetAttribute(&value, name, ordinal) == cudaSuccess ? value : 0;
}

std::string version_text(int version) {
  return std::to_string(version / 1000) + '.' + std::to_string(version % 1000 / 10);
}

std::string bus_id_of(int ordinal) {
  std::array<char, 32> text{};
  const auto size = static_cast<int>(text.size());
  return cudaDeviceGetPCIBusId(text.data(), size, ordinal) == cudaSuccess ? text.data() : "";
}

std::string driver_text(const Nvml& nvml) {
  int driver = 0, runtime = 0;
  cudaDriverGetVersion(&driver);
  cudaRuntimeGetVersion(&runtime);
  const std::string version = nvml.driver_version();
  return (version.empty() ? "" : "NVIDIA " + version + ", ") + "CUDA " + version_text(driver) +
         ", runtime " + version_text(runtime);
}

}  // namespace

int count_devices(std::string& reason) {
  int driver = 0;
  // Version 0 is how the runtime says that no driver library could be loaded.
  if (cudaDriverGetVersion(&driver) != cudaSuccess || driver == 0) {
    reason = "CUDA driver is absent (libcuda.so.1 was not found)";
    return 0;
  }
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error != cudaSuccess) {
    cudaGetLastError();
    reason = std::string("CUDA driver ") + version_text(driver) + ": " + cudaGetErrorString(error);
    return 0;
  }
  if (count == 0) reason = "the CUDA driver sees no device";
  return count;
}

std::string architecture_of(int ordinal) {
  return "sm_" + std::to_string(attribute(cudaDevAttrComputeCapabilityMajor, ordinal)) +
         std::to_string(attribute(cudaDevAttrComputeCapabilityMinor, ordinal));
}

void describe(int ordinal, const Nvml& nvml, hm_device_info& info) {
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, ordinal), "cudaGetDeviceProperties");
  info.kind = HM_DEVICE_GPU;
  info.timer = HM_TIMER_DEVICE_EVENT;
  info.flags = HM_DEVICE_DRIVER_CACHE;
  if (properties.integrated) info.flags |= HM_DEVICE_UNIFIED_MEMORY;
  plug::copy_text(info.id, std::to_string(ordinal));
  plug::copy_text(info.name, properties.name);
  plug::copy_text(info.isa, architecture_of(ordinal));
  plug::copy_text(info.driver, driver_text(nvml));
  info.memory_bytes = static_cast<std::int64_t>(properties.totalGlobalMem);
  info.cache_bytes = properties.l2CacheSize;
  info.compute_units = properties.multiProcessorCount;
  info.clock_hz_max = attribute(cudaDevAttrClockRate, ordinal) * 1000;
}

OpenedDevice::OpenedDevice(int opened, const Nvml& nvml)
    : ordinal(opened),
      architecture(architecture_of(opened)),
      capability(static_cast<int>(10 * attribute(cudaDevAttrComputeCapabilityMajor, opened) +
                                  attribute(cudaDevAttrComputeCapabilityMinor, opened))),
      processors(std::max<std::int64_t>(1, attribute(cudaDevAttrMultiProcessorCount, opened))),
      shared_bytes_max(attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin, opened)),
      monitor(nvml.device(bus_id_of(opened))) {
  activate();
  // Creates the context here and not in the first measured call.
  check(cudaFree(nullptr), "the creation of a context");
}

OpenedDevice::~OpenedDevice() = default;

CublasLt& OpenedDevice::cublas_lt() {
  if (!cublas_lt_) {
    activate();
    cublas_lt_ = std::make_unique<CublasLt>();
  }
  return *cublas_lt_;
}

Buffer::Buffer(const OpenedDevice& device, std::uint64_t bytes, std::uint64_t alignment,
               std::int32_t kind)
    : ordinal_(device.ordinal), bytes_(bytes) {
  constexpr std::uint64_t alignment_of_malloc = 256;
  if (kind != HM_MEMORY_DEVICE) unsupported("memory other than the device's own");
  device.activate();
  const std::uint64_t slack = alignment > alignment_of_malloc ? alignment : 0;
  memory_ = allocate_device(bytes + slack);
  const auto address = reinterpret_cast<std::uintptr_t>(memory_.get());
  const std::uintptr_t offset = (alignment - address % alignment) % alignment;
  data_ = static_cast<char*>(memory_.get()) + offset;
}

void Buffer::write(std::uint64_t offset, const void* source, std::uint64_t bytes) {
  check(cudaSetDevice(ordinal_), "cudaSetDevice");
  check(cudaMemcpy(static_cast<char*>(data()) + offset, source, bytes, cudaMemcpyHostToDevice),
        "a copy to the device");
}

void Buffer::read(std::uint64_t offset, void* target, std::uint64_t bytes) const {
  check(cudaSetDevice(ordinal_), "cudaSetDevice");
  check(
      cudaMemcpy(target, static_cast<const char*>(data()) + offset, bytes, cudaMemcpyDeviceToHost),
      "a copy from the device");
}

void Buffer::fill(Stream& stream, std::uint32_t pattern) {
  check(cudaSetDevice(ordinal_), "cudaSetDevice");
  check(launch_fill(stream.get(), data(), bytes_, pattern), "a fill");
}

}  // namespace hm_cuda
