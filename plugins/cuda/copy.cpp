// Memory bandwidth: an own kernel, or the driver's copy.
#include "kernel.hpp"
#include "kernels.hpp"

namespace hm_cuda {
namespace {

constexpr std::int64_t by_kernel = 0, by_driver = 1;

class PreparedCopy : public Prepared {
 public:
  PreparedCopy(std::int64_t bytes, bool uses_driver)
      : bytes_(static_cast<std::uint64_t>(bytes)), uses_driver_(uses_driver) {
    operands = {{"src", HM_ROLE_INPUT, HM_DTYPE_U8, {bytes}},
                {"dst", HM_ROLE_OUTPUT, HM_DTYPE_U8, {bytes}}};
    implementation = uses_driver ? "cudaMemcpyAsync" : "copy_vector16";
  }

  void enqueue(cudaStream_t stream, Buffers buffers, void*) override {
    const void* src = address_of(buffers[0]);
    void* dst = address_of(buffers[1]);
    check(uses_driver_ ? cudaMemcpyAsync(dst, src, bytes_, cudaMemcpyDeviceToDevice, stream)
                       : launch_copy(stream, src, dst, bytes_),
          "a copy");
  }

 private:
  std::uint64_t bytes_;
  bool uses_driver_;
};

class Copy : public Kernel {
 public:
  std::string_view name() const override { return "copy"; }
  std::string_view op() const override { return "copy"; }

  void require_support(OpenedDevice&, plug::Params problem) const override {
    plug::reject_unknown(problem, {"bytes"});
    if (plug::require_param(problem, "bytes") < 1) unsupported("copy of nothing");
  }

  std::vector<plug::Domain> domains(OpenedDevice&, plug::Params) const override {
    return {plug::domain::categorical("method", {"kernel", "driver"}, by_kernel)};
  }

  std::unique_ptr<Prepared> prepare(OpenedDevice&, plug::Params problem,
                                    plug::Params config) const override {
    return std::make_unique<PreparedCopy>(plug::require_param(problem, "bytes"),
                                          plug::param_or(config, "method", by_kernel) == by_driver);
  }
};

}  // namespace

const Kernel& copy_kernel() {
  static const Copy kernel;
  return kernel;
}

}  // namespace hm_cuda
