// The ABI side of the OpenVINO backend: the devices that the runtime reports, host memory,
// synchronous inferences. Everything that computes is a graph of the table.
#include <halmark_plugin.hpp>

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "compiled.hpp"
#include "kernel.hpp"

namespace {

using namespace hm_openvino;

int cpus_allowed() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  return std::max(1, CPU_COUNT(&set));
}

class PreparedHandle {
 public:
  PreparedHandle(const Runtime& runtime, const Kernel& kernel, const plug::Params& problem,
                 const CompileOptions& options)
      : runtime_(runtime),
        operands_(kernel.operands(problem)),
        pointers_(operands_.size()),
        graph_(kernel.name),
        options_(options) {
    kernel.build(problem, graph_);
    implementation_ = std::string(kernel.name) + " compiled for " + options.device + " in " +
                      std::string(plug::dtype_name(options.precision));
    // Weights are part of the compiled model: with them it is compiled once per argument set.
    if (graph_.weight_places().empty()) compile(graph_.blob());
  }

  void info(hm_prepared_info& out) const {
    plug::PreparedInfo info{.implementation = implementation_,
                            .isa = "",
                            .library = "OpenVINO",
                            .library_version = runtime_.version(),
                            .flags = HM_PREPARED_ALLOCATES_INSIDE};
    if (!graph_.weight_places().empty()) info.flags |= HM_PREPARED_CONSTANTS_IN_PREPARED;
    plug::describe(info, operands_, out);
  }

  void operand(std::uint32_t index, hm_operand& out) const {
    plug::describe(operands_[index], out);
  }

  void enqueue(plug::SynchronousStream&, const hm_launch& launch) {
    if (!compiled_) plug::invalid("executed before load_constants gave the weights");
    for (std::uint32_t set = 0; set < launch.set_count; ++set) {
      require_operands(launch.sets[set].buffers, launch.sets[set].count, false);
    }
    plug::for_each_execution(launch, [&](const hm_arguments& set) {
      for (std::uint32_t i = 0; i < set.count; ++i) {
        pointers_[i] = plug::object_of<plug::HostBuffer>(set.buffers[i]).data();
      }
      compiled_->infer(operands_, pointers_);
    });
  }

  void load_constants(plug::SynchronousStream&, const hm_arguments& arguments) {
    if (arguments.sources == nullptr) plug::invalid("load_constants needs sources");
    require_operands(arguments.sources, arguments.count, true);
    std::vector<char> blob = graph_.blob();
    for (const WeightPlace& place : graph_.weight_places()) {
      std::memcpy(blob.data() + place.offset, plug::host_source<char>(arguments, place.operand),
                  place.bytes);
    }
    compile(std::move(blob));
  }

 private:
  void compile(std::vector<char> blob) {
    compiled_.reset();
    compiled_.emplace(runtime_, graph_, std::move(blob), options_);
  }

  void require_operands(hm_buffer* const* buffers, std::uint32_t count, bool constants) const {
    if (count != operands_.size()) plug::invalid("a set needs one buffer per operand");
    for (std::uint32_t i = 0; i < count; ++i) {
      if ((operands_[i].role == HM_ROLE_CONSTANT) != constants) continue;
      if (buffers[i] != nullptr && plug::object_of<plug::HostBuffer>(buffers[i]).bytes() >=
                                       plug::plain_bytes(operands_[i])) {
        continue;
      }
      plug::invalid("buffer of '" + operands_[i].name + "' is missing or too short");
    }
  }

  const Runtime& runtime_;
  std::vector<plug::Operand> operands_;
  std::vector<void*> pointers_;  // of one execution; kept, so that none allocates
  Graph graph_;
  CompileOptions options_;
  std::string implementation_;
  std::optional<CompiledGraph> compiled_;
};

class DeviceHandle {
 public:
  DeviceHandle(const Runtime& runtime, std::string device, int threads)
      : runtime_(runtime), device_(std::move(device)), threads_(threads) {
    const std::string capabilities = runtime.property(device_, "OPTIMIZATION_CAPABILITIES");
    const auto lacks = [&](const char* type) {
      return device_ == "CPU" && !capabilities.empty() &&
             capabilities.find(type) == std::string::npos;
    };
    truncates_to_bf16_ = lacks("BF16");
    narrows_f16_ = lacks("FP16");
  }

  std::vector<plug::Domain> domains(std::uint32_t index, const hm_problem& problem) const {
    require_operands(at(index, problem), problem);
    return own_domains();
  }

  void require_support(std::uint32_t index, const hm_problem& problem, plug::Params config) const {
    require_operands(at(index, problem), problem);
    plug::reject_outside(own_domains(), config);
  }

  std::unique_ptr<PreparedHandle> prepare(std::uint32_t index, const hm_problem& problem,
                                          plug::Params config) const {
    const Kernel& kernel = at(index, problem);
    require_operands(kernel, problem);
    const CompileOptions options{
        .device = device_,
        .precision = precision_of(kernel, problem),
        .threads = static_cast<int>(plug::param_or(config, "threads", threads_))};
    return std::make_unique<PreparedHandle>(runtime_, kernel, problem, options);
  }

 private:
  static const Kernel& at(std::uint32_t index, const hm_problem& problem) {
    const Kernel& kernel = kernel_table()[index];
    if (std::string_view(kernel.op) != problem.op) {
      plug::unsupported("kernel '" + std::string(kernel.name) + "' implements op '" + kernel.op +
                        "'");
    }
    return kernel;
  }

  // A CPU without f16 instructions that was asked for f16 computes in bf16, where it has that: f32
  // keeps to the contract.
  std::int32_t precision_of(const Kernel& kernel, const hm_problem& problem) const {
    const std::int32_t precision = kernel.precision(problem);
    return precision == HM_DTYPE_F16 && narrows_f16_ ? HM_DTYPE_F32 : precision;
  }

  // Results of the CPU device are cut to bf16, not rounded, where no instruction rounds them.
  void require_operands(const Kernel& kernel, const hm_problem& problem) const {
    const auto is_cut = [](const plug::Operand& o) {
      return o.role == HM_ROLE_OUTPUT && o.dtype == HM_DTYPE_BF16;
    };
    if (std::ranges::any_of(kernel.operands(problem), is_cut) && truncates_to_bf16_) {
      plug::unsupported("the runtime truncates to bf16 on a processor without bf16 instructions");
    }
  }

  // Only the CPU device has threads to choose: powers of two below the part's own count.
  std::vector<plug::Domain> own_domains() const {
    if (device_ != "CPU") return {};
    std::vector<std::int64_t> counts;
    for (std::int64_t n = 1; n < threads_; n *= 2) counts.push_back(n);
    counts.push_back(threads_);
    return {plug::domain::ordered("threads", counts, threads_)};
  }

  const Runtime& runtime_;
  std::string device_;
  int threads_;
  bool truncates_to_bf16_ = false, narrows_f16_ = false;
};

std::int32_t kind_of(const std::string& device) {
  if (device == "CPU") return HM_DEVICE_CPU;
  if (device.starts_with("GPU")) return HM_DEVICE_GPU;
  return device.starts_with("NPU") ? HM_DEVICE_NPU : HM_DEVICE_OTHER;
}

std::int64_t number(const std::string& text) { return std::atoll(text.c_str()); }

class Backend {
 public:
  using Device = DeviceHandle;
  using Prepared = PreparedHandle;
  static constexpr const char* name = "openvino";
  static constexpr const char* version = HALMARK_OPENVINO_PLUGIN_VERSION;
  static constexpr const char* build =
      "compiler " __VERSION__ "; OpenVINO C API at run time; " HALMARK_OPENVINO_BUILD;

  explicit Backend(const hm_host& host) {
    std::string absence;
    runtime_ = Runtime::load(absence);
    if (device_count() == 0) plug::log(host, HM_LOG_INFO, absence);
  }

  std::uint32_t device_count() const {
    return runtime_ == nullptr ? 0 : static_cast<std::uint32_t>(runtime_->devices().size());
  }

  void describe(std::uint32_t index, hm_device_info& info) const {
    const std::string& device = runtime_->devices()[index];
    info.kind = kind_of(device);
    info.timer = HM_TIMER_HOST_CLOCK;
    info.flags = HM_DEVICE_SYNCHRONOUS;
    // Numbers, as of other backends: 0 is what is taken where no device is named.
    plug::copy_text(info.id, std::to_string(index));
    plug::copy_text(info.name, device + ", " + runtime_->property(device, "FULL_DEVICE_NAME"));
    plug::copy_text(info.driver, "OpenVINO " + runtime_->version());
    if (info.kind == HM_DEVICE_CPU) {
      info.flags |= HM_DEVICE_UNIFIED_MEMORY;
      info.memory_bytes = ::sysconf(_SC_PHYS_PAGES) * ::sysconf(_SC_PAGESIZE);
      info.cache_bytes = std::max(0L, ::sysconf(_SC_LEVEL3_CACHE_SIZE));
      info.compute_units = cpus_allowed();
    } else if (info.kind == HM_DEVICE_GPU) {
      info.memory_bytes = number(runtime_->property(device, "GPU_DEVICE_TOTAL_MEM_SIZE"));
      info.compute_units = number(runtime_->property(device, "GPU_EXECUTION_UNITS_COUNT"));
    }
  }

  std::unique_ptr<DeviceHandle> open(std::uint32_t index, plug::Params options) const {
    plug::reject_unknown(options, {"threads"});
    const int cpus = cpus_allowed();
    const std::int64_t threads = plug::param_or(options, "threads", cpus);
    if (threads < 1 || threads > 4 * cpus) {
      plug::unsupported("threads " + std::to_string(threads) + " on " + std::to_string(cpus) +
                        " processors");
    }
    return std::make_unique<DeviceHandle>(*runtime_, runtime_->devices()[index],
                                          static_cast<int>(threads));
  }

  std::uint32_t kernel_count() const { return static_cast<std::uint32_t>(kernel_table().size()); }

  void describe_kernel(std::uint32_t index, hm_kernel_info& info) const {
    plug::copy_text(info.name, kernel_table()[index].name);
    plug::copy_text(info.op, kernel_table()[index].op);
  }

 private:
  std::unique_ptr<Runtime> runtime_;
};

}  // namespace

HM_PLUGIN(Backend);
