// The ABI side of the OpenCL backend: every device of every platform, asynchronous queues, times
// from profiling events. Everything that computes is a Kernel of the table.
#include <halmark_judged.hpp>

#include "kernel.hpp"

namespace {

using namespace hm_opencl;

class PreparedHandle {
 public:
  explicit PreparedHandle(std::unique_ptr<Prepared> prepared, std::string driver)
      : prepared_(std::move(prepared)), driver_(std::move(driver)) {
    for (const Operand& operand : prepared_->operands) {
      hm_operand plain{};
      plug::describe(operand, plain);
      if (operand.role == HM_ROLE_CONSTANT) constant_bytes_ += plain.bytes;
      operands_.push_back(plain);
    }
  }

  void info(hm_prepared_info& out) const {
    out.operand_count = static_cast<std::uint32_t>(operands_.size());
    out.constant_bytes = constant_bytes_;
    plug::copy_text(out.implementation, prepared_->implementation);
    plug::copy_text(out.library, "OpenCL");
    plug::copy_text(out.library_version, driver_);
  }

  void operand(std::uint32_t index, hm_operand& out) const { out = operands_[index]; }

  void enqueue(Stream& stream, const hm_launch& launch) {
    for (std::uint32_t set = 0; set < launch.set_count; ++set) check(launch.sets[set]);
    stream.submit(launch.repeat,
                  [&](cl::CommandQueue& queue, cl::Event* event, std::uint64_t execution) {
                    const hm_arguments& set = launch.sets[execution % launch.set_count];
                    prepared_->enqueue(queue, {set.buffers, set.count}, event);
                  });
  }

  void load_constants(Stream& stream, const hm_arguments& arguments) {
    if (arguments.count != operands_.size() || arguments.sources == nullptr) {
      throw plug::failure(HM_INVALID_ARGUMENT, "load_constants needs one entry per operand");
    }
    for (std::uint32_t i = 0; i < arguments.count; ++i) {
      if (operands_[i].role != HM_ROLE_CONSTANT) continue;
      require_room(arguments.buffers[i], operands_[i].name, operands_[i].bytes);
      require_room(arguments.sources[i], operands_[i].name,
                   plug::plain_bytes(prepared_->operands[i]));
      stream.submit(1, [&](cl::CommandQueue& queue, cl::Event* event, std::uint64_t) {
        prepared_->pack(queue, i, memory_of(arguments.sources[i]), memory_of(arguments.buffers[i]),
                        event);
      });
    }
  }

 private:
  static void require_room(hm_buffer* buffer, const char* name, std::uint64_t bytes) {
    if (buffer == nullptr || plug::object_of<Buffer>(buffer).bytes() < bytes) {
      throw plug::failure(HM_INVALID_ARGUMENT, "buffer of '" + std::string(name) +
                                                   "' is missing or short of " +
                                                   std::to_string(bytes) + " bytes");
    }
  }

  void check(const hm_arguments& set) const {
    if (set.count != operands_.size()) {
      throw plug::failure(HM_INVALID_ARGUMENT, "a set needs one buffer per operand");
    }
    for (std::uint32_t i = 0; i < set.count; ++i) {
      require_room(set.buffers[i], operands_[i].name, operands_[i].bytes);
    }
  }

  std::unique_ptr<Prepared> prepared_;
  std::string driver_;
  std::vector<hm_operand> operands_;
  std::uint64_t constant_bytes_ = 0;
};

class DeviceHandle {
 public:
  explicit DeviceHandle(const cl::Device& device)
      : device_(device), driver_(translated([&] { return device.getInfo<CL_DRIVER_VERSION>(); })) {}

  std::vector<plug::Domain> domains(std::uint32_t index, const hm_problem& problem) const {
    const Kernel& kernel = at(index, problem);
    kernel.require_support(device_.limits, problem, {});
    return kernel.domains(device_.limits, problem);
  }

  void require_support(std::uint32_t index, const hm_problem& problem, plug::Params config) const {
    const Kernel& kernel = at(index, problem);
    plug::reject_outside(kernel.domains(device_.limits, problem), config);
    kernel.require_support(device_.limits, problem, config);
  }

  std::unique_ptr<PreparedHandle> prepare(std::uint32_t index, const hm_problem& problem,
                                          plug::Params config) {
    return std::make_unique<PreparedHandle>(at(index, problem).prepare(device_, problem, config),
                                            driver_);
  }

  std::unique_ptr<Buffer> allocate(std::uint64_t bytes, std::uint64_t alignment,
                                   std::int32_t kind) {
    if (kind != HM_MEMORY_DEVICE) unsupported("memory other than the device's own");
    return std::make_unique<Buffer>(device_, bytes, alignment);
  }
  std::unique_ptr<Stream> stream() { return std::make_unique<Stream>(device_); }
  std::unique_ptr<Event> event() const { return std::make_unique<Event>(); }

 private:
  static const Kernel& at(std::uint32_t index, const hm_problem& problem) {
    const Kernel& kernel = *kernel_table()[index];
    if (kernel.op() != problem.op) {
      unsupported("kernel '" + std::string(kernel.name()) + "' implements op '" +
                  std::string(kernel.op()) + "'");
    }
    return kernel;
  }

  OpenedDevice device_;
  std::string driver_;
};

class Backend {
 public:
  using Device = DeviceHandle;
  using Prepared = PreparedHandle;
  using Buffer = hm_opencl::Buffer;
  using Stream = hm_opencl::Stream;
  using Event = hm_opencl::Event;
  static constexpr const char* name = "opencl";
  static constexpr const char* version = HALMARK_OPENCL_VERSION;
  static constexpr const char* build =
      "compiler " __VERSION__ "; OpenCL 1.2 API; " HALMARK_OPENCL_BUILD;

  explicit Backend(const hm_host& host) {
    std::vector<std::string> reasons;
    devices_ = find_devices(reasons);
    for (const std::string& reason : reasons) plug::log(host, HM_LOG_INFO, reason);
  }

  std::uint32_t device_count() const { return static_cast<std::uint32_t>(devices_.size()); }
  void describe(std::uint32_t index, hm_device_info& info) const {
    hm_opencl::describe(devices_[index], index, info);
  }
  std::unique_ptr<DeviceHandle> open(std::uint32_t index, plug::Params options) const {
    plug::reject_unknown(options, {});
    return std::make_unique<DeviceHandle>(devices_[index]);
  }

  std::uint32_t kernel_count() const { return static_cast<std::uint32_t>(kernel_table().size()); }
  void describe_kernel(std::uint32_t index, hm_kernel_info& info) const {
    plug::copy_text(info.name, kernel_table()[index]->name());
    plug::copy_text(info.op, kernel_table()[index]->op());
  }

 private:
  std::vector<cl::Device> devices_;
};

}  // namespace

HM_PLUGIN_OR_JUDGED(Backend);
