// The vector peak: chains of multiply-adds in registers.
#include "kernel.hpp"
#include "kernels.hpp"

namespace hm_cuda {
namespace {

constexpr std::int64_t default_lanes_per_thread = 8;

const char* name_of(std::int64_t dtype) {
  switch (dtype) {
    case HM_DTYPE_F32:
      return "f32";
    case HM_DTYPE_F64:
      return "f64";
    case HM_DTYPE_F16:
      return "f16";
    default:
      return nullptr;
  }
}

class PreparedFma : public Prepared {
 public:
  PreparedFma(std::int64_t lanes, std::int64_t iterations, std::int64_t dtype,
              std::int64_t lanes_per_thread)
      : lanes_(static_cast<std::uint64_t>(lanes)),
        iterations_(static_cast<std::uint64_t>(iterations)),
        dtype_(dtype),
        lanes_per_thread_(lanes_per_thread) {
    operands = {{"x", HM_ROLE_INPUT, dtype, {lanes}}, {"dst", HM_ROLE_OUTPUT, dtype, {lanes}}};
    implementation =
        "multiply_add_" + std::string(name_of(dtype)) + "_x" + std::to_string(lanes_per_thread);
  }

  void enqueue(cudaStream_t stream, Buffers buffers, void*) override {
    check(launch_multiply_add(stream, dtype_, lanes_per_thread_, address_of(buffers[0]),
                              address_of(buffers[1]), lanes_, iterations_),
          "multiply-adds");
  }

 private:
  std::uint64_t lanes_, iterations_;
  std::int64_t dtype_, lanes_per_thread_;
};

class Fma : public Kernel {
 public:
  std::string_view name() const override { return "multiply_add"; }
  std::string_view op() const override { return "fma"; }

  void require_support(OpenedDevice&, plug::Params problem) const override {
    plug::reject_unknown(problem, {"lanes", "iterations", "dtype"});
    if (name_of(plug::require_param(problem, "dtype")) == nullptr) {
      unsupported("fma of this dtype; f32, f64 and f16");
    }
    if (plug::require_param(problem, "lanes") < 1 ||
        plug::require_param(problem, "iterations") < 1) {
      unsupported("fma of nothing");
    }
  }

  std::vector<plug::Domain> domains(OpenedDevice&, plug::Params) const override {
    return {plug::domain::ordered("lanes_per_thread", {1, 4, 8, 16}, default_lanes_per_thread)};
  }

  std::unique_ptr<Prepared> prepare(OpenedDevice&, plug::Params problem,
                                    plug::Params config) const override {
    return std::make_unique<PreparedFma>(
        plug::require_param(problem, "lanes"), plug::require_param(problem, "iterations"),
        plug::require_param(problem, "dtype"),
        plug::param_or(config, "lanes_per_thread", default_lanes_per_thread));
  }
};

}  // namespace

const Kernel& fma_kernel() {
  static const Fma kernel;
  return kernel;
}

}  // namespace hm_cuda
