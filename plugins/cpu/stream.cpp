// copy and fma: the memory bandwidth and the vector peak of a device.
#include <algorithm>
#include <cstring>

#include "simd/simd.hpp"

namespace hm_cpu {
namespace {

constexpr std::int64_t line_bytes = 64;

class Copy : public Prepared {
 public:
  Copy(std::int64_t bytes, bool streams, const SimdLoops& simd)
      : bytes_(bytes), stream_(streams ? simd.streams->copy : nullptr) {
    operands = {{"src", HM_ROLE_INPUT, HM_DTYPE_U8, {bytes}, 0, ""},
                {"dst", HM_ROLE_OUTPUT, HM_DTYPE_U8, {bytes}, 0, ""}};
    const std::string key(isa_key(simd.isa));
    info.implementation =
        stream_ == nullptr ? "memcpy" : "halmark:stream_copy:" + (key.empty() ? "generic" : key);
    info.isa = stream_ == nullptr ? "" : key;
  }

  void run(void* const* buffers, void*) override {
    constexpr std::int64_t serial_bytes_max = 64 << 10;
    const std::int64_t lines = bytes_ / line_bytes;
    const std::int64_t parts = bytes_ <= serial_bytes_max ? 1 : threads;
#pragma omp parallel for num_threads(static_cast <int>(parts)) if (parts > 1) schedule(static)
    for (std::int64_t part = 0; part < parts; ++part) {
      const std::int64_t begin = lines * part / parts * line_bytes;
      const std::int64_t end = part + 1 == parts ? bytes_ : lines * (part + 1) / parts * line_bytes;
      copy(static_cast<const char*>(buffers[0]) + begin, static_cast<char*>(buffers[1]) + begin,
           end - begin);
    }
  }

 private:
  void copy(const char* from, char* to, std::int64_t bytes) const {
    // Memory that the host wraps may start anywhere; streaming stores may not.
    const bool is_aligned = reinterpret_cast<std::uintptr_t>(to) % line_bytes == 0;
    const bool streams = stream_ != nullptr && is_aligned;
    const std::int64_t whole = streams ? bytes / line_bytes * line_bytes : 0;
    if (whole > 0) stream_(from, to, whole);
    if (whole < bytes)
      std::memcpy(to + whole, from + whole, static_cast<std::size_t>(bytes - whole));
  }

  std::int64_t bytes_;
  void (*stream_)(const void*, void*, std::int64_t);
};

// Stores that bypass the caches save the read of dst, but only pay where dst does not fit them.
class CopyKernel : public Kernel {
 public:
  std::string_view name() const override { return "copy"; }
  std::string_view op() const override { return "copy"; }

  std::vector<Domain> domains(const Device& device, const Params& params) const override {
    if (simd_loops(device.isa).streams->copy == nullptr) return {};
    return {
        domain::ordered("streaming", {0, 1}, streams_by_default(device, params.extent("bytes")))};
  }
  void require_support(const Device&, const Params& params, const Params&) const override {
    reject_unknown(params, {"bytes"});
    params.extent("bytes");
  }
  std::unique_ptr<Prepared> prepare(const Device& device, const Params& params,
                                    const Params& config, Comm*) const override {
    const std::int64_t bytes = params.extent("bytes");
    const bool streams = config.value_or("streaming", streams_by_default(device, bytes)) == 1;
    return std::make_unique<Copy>(bytes, streams, simd_loops(device.isa));
  }

 private:
  static std::int64_t streams_by_default(const Device& device, std::int64_t bytes) {
    return 2 * bytes > device.last_level_bytes ? 1 : 0;
  }
};

class Fma : public Prepared {
 public:
  Fma(std::int64_t lanes, std::int64_t iterations, std::int32_t dtype, const SimdLoops& simd)
      : lanes_(lanes), iterations_(iterations), dtype_(dtype), loops_(*simd.streams) {
    operands = {{"x", HM_ROLE_INPUT, dtype, {lanes}, 0, ""},
                {"dst", HM_ROLE_OUTPUT, dtype, {lanes}, 0, ""}};
    const std::string key(isa_key(simd.isa));
    info.implementation =
        "halmark:fma_" + std::string(dtype_name(dtype)) + ':' + (key.empty() ? "generic" : key);
    info.isa = key;
  }

  void run(void* const* buffers, void*) override {
    const bool is_large = lanes_ * iterations_ > 100000;
    const std::int64_t parts = is_large ? std::min<std::int64_t>(threads, lanes_) : 1;
#pragma omp parallel for num_threads(static_cast <int>(parts)) if (parts > 1) schedule(static)
    for (std::int64_t part = 0; part < parts; ++part) {
      const std::int64_t begin = lanes_ * part / parts, end = lanes_ * (part + 1) / parts;
      if (dtype_ == HM_DTYPE_F64) {
        loops_.fma_f64(static_cast<const double*>(buffers[0]) + begin,
                       static_cast<double*>(buffers[1]) + begin, end - begin, iterations_);
      } else {
        loops_.fma_f32(static_cast<const float*>(buffers[0]) + begin,
                       static_cast<float*>(buffers[1]) + begin, end - begin, iterations_);
      }
    }
  }

 private:
  std::int64_t lanes_, iterations_;
  std::int32_t dtype_;
  const StreamLoops& loops_;
};

class FmaKernel : public Kernel {
 public:
  std::string_view name() const override { return "fma"; }
  std::string_view op() const override { return "fma"; }
  void require_support(const Device&, const Params& params, const Params&) const override {
    reject_unknown(params, {"lanes", "iterations", "dtype"});
    params.extent("lanes");
    params.extent("iterations");
    const std::int32_t dtype = params.dtype("dtype");
    if (dtype != HM_DTYPE_F32 && dtype != HM_DTYPE_F64) unsupported("fma of f32 and f64 only");
  }
  std::unique_ptr<Prepared> prepare(const Device& device, const Params& params, const Params&,
                                    Comm*) const override {
    return std::make_unique<Fma>(params.extent("lanes"), params.extent("iterations"),
                                 params.dtype("dtype"), simd_loops(device.isa));
  }
};

}  // namespace

const Kernel& copy_kernel() {
  static const CopyKernel kernel;
  return kernel;
}

const Kernel& fma_kernel() {
  static const FmaKernel kernel;
  return kernel;
}

}  // namespace hm_cpu
