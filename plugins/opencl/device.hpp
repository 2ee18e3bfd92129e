// A device with its context, the buffers and programs that belong to it, and what can be said of a
// device without opening it.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "opencl.hpp"

namespace hm_opencl {

class Stream;

// Every device of every platform, in the loader's order. Appends to `reasons` why a platform, or
// the whole machine, offers none.
std::vector<cl::Device> find_devices(std::vector<std::string>& reasons);

void describe(const cl::Device& device, std::uint32_t index, hm_device_info& info);

struct Limits {
  std::size_t work_group_items = 1, local_bytes = 0;
  bool has_fp16 = false, has_fp64 = false;
  // A processor's core runs the work-items of a group one after the other: few, large ones.
  bool is_cpu = false;
};

struct OpenedDevice {
  explicit OpenedDevice(const cl::Device& device);

  // Compiled once per device; the compiler's output goes into the refusal.
  cl::Program& program(const std::string& source, const std::string& options);
  // At least twice the last-level cache.
  std::size_t flush_bytes() const;
  // Transfers come after all work of all streams.
  void wait_for_streams();

  cl::Device device;
  cl::Context context;
  cl::CommandQueue transfers;
  Limits limits;
  std::vector<Stream*> streams;

 private:
  std::map<std::string, cl::Program> programs_;
};

class Buffer {
 public:
  Buffer(OpenedDevice& device, std::uint64_t bytes, std::uint64_t alignment);
  std::uint64_t bytes() const { return bytes_; }
  const cl::Buffer& memory() const { return memory_; }
  void write(std::uint64_t offset, const void* source, std::uint64_t bytes);
  void read(std::uint64_t offset, void* target, std::uint64_t bytes) const;
  void fill(Stream& stream, std::uint32_t pattern);

 private:
  OpenedDevice& device_;
  cl::Buffer memory_;
  std::uint64_t bytes_;
};

}  // namespace hm_opencl
