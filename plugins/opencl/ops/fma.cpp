// The vector peak: chains of multiply-adds in registers.
#include "fma_source.hpp"
#include "kernel.hpp"

namespace hm_opencl {
namespace {

constexpr std::size_t group_items = 64;
constexpr std::int64_t default_lanes_per_item = 8;

const char* options_of(std::int64_t dtype) {
  switch (dtype) {
    case HM_DTYPE_F32:
      return "-DT=float";
    case HM_DTYPE_F64:
      return "-DT=double -DNEEDS_FP64";
    case HM_DTYPE_F16:
      return "-DT=half -DNEEDS_FP16";
    default:
      return nullptr;
  }
}

class PreparedFma : public Prepared {
 public:
  PreparedFma(OpenedDevice& device, std::int64_t lanes, std::int64_t iterations, std::int32_t dtype,
              std::int64_t lanes_per_item) {
    operands = {{"x", HM_ROLE_INPUT, dtype, {lanes}}, {"dst", HM_ROLE_OUTPUT, dtype, {lanes}}};
    const std::string options = std::string(options_of(dtype)) +
                                " -DLANES=" + std::to_string(lanes_per_item) + " -cl-std=CL1.2";
    implementation = "multiply_add " + options;
    const std::size_t group = std::min(group_items, device.limits.work_group_items);
    const auto items = static_cast<std::size_t>((lanes + lanes_per_item - 1) / lanes_per_item);
    translated([&] {
      launch_.kernel = cl::Kernel(device.program(fma_source, options), "multiply_add");
      launch_.local = cl::NDRange(group);
      launch_.global = cl::NDRange(round_up(items, group));
      set_sizes(0, 0);
      for (cl_uint i = 0; i < 2; ++i) launch_.kernel.setArg(2 + i, cl::Buffer());
    });
    specialise(device, launch_);
    translated([&] { set_sizes(static_cast<cl_ulong>(lanes), static_cast<cl_ulong>(iterations)); });
  }

  void enqueue(cl::CommandQueue& queue, Buffers buffers, cl::Event* event) override {
    for (cl_uint i = 0; i < 2; ++i) launch_.kernel.setArg(2 + i, memory_of(buffers[i]));
    launch_.enqueue(queue, event);
  }

 private:
  void set_sizes(cl_ulong lanes, cl_ulong iterations) {
    launch_.kernel.setArg(0, lanes);
    launch_.kernel.setArg(1, iterations);
  }

  Launch launch_;
};

class Fma : public Kernel {
 public:
  std::string_view name() const override { return "multiply_add"; }
  std::string_view op() const override { return "fma"; }

  std::vector<plug::Domain> domains(const Limits&, plug::Params) const override {
    return {plug::domain::ordered("lanes_per_item", {1, 4, 8, 16}, default_lanes_per_item)};
  }

  void require_support(const Limits& limits, plug::Params problem, plug::Params) const override {
    plug::reject_unknown(problem, {"lanes", "iterations", "dtype"});
    const std::int64_t dtype = plug::require_param(problem, "dtype");
    if (options_of(dtype) == nullptr) unsupported("fma of this dtype; f32, f64 and f16");
    if (dtype == HM_DTYPE_F16 && !limits.has_fp16) {
      unsupported("f16: this device lacks cl_khr_fp16");
    }
    if (dtype == HM_DTYPE_F64 && !limits.has_fp64) {
      unsupported("f64: this device lacks cl_khr_fp64");
    }
    if (plug::require_param(problem, "lanes") < 1 ||
        plug::require_param(problem, "iterations") < 1) {
      unsupported("fma of nothing");
    }
  }

  std::unique_ptr<Prepared> prepare(OpenedDevice& device, plug::Params problem,
                                    plug::Params config) const override {
    return std::make_unique<PreparedFma>(
        device, plug::require_param(problem, "lanes"), plug::require_param(problem, "iterations"),
        problem.dtype("dtype"), plug::param_or(config, "lanes_per_item", default_lanes_per_item));
  }
};

}  // namespace

const Kernel& fma_kernel() {
  static const Fma kernel;
  return kernel;
}

}  // namespace hm_opencl
