// The ABI side of the CUDA backend: one device per ordinal, asynchronous streams, times from
// events. Everything that computes is a Kernel of the table.
#include <cstring>
#include <halmark_judged.hpp>
#include <mutex>

#include "kernel.hpp"

namespace {

using namespace hm_cuda;

class PreparedHandle {
 public:
  PreparedHandle(std::unique_ptr<Prepared> prepared, const OpenedDevice& device)
      : prepared_(std::move(prepared)), device_(device) {
    for (const Operand& operand : prepared_->operands) {
      hm_operand shown{};
      plug::plain_operand(shown, operand.name, operand.role, operand.dtype, operand.dims);
      if (operand.is_turned) {
        const std::size_t row = operand.dims.size() - 2;
        shown.strides[row] = 1;
        shown.strides[row + 1] = operand.dims[row];
        plug::copy_text(shown.layout, row == 0 ? "ba" : "acb");
      }
      if (operand.role == HM_ROLE_CONSTANT) constant_bytes_ += shown.bytes;
      operands_.push_back(shown);
    }
  }

  void info(hm_prepared_info& out) const {
    out.operand_count = static_cast<std::uint32_t>(operands_.size());
    out.workspace_bytes = prepared_->workspace_bytes;
    out.launches_per_execution = prepared_->launches;
    out.constant_bytes = constant_bytes_;
    plug::copy_text(out.implementation, prepared_->implementation);
    plug::copy_text(out.isa, device_.architecture);
    plug::copy_text(out.library, prepared_->library.empty() ? "halmark" : prepared_->library);
    plug::copy_text(out.library_version, prepared_->library_version.empty()
                                             ? HALMARK_CUDA_VERSION
                                             : prepared_->library_version);
  }

  void operand(std::uint32_t index, hm_operand& out) const { out = operands_[index]; }

  void enqueue(Stream& stream, const hm_launch& launch) {
    for (std::uint32_t set = 0; set < launch.set_count; ++set) check_set(launch.sets[set]);
    device_.activate();
    void* workspace = workspace_of(launch);
    plug::for_each_execution(launch, [&](const hm_arguments& set) {
      prepared_->enqueue(stream.get(), {set.buffers, set.count}, workspace);
    });
  }

  void load_constants(Stream& stream, const hm_arguments& arguments) {
    if (arguments.count != operands_.size() || arguments.sources == nullptr) {
      throw plug::failure(HM_INVALID_ARGUMENT, "load_constants needs one entry per operand");
    }
    device_.activate();
    for (std::uint32_t i = 0; i < arguments.count; ++i) {
      if (operands_[i].role != HM_ROLE_CONSTANT) continue;
      require_room(arguments.buffers[i], operands_[i].bytes, operands_[i].name);
      require_room(arguments.sources[i], operands_[i].bytes, operands_[i].name);
      prepared_->load_constant(stream.get(), i, address_of(arguments.sources[i]),
                               address_of(arguments.buffers[i]));
    }
  }

 private:
  static void require_room(hm_buffer* buffer, std::uint64_t bytes, const char* name) {
    if (buffer == nullptr || plug::object_of<Buffer>(buffer).bytes() < bytes) {
      throw plug::failure(HM_INVALID_ARGUMENT, "buffer of '" + std::string(name) +
                                                   "' is missing or short of " +
                                                   std::to_string(bytes) + " bytes");
    }
  }

  void check_set(const hm_arguments& set) const {
    if (set.count != operands_.size()) {
      throw plug::failure(HM_INVALID_ARGUMENT, "a set needs one buffer per operand");
    }
    for (std::uint32_t i = 0; i < set.count; ++i) {
      require_room(set.buffers[i], operands_[i].bytes, operands_[i].name);
    }
  }

  void* workspace_of(const hm_launch& launch) const {
    if (prepared_->workspace_bytes == 0) return nullptr;
    require_room(launch.workspace, prepared_->workspace_bytes, "workspace");
    return address_of(launch.workspace);
  }

  std::unique_ptr<Prepared> prepared_;
  const OpenedDevice& device_;
  std::vector<hm_operand> operands_;
  std::uint64_t constant_bytes_ = 0;
};

class DeviceHandle {
 public:
  DeviceHandle(int ordinal, const Nvml& nvml, const Nccl& nccl)
      : device_(ordinal, nvml), nccl_(nccl) {}

  const std::vector<plug::Domain>& domains(std::uint32_t index, const hm_problem& problem) {
    return domains_of(index, problem);
  }

  void require_support(std::uint32_t index, const hm_problem& problem, plug::Params config) {
    const std::vector<plug::Domain>& domains = domains_of(index, problem);
    if (!config.empty()) plug::reject_outside(domains, config);
  }

  std::unique_ptr<PreparedHandle> prepare(std::uint32_t index, const hm_problem& problem,
                                          plug::Params config, Comm* comm = nullptr) {
    device_.activate();
    const Kernel& kernel = at(index, problem);
    if (!kernel.is_collective()) {
      return std::make_unique<PreparedHandle>(kernel.prepare(device_, problem, config), device_);
    }
    if (comm == nullptr) plug::invalid("a collective needs a communicator");
    return std::make_unique<PreparedHandle>(kernel.prepare_in(device_, problem, *comm), device_);
  }

  std::unique_ptr<Comm> comm(std::string_view token, std::uint32_t rank, std::uint32_t size) const {
    return std::make_unique<Comm>(nccl_, device_.ordinal, token, rank, size);
  }

  std::unique_ptr<Buffer> allocate(std::uint64_t bytes, std::uint64_t alignment,
                                   std::int32_t kind) const {
    return std::make_unique<Buffer>(device_, bytes, alignment, kind);
  }
  std::unique_ptr<Stream> stream() const { return std::make_unique<Stream>(device_.ordinal); }
  std::unique_ptr<Event> event() const { return std::make_unique<Event>(device_.ordinal); }
  void clocks(hm_clocks& out) const { device_.monitor.clocks(out); }
  double energy_microjoules() const { return device_.monitor.energy_microjoules(); }

 private:
  static const Kernel& at(std::uint32_t index, const hm_problem& problem) {
    const Kernel& kernel = *kernel_table()[index];
    if (kernel.op() != problem.op) {
      unsupported("kernel '" + std::string(kernel.name()) + "' implements op '" +
                  std::string(kernel.op()) + "'");
    }
    return kernel;
  }

  void require_nccl(const Kernel& kernel, const hm_problem& problem) const {
    if (!kernel.is_collective() || plug::param_or(problem, "ranks", 1) == 1) return;
    if (!nccl_.absence().empty()) {
      unsupported("collectives of several ranks need NCCL: " + nccl_.absence());
    }
  }

  // Listing a library's algorithms takes milliseconds, so a batch of configs of one problem asks
  // once. Throws where the problem is not supported.
  const std::vector<plug::Domain>& domains_of(std::uint32_t index, const hm_problem& problem) {
    std::string key = std::to_string(index);
    for (const hm_param& param : plug::Params(problem)) {
      key += ' ' + std::string(param.name) + '=' + std::to_string(param.value);
    }
    const Kernel& kernel = at(index, problem);
    if (key == domains_key_) return domains_;
    kernel.require_support(device_, problem);
    require_nccl(kernel, problem);
    domains_ = kernel.domains(device_, problem);
    domains_key_ = key;
    return domains_;
  }

  OpenedDevice device_;
  const Nccl& nccl_;
  std::string domains_key_;
  std::vector<plug::Domain> domains_;
};

class Backend {
 public:
  using Device = DeviceHandle;
  using Prepared = PreparedHandle;
  using Buffer = hm_cuda::Buffer;
  using Stream = hm_cuda::Stream;
  using Event = hm_cuda::Event;
  using Comm = hm_cuda::Comm;
  static constexpr const char* name = "cuda";
  static constexpr const char* version = HALMARK_CUDA_VERSION;
  static constexpr const char* build = "compiler " __VERSION__ "; " HALMARK_CUDA_BUILD;

  explicit Backend(const hm_host& host) {
    std::string reason;
    count_ = count_devices(reason);
    if (!reason.empty()) plug::log(host, HM_LOG_INFO, reason);
  }

  std::uint32_t device_count() const { return static_cast<std::uint32_t>(count_); }
  void describe(std::uint32_t index, hm_device_info& info) {
    hm_cuda::describe(static_cast<int>(index), nvml(), info);
  }
  std::unique_ptr<DeviceHandle> open(std::uint32_t index, plug::Params options) {
    plug::reject_unknown(options, {});
    return std::make_unique<DeviceHandle>(static_cast<int>(index), nvml(), nccl());
  }

  // Without NCCL there is no token, and who needs one is told so where a group is used.
  std::uint32_t comm_token(void* token, std::uint32_t capacity) {
    if (!nccl().absence().empty()) return 0;
    const std::string made = nccl().make_token();
    if (made.size() > capacity) return 0;
    std::memcpy(token, made.data(), made.size());
    return static_cast<std::uint32_t>(made.size());
  }

  std::uint32_t kernel_count() const { return static_cast<std::uint32_t>(kernel_table().size()); }
  void describe_kernel(std::uint32_t index, hm_kernel_info& info) const {
    const Kernel& kernel = *kernel_table()[index];
    info.flags = kernel.is_collective() ? HM_KERNEL_COLLECTIVE : 0;
    plug::copy_text(info.name, kernel.name());
    plug::copy_text(info.op, kernel.op());
  }

 private:
  // Only where there is a device: without a driver there is no library to ask.
  const Nvml& nvml() {
    std::call_once(nvml_made_, [&] { nvml_ = std::make_unique<Nvml>(); });
    return *nvml_;
  }

  const Nccl& nccl() {
    std::call_once(nccl_made_, [&] { nccl_ = std::make_unique<Nccl>(); });
    return *nccl_;
  }

  int count_ = 0;
  std::once_flag nvml_made_, nccl_made_;
  std::unique_ptr<Nvml> nvml_;
  std::unique_ptr<Nccl> nccl_;
};

}  // namespace

HM_PLUGIN_OR_JUDGED(Backend);
