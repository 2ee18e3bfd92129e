// The ABI side of the CPU backend: one device, host memory, synchronous launches. Everything that
// computes is a Kernel of the table and never sees a handle.
#include <halmark_plugin.hpp>

#include <omp.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <fstream>
#include <map>

#include "gemm/onednn.hpp"
#include "isa.hpp"
#include "kernel.hpp"
#ifdef HALMARK_CPU_MPI
#include "mpi/comm.hpp"
#endif

#define HM_CPU_TEXT(x) #x
#define HM_CPU_STRING(x) HM_CPU_TEXT(x)

namespace {

namespace plug = halmark::plugin;
constexpr std::size_t operands_max = 8;
constexpr std::uint64_t huge_page_bytes = 2u << 20;

// The runtime's count, because with OMP_PROC_BIND it has already bound this thread to one CPU: the
// thread's own mask would say 1. It counts the mask that the process was started with.
int cpus_allowed() { return std::max(1, omp_get_num_procs()); }

// The C library knows caches of x86-64 only; elsewhere the kernel does, as "1024K" of a level.
std::int64_t cache_bytes(int name, [[maybe_unused]] int level, std::int64_t fallback) {
  const long bytes = sysconf(name);
  if (bytes > 0) return bytes;
#if !defined(__x86_64__)
  for (int index = 0; index < 8; ++index) {
    const std::string folder =
        "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index) + '/';
    std::ifstream of_level(folder + "level"), of_size(folder + "size");
    int found = 0;
    std::int64_t kib = 0;
    if (of_level >> found && found == level && of_size >> kib && kib > 0) return kib * 1024;
  }
#endif
  return fallback;
}

std::int64_t clock_hz_max() {
  std::ifstream file("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq");
  std::int64_t khz = 0;
  return file >> khz ? khz * 1000 : 0;
}

class PreparedHandle {
 public:
  PreparedHandle(std::unique_ptr<hm_cpu::Prepared> prepared, int threads)
      : prepared_(std::move(prepared)) {
    prepared_->threads = threads;
    if (prepared_->operands.size() > operands_max) {
      throw plug::failure(HM_INTERNAL, "a kernel with more operands than the backend carries");
    }
    for (plug::Operand& operand : prepared_->operands) {
      operand.bytes = plug::stored_bytes(operand);
    }
    plug::PreparedInfo& info = prepared_->info;
    if (info.library.empty()) info.library = "halmark";
    if (info.library_version.empty()) info.library_version = HALMARK_CPU_VERSION;
  }

  void info(hm_prepared_info& out) const {
    plug::describe(prepared_->info, prepared_->operands, out);
  }

  void operand(std::uint32_t index, hm_operand& out) const {
    plug::describe(prepared_->operands[index], out);
  }

  void enqueue(plug::SynchronousStream&, const hm_launch& launch) {
    for (std::uint32_t set = 0; set < launch.set_count; ++set) check(launch.sets[set]);
    void* workspace = workspace_of(launch);
    omp_set_num_threads(prepared_->threads);
    plug::for_each_execution(launch, [&](const hm_arguments& set) {
      std::array<void*, operands_max> pointers;
      for (std::uint32_t i = 0; i < set.count; ++i) pointers[i] = address(set.buffers[i]);
      prepared_->run(pointers.data(), workspace);
    });
  }

  void load_constants(plug::SynchronousStream&, const hm_arguments& arguments) {
    if (arguments.count != prepared_->operands.size() || arguments.sources == nullptr) {
      throw plug::failure(HM_INVALID_ARGUMENT, "load_constants needs one entry per operand");
    }
    std::array<void*, operands_max> packed{};
    std::array<const void*, operands_max> plain{};
    for (std::uint32_t i = 0; i < arguments.count; ++i) {
      const plug::Operand& operand = prepared_->operands[i];
      if (operand.role != HM_ROLE_CONSTANT) continue;
      require_room(arguments.buffers[i], operand.bytes, operand.name);
      require_room(arguments.sources[i], plug::plain_bytes(operand), operand.name);
      packed[i] = address(arguments.buffers[i]);
      plain[i] = address(arguments.sources[i]);
    }
    omp_set_num_threads(prepared_->threads);
    prepared_->load_constants(packed.data(), plain.data());
  }

 private:
  static void* address(hm_buffer* buffer) {
    return plug::object_of<plug::HostBuffer>(buffer).data();
  }

  static void require_room(hm_buffer* buffer, std::uint64_t bytes, const std::string& name) {
    if (buffer == nullptr || plug::object_of<plug::HostBuffer>(buffer).bytes() < bytes) {
      throw plug::failure(HM_INVALID_ARGUMENT, "buffer of '" + name + "' is missing or short of " +
                                                   std::to_string(bytes) + " bytes");
    }
  }

  void check(const hm_arguments& set) const {
    if (set.count != prepared_->operands.size()) {
      throw plug::failure(HM_INVALID_ARGUMENT, "a set needs one buffer per operand");
    }
    for (std::uint32_t i = 0; i < set.count; ++i) {
      require_room(set.buffers[i], prepared_->operands[i].bytes, prepared_->operands[i].name);
    }
  }

  void* workspace_of(const hm_launch& launch) const {
    if (prepared_->info.workspace_bytes == 0) return nullptr;
    require_room(launch.workspace, prepared_->info.workspace_bytes, "workspace");
    return address(launch.workspace);
  }

  std::unique_ptr<hm_cpu::Prepared> prepared_;
};

// Every count up to 16, then doublings: enough for a search, short enough to enumerate.
std::vector<std::int64_t> thread_counts(int threads) {
  std::vector<std::int64_t> counts;
  for (std::int64_t n = 1; n < threads; n = n < 16 ? n + 1 : 2 * n) counts.push_back(n);
  counts.push_back(threads);
  return counts;
}

class DeviceHandle {
 public:
  explicit DeviceHandle(const hm_cpu::Device& device) : device_(device) {}

  const std::vector<plug::Domain>& domains(std::uint32_t index, const hm_problem& problem) {
    return domains_of(index, problem);
  }

  void require_support(std::uint32_t index, const hm_problem& problem, plug::Params config) {
    const hm_cpu::Kernel& kernel = at(index, problem);
    const std::vector<hm_param> own = own_config(index, problem, config);
    kernel.require_support(device_, problem, params_of(own));
  }

  std::unique_ptr<PreparedHandle> prepare(std::uint32_t index, const hm_problem& problem,
                                          plug::Params config, hm_cpu::Comm* comm = nullptr) {
    const hm_cpu::Kernel& kernel = at(index, problem);
    if (kernel.is_collective() && comm == nullptr) {
      throw plug::failure(HM_INVALID_ARGUMENT, "a collective needs a communicator");
    }
    const std::vector<hm_param> own = own_config(index, problem, config);
    hm_cpu::Device device = device_;
    device.threads = static_cast<int>(plug::param_or(config, "threads", device_.threads));
    // Libraries fix their parallelism when a primitive is created.
    omp_set_num_threads(device.threads);
    return std::make_unique<PreparedHandle>(kernel.prepare(device, problem, params_of(own), comm),
                                            device.threads);
  }

  std::unique_ptr<plug::HostBuffer> allocate(std::uint64_t bytes, std::uint64_t alignment,
                                             std::int32_t kind) const {
    const bool large = bytes >= huge_page_bytes;
    auto buffer = plug::HostBuffer::allocate(
        bytes, large ? std::max(alignment, huge_page_bytes) : alignment, kind);
    // Fewer TLB misses on weight-sized buffers; a refusal costs nothing.
    if (large) madvise(buffer->data(), bytes, MADV_HUGEPAGE);
    return buffer;
  }

#ifdef HALMARK_CPU_MPI
  std::unique_ptr<hm_cpu::Comm> comm(std::string_view token, std::uint32_t rank,
                                     std::uint32_t size) const {
    return hm_cpu::make_comm(token, rank, size, device_.threads > 1);
  }
#endif

 private:
  static const hm_cpu::Kernel& at(std::uint32_t index, const hm_problem& problem) {
    const hm_cpu::Kernel& kernel = *hm_cpu::kernel_table()[index];
    if (kernel.op() != problem.op) {
      plug::unsupported("kernel '" + std::string(kernel.name()) + "' implements op '" +
                        std::string(kernel.op()) + "'");
    }
    return kernel;
  }

  static plug::Params params_of(const std::vector<hm_param>& params) {
    return {params.data(), params.size()};
  }

  // Listing library implementations creates primitive descriptors, so a batch of configs of one
  // problem asks once.
  const std::vector<plug::Domain>& domains_of(std::uint32_t index, const hm_problem& problem) {
    std::string key = std::to_string(index);
    for (std::uint32_t i = 0; i < problem.count; ++i) {
      key += ' ';
      key += problem.params[i].name;
      key += '=';
      key += std::to_string(problem.params[i].value);
    }
    if (key == domains_key_) return domains_;
    const hm_cpu::Kernel& kernel = at(index, problem);
    omp_set_num_threads(device_.threads);
    kernel.require_support(device_, problem, {});
    domains_ = kernel.domains(device_, problem);
    if (!kernel.is_collective()) {
      domains_.push_back(
          plug::domain::ordered("threads", thread_counts(device_.threads), device_.threads));
    }
    domains_key_ = key;
    return domains_;
  }

  // The kernel's part of a config, after every name and value was found in a domain.
  std::vector<hm_param> own_config(std::uint32_t index, const hm_problem& problem,
                                   plug::Params config) {
    std::vector<hm_param> own;
    if (config.empty()) return own;
    plug::reject_outside(domains_of(index, problem), config);
    for (const hm_param& param : config) {
      if (std::string_view(param.name) != "threads") own.push_back(param);
    }
    return own;
  }

  hm_cpu::Device device_;
  std::string domains_key_;
  std::vector<plug::Domain> domains_;
};

hm_cpu::Isa ceiling_of(plug::Params options) {
  constexpr auto highest = static_cast<std::int64_t>(hm_cpu::Isa::amx);
  const std::int64_t value = plug::param_or(options, "isa", highest);
  if (value < 0 || value > highest) {
    plug::unsupported("isa ceiling " + std::to_string(value) +
                      ": 0 none, 1 avx2, 2 avx512_core, 3 avx512_core_vnni, "
                      "4 avx512_core_bf16, 5 avx512_core_amx");
  }
  return static_cast<hm_cpu::Isa>(value);
}

class Backend {
 public:
  using Device = DeviceHandle;
  using Prepared = PreparedHandle;
#ifdef HALMARK_CPU_MPI
  using Comm = hm_cpu::Comm;
#endif
  static constexpr const char* name = "cpu";
  static constexpr const char* version = HALMARK_CPU_VERSION;
  static constexpr const char* build =
      "compiler " __VERSION__ "; oneDNN " HM_CPU_STRING(DNNL_VERSION_MAJOR) "." HM_CPU_STRING(
          DNNL_VERSION_MINOR) "." HM_CPU_STRING(DNNL_VERSION_PATCH) "; OpenMP " HM_CPU_STRING(
          _OPENMP) "; " HALMARK_CPU_BUILD;

#ifdef HALMARK_CPU_MPI
  // A group is a part of mpirun's ranks, and known by the first of them.
  std::uint32_t comm_token(void* token, std::uint32_t capacity) const {
    const std::string rank = hm_cpu::Comm::own_rank();
    if (rank.size() > capacity) return 0;
    std::memcpy(token, rank.data(), rank.size());
    return static_cast<std::uint32_t>(rank.size());
  }
#endif

  std::uint32_t device_count() const { return 1; }

  void describe(std::uint32_t, hm_device_info& info) const {
    info.kind = HM_DEVICE_CPU;
    info.timer = HM_TIMER_HOST_CLOCK;
    info.flags = HM_DEVICE_SYNCHRONOUS | HM_DEVICE_UNIFIED_MEMORY;
    plug::copy_text(info.id, "0");
    plug::copy_text(info.name, hm_cpu::processor_name());
    plug::copy_text(info.isa, hm_cpu::isa_label(hm_cpu::detect_isa()));
    const std::string refused = hm_cpu::refused_units();
    plug::copy_text(info.driver,
                    "oneDNN " + hm_cpu::onednn_version() + (refused.empty() ? "" : "; " + refused));
    info.memory_bytes = sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
    info.cache_bytes = cache_bytes(_SC_LEVEL3_CACHE_SIZE, 3, 0);
    info.compute_units = cpus_allowed();
    info.clock_hz_max = clock_hz_max();
  }

  std::unique_ptr<DeviceHandle> open(std::uint32_t, plug::Params options) const {
    plug::reject_unknown(options, {"threads", "isa"});
    const int cpus = cpus_allowed();
    const std::int64_t threads = plug::param_or(options, "threads", cpus);
    if (threads < 1 || threads > 4 * cpus) {
      plug::unsupported("threads " + std::to_string(threads) + " on " + std::to_string(cpus) +
                        " processors");
    }
    hm_cpu::Device device;
    device.threads = static_cast<int>(threads);
    device.isa = hm_cpu::limit_onednn(ceiling_of(options));
    device.l2_bytes = cache_bytes(_SC_LEVEL2_CACHE_SIZE, 2, device.l2_bytes);
    device.last_level_bytes = cache_bytes(_SC_LEVEL3_CACHE_SIZE, 3, device.last_level_bytes);
    return std::make_unique<DeviceHandle>(device);
  }

  std::uint32_t kernel_count() const {
    return static_cast<std::uint32_t>(hm_cpu::kernel_table().size());
  }

  void describe_kernel(std::uint32_t index, hm_kernel_info& info) const {
    const hm_cpu::Kernel& kernel = *hm_cpu::kernel_table()[index];
    info.flags = kernel.is_collective() ? HM_KERNEL_COLLECTIVE : 0;
    plug::copy_text(info.name, kernel.name());
    plug::copy_text(info.op, kernel.op());
  }
};

}  // namespace

HM_PLUGIN(Backend);
