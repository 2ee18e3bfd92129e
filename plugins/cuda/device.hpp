// A device: what can be said of it without a context, and what is opened on it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "nvml.hpp"
#include "stream.hpp"

namespace hm_cuda {

class CublasLt;

// 0 devices is a normal answer; `reason` then says why.
int count_devices(std::string& reason);

void describe(int ordinal, const Nvml& nvml, hm_device_info& info);

// "sm_90"
std::string architecture_of(int ordinal);

struct OpenedDevice {
  OpenedDevice(int ordinal, const Nvml& nvml);
  ~OpenedDevice();
  void activate() const { check(cudaSetDevice(ordinal), "cudaSetDevice"); }
  // Loaded when first asked for; throws HM_UNSUPPORTED with the loader's text where it is absent.
  CublasLt& cublas_lt();

  int ordinal;
  std::string architecture;
  int capability;                 // 90 = sm_90
  std::int64_t processors;        // streaming multiprocessors
  std::int64_t shared_bytes_max;  // that one block may ask for
  Nvml::Device monitor;

 private:
  std::unique_ptr<CublasLt> cublas_lt_;
};

class Buffer {
 public:
  Buffer(const OpenedDevice& device, std::uint64_t bytes, std::uint64_t alignment,
         std::int32_t kind);
  std::uint64_t bytes() const { return bytes_; }
  void* data() const { return data_; }
  void write(std::uint64_t offset, const void* source, std::uint64_t bytes);
  void read(std::uint64_t offset, void* target, std::uint64_t bytes) const;
  void fill(Stream& stream, std::uint32_t pattern);

 private:
  int ordinal_;
  DeviceMemory memory_;
  void* data_ = nullptr;  // inside memory_, where the alignment asks for it
  std::uint64_t bytes_;
};

}  // namespace hm_cuda
