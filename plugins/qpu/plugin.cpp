// The ABI side of the simulated QPU: one device in host memory, synchronous launches.
#include <halmark_plugin.hpp>

#include <omp.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "kernel.hpp"

namespace {

namespace plug = halmark::plugin;
constexpr std::size_t operands_max = 8;
constexpr std::uint64_t huge_page_bytes = 2u << 20;

int cpus_allowed() { return std::max(1, omp_get_num_procs()); }

std::int64_t memory_bytes() { return sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE); }

class PreparedHandle {
 public:
  explicit PreparedHandle(std::unique_ptr<hm_qpu::Prepared> prepared)
      : prepared_(std::move(prepared)) {
    for (plug::Operand& operand : prepared_->operands) {
      operand.bytes = plug::stored_bytes(operand);
    }
    prepared_->info.library = "halmark";
    prepared_->info.library_version = HALMARK_QPU_VERSION;
  }
  void info(hm_prepared_info& out) const {
    plug::describe(prepared_->info, prepared_->operands, out);
  }
  void operand(std::uint32_t index, hm_operand& out) const {
    plug::describe(prepared_->operands[index], out);
  }
  void enqueue(plug::SynchronousStream&, const hm_launch& launch) {
    for (std::uint32_t set = 0; set < launch.set_count; ++set) check(launch.sets[set]);
    plug::for_each_execution(launch, [&](const hm_arguments& set) {
      std::array<void*, operands_max> pointers{};
      for (std::uint32_t i = 0; i < set.count; ++i) {
        pointers[i] = plug::object_of<plug::HostBuffer>(set.buffers[i]).data();
      }
      prepared_->run(pointers.data());
    });
  }

 private:
  void check(const hm_arguments& set) const {
    if (set.count != prepared_->operands.size()) {
      plug::invalid("a set needs one buffer per operand");
    }
    for (std::uint32_t i = 0; i < set.count; ++i) {
      const plug::Operand& operand = prepared_->operands[i];
      if (set.buffers[i] == nullptr ||
          plug::object_of<plug::HostBuffer>(set.buffers[i]).bytes() < operand.bytes) {
        plug::invalid("buffer of '" + operand.name + "' is missing or short of " +
                      std::to_string(operand.bytes) + " bytes");
      }
    }
  }
  std::unique_ptr<hm_qpu::Prepared> prepared_;
};

class DeviceHandle {
 public:
  explicit DeviceHandle(const hm_qpu::Device& device) : device_(device) {}

  std::vector<plug::Domain> domains(std::uint32_t index, const hm_problem& problem) const {
    const hm_qpu::Kernel& kernel = at(index, problem);
    kernel.require_support(device_, problem);
    return kernel.domains(device_, problem);
  }
  void require_support(std::uint32_t index, const hm_problem& problem, plug::Params config) const {
    const hm_qpu::Kernel& kernel = at(index, problem);
    kernel.require_support(device_, problem);
    if (!config.empty()) plug::reject_outside(kernel.domains(device_, problem), config);
  }
  std::unique_ptr<PreparedHandle> prepare(std::uint32_t index, const hm_problem& problem,
                                          plug::Params config) const {
    return std::make_unique<PreparedHandle>(at(index, problem).prepare(device_, problem, config));
  }
  std::unique_ptr<plug::HostBuffer> allocate(std::uint64_t bytes, std::uint64_t alignment,
                                             std::int32_t kind) const {
    const bool large = bytes >= huge_page_bytes;
    auto buffer = plug::HostBuffer::allocate(
        bytes, large ? std::max(alignment, huge_page_bytes) : alignment, kind);
    // Runs of a block lie far apart: huge pages spare a miss of the TLB each.
    if (large) madvise(buffer->data(), bytes, MADV_HUGEPAGE);
    return buffer;
  }

 private:
  static const hm_qpu::Kernel& at(std::uint32_t index, const hm_problem& problem) {
    const hm_qpu::Kernel& kernel = *hm_qpu::kernel_table()[index];
    if (kernel.op() != problem.op) {
      plug::unsupported("kernel '" + std::string(kernel.name()) + "' implements op '" +
                        std::string(kernel.op()) + "'");
    }
    return kernel;
  }
  hm_qpu::Device device_;
};

class Backend {
 public:
  using Device = DeviceHandle;
  using Prepared = PreparedHandle;
  static constexpr const char* name = "qpu";
  static constexpr const char* version = HALMARK_QPU_VERSION;
  static constexpr const char* build = "compiler " __VERSION__ "; " HALMARK_QPU_BUILD;

  std::uint32_t device_count() const { return 1; }

  void describe(std::uint32_t, hm_device_info& info) const {
    info.kind = HM_DEVICE_QPU_SIMULATOR;
    info.timer = HM_TIMER_HOST_CLOCK;
    info.flags = HM_DEVICE_SYNCHRONOUS | HM_DEVICE_UNIFIED_MEMORY;
    std::int64_t most = 0;
    while ((std::int64_t{8} << (most + 1)) <= memory_bytes()) ++most;
    plug::copy_text(info.id, "0");
    plug::copy_text(info.name, "qpu-sim, a simulated state vector: " + std::to_string(most) +
                                   " qubits of c64, " + std::to_string(most - 1) + " of c128");
    plug::copy_text(info.isa, hm_qpu::loops_for(2).f32.isa);
    plug::copy_text(info.driver, "halmark " HALMARK_QPU_VERSION);
    info.memory_bytes = memory_bytes();
    info.cache_bytes = std::max(0L, sysconf(_SC_LEVEL3_CACHE_SIZE));
    info.compute_units = cpus_allowed();
  }

  std::unique_ptr<DeviceHandle> open(std::uint32_t, plug::Params options) const {
    plug::reject_unknown(options, {"threads", "isa"});
    hm_qpu::Device device;
    const int cpus = cpus_allowed();
    const std::int64_t threads = plug::param_or(options, "threads", cpus);
    if (threads < 1 || threads > 4 * cpus) {
      plug::unsupported("threads " + std::to_string(threads) + " on " + std::to_string(cpus) +
                        " processors");
    }
    const std::int64_t isa = plug::param_or(options, "isa", 2);
    if (isa < 0 || isa > 2) {
      plug::unsupported("isa ceiling " + std::to_string(isa) + ": 0 none, 1 avx2, 2 avx512_core");
    }
    device.threads = static_cast<int>(threads);
    device.isa_ceiling = static_cast<int>(isa);
    device.memory_bytes = memory_bytes();
    const long l2 = sysconf(_SC_LEVEL2_CACHE_SIZE);
    if (l2 > 0) device.l2_bytes = l2;
    return std::make_unique<DeviceHandle>(device);
  }

  std::uint32_t kernel_count() const {
    return static_cast<std::uint32_t>(hm_qpu::kernel_table().size());
  }
  void describe_kernel(std::uint32_t index, hm_kernel_info& info) const {
    const hm_qpu::Kernel& kernel = *hm_qpu::kernel_table()[index];
    plug::copy_text(info.name, kernel.name());
    plug::copy_text(info.op, kernel.op());
  }
};

}  // namespace

HM_PLUGIN(Backend);
