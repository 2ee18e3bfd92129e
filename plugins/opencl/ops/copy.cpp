// Memory bandwidth: an own kernel, or the driver's copy command.
#include "copy_source.hpp"
#include "kernel.hpp"

namespace hm_opencl {
namespace {

constexpr std::size_t bytes_per_item = 16;
constexpr std::size_t group_items = 64;
constexpr std::int64_t by_kernel = 0, by_driver = 1;

class KernelCopy : public Prepared {
 public:
  KernelCopy(OpenedDevice& device, std::size_t bytes) {
    const std::size_t group = std::min(group_items, device.limits.work_group_items);
    implementation = "copy_vector16";
    translated([&] {
      launch_.kernel = cl::Kernel(device.program(copy_source, "-cl-std=CL1.2"), "copy");
      launch_.local = cl::NDRange(group);
      launch_.global = cl::NDRange(round_up((bytes + bytes_per_item - 1) / bytes_per_item, group));
      launch_.kernel.setArg(0, cl_ulong{0});
      for (cl_uint i = 0; i < 2; ++i) launch_.kernel.setArg(1 + i, cl::Buffer());
    });
    specialise(device, launch_);
    translated([&] { launch_.kernel.setArg(0, cl_ulong{bytes}); });
  }

  void enqueue(cl::CommandQueue& queue, Buffers buffers, cl::Event* event) override {
    for (cl_uint i = 0; i < 2; ++i) launch_.kernel.setArg(1 + i, memory_of(buffers[i]));
    launch_.enqueue(queue, event);
  }

 private:
  Launch launch_;
};

class DriverCopy : public Prepared {
 public:
  explicit DriverCopy(std::size_t bytes) : bytes_(bytes) { implementation = "clEnqueueCopyBuffer"; }
  void enqueue(cl::CommandQueue& queue, Buffers buffers, cl::Event* event) override {
    queue.enqueueCopyBuffer(memory_of(buffers[0]), memory_of(buffers[1]), 0, 0, bytes_, nullptr,
                            event);
  }

 private:
  std::size_t bytes_;
};

class Copy : public Kernel {
 public:
  std::string_view name() const override { return "copy"; }
  std::string_view op() const override { return "copy"; }

  std::vector<plug::Domain> domains(const Limits&, plug::Params) const override {
    return {plug::domain::categorical("method", {"kernel", "driver"}, by_kernel)};
  }

  void require_support(const Limits&, plug::Params problem, plug::Params) const override {
    plug::reject_unknown(problem, {"bytes"});
    if (plug::require_param(problem, "bytes") < 1) unsupported("copy of nothing");
  }

  std::unique_ptr<Prepared> prepare(OpenedDevice& device, plug::Params problem,
                                    plug::Params config) const override {
    const std::int64_t bytes = plug::require_param(problem, "bytes");
    const auto size = static_cast<std::size_t>(bytes);
    std::unique_ptr<Prepared> made;
    if (plug::param_or(config, "method", by_kernel) == by_driver) {
      made = std::make_unique<DriverCopy>(size);
    } else {
      made = std::make_unique<KernelCopy>(device, size);
    }
    made->operands = {{"src", HM_ROLE_INPUT, HM_DTYPE_U8, {bytes}},
                      {"dst", HM_ROLE_OUTPUT, HM_DTYPE_U8, {bytes}}};
    return made;
  }
};

}  // namespace

const Kernel& copy_kernel() {
  static const Copy kernel;
  return kernel;
}

}  // namespace hm_opencl
