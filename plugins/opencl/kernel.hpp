// What a kernel of this backend is: its domains, what it refuses, and executions over buffers.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "device.hpp"
#include "stream.hpp"

namespace hm_opencl {

using Operand = plug::Operand;

// Buffers of one argument set, in operand order.
using Buffers = std::span<hm_buffer* const>;
inline const cl::Buffer& memory_of(hm_buffer* buffer) {
  return plug::object_of<Buffer>(buffer).memory();
}

class Prepared {
 public:
  virtual ~Prepared() = default;
  // Queues one execution. Arguments are captured when the command is queued.
  virtual void enqueue(cl::CommandQueue& queue, Buffers buffers, cl::Event* event) = 0;

  // Queues the packing of constant `index`; unless a kernel has a layout of its own, a copy.
  virtual void pack(cl::CommandQueue& queue, std::size_t index, const cl::Buffer& plain,
                    const cl::Buffer& packed, cl::Event* event) {
    queue.enqueueCopyBuffer(plain, packed, 0, 0, plug::plain_bytes(operands[index]), nullptr,
                            event);
  }

  std::vector<Operand> operands;
  std::string implementation;  // kernel and build options
};

class Kernel {
 public:
  virtual ~Kernel() = default;
  virtual std::string_view name() const = 0;
  virtual std::string_view op() const = 0;
  // Of a problem that is supported; may be shorter on devices with small work-groups.
  virtual std::vector<plug::Domain> domains(const Limits& limits, plug::Params problem) const = 0;
  // Throws plug::failure with the reason. Every value of `config` lies in its domain.
  virtual void require_support(const Limits& limits, plug::Params problem,
                               plug::Params config) const = 0;
  virtual std::unique_ptr<Prepared> prepare(OpenedDevice& device, plug::Params problem,
                                            plug::Params config) const = 0;
};

std::span<const Kernel* const> kernel_table();

// A launch of one compiled kernel over a padded range.
struct Launch {
  cl::Kernel kernel;
  cl::NDRange global, local;
  void enqueue(cl::CommandQueue& queue, cl::Event* event) const {
    queue.enqueueNDRangeKernel(kernel, cl::NullRange, global, local, nullptr, event);
  }
};

// Runs the launch once with whatever arguments it has and waits. Some drivers compile for the
// launch's shape when it is first queued; that belongs to preparing, not to the first call.
void specialise(OpenedDevice& device, const Launch& launch);

inline std::size_t round_up(std::size_t value, std::size_t unit) {
  return (value + unit - 1) / unit * unit;
}

[[noreturn]] inline void unsupported(const std::string& reason) {
  throw plug::failure(HM_UNSUPPORTED, reason);
}

}  // namespace hm_opencl
