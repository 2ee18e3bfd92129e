#include "elements.hpp"

#include <cstdio>

namespace hm_opencl {
namespace {

const char* kind_of(std::int32_t dtype) {
  switch (dtype) {
    case HM_DTYPE_F32:
      return "F32";
    case HM_DTYPE_BF16:
      return "BF16";
    case HM_DTYPE_F16:
      return "F16";
    case HM_DTYPE_S8:
      return "S8";
    case HM_DTYPE_S32:
      return "S32";
    default:
      unsupported("elements of " + std::string(plug::dtype_name(dtype)));
  }
}

}  // namespace

std::string kinds(std::int32_t src, std::int32_t dst) {
  return std::string("-DSRC_KIND=") + kind_of(src) + " -DDST_KIND=" + kind_of(dst) + " ";
}

void require_float(std::string_view op, std::int32_t dtype) {
  if (dtype == HM_DTYPE_F32 || dtype == HM_DTYPE_BF16 || dtype == HM_DTYPE_F16) return;
  unsupported(std::string(op) + " takes f32, bf16 and f16, not " +
              std::string(plug::dtype_name(dtype)));
}

std::string define(std::string_view name, double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%af", static_cast<double>(static_cast<float>(value)));
  return "-D" + std::string(name) + "=" + text + " ";
}

void require_size(std::string_view what, std::int64_t size) {
  constexpr std::int64_t size_max = (std::int64_t{1} << 31) - (std::int64_t{1} << 16);
  if (size < 1 || size > size_max) {
    unsupported(std::string(what) + "=" + std::to_string(size) + "; from 1 to " +
                std::to_string(size_max));
  }
}

Launch launch_of(OpenedDevice& device, const Plan& plan, std::size_t buffers) {
  Launch launch;
  translated([&] {
    launch.kernel = cl::Kernel(device.program(plan.source, plan.options), plan.entry);
    launch.global = plan.global;
    launch.local = plan.local;
    cl_uint index = 0;
    for (; index < plan.sizes.size(); ++index) launch.kernel.setArg(index, cl_int{0});
    for (std::size_t i = 0; i < buffers; ++i) launch.kernel.setArg(index++, cl::Buffer());
  });
  specialise(device, launch);
  translated([&] {
    cl_uint index = 0;
    for (const std::int64_t size : plan.sizes) {
      launch.kernel.setArg(index++, static_cast<cl_int>(size));
    }
  });
  return launch;
}

Launched::Launched(OpenedDevice& device, Plan plan, std::vector<Operand> of)
    : launch_(launch_of(device, plan, of.size())),
      first_buffer_(static_cast<cl_uint>(plan.sizes.size())) {
  operands = std::move(of);
  implementation = std::move(plan.options);
}

void Launched::enqueue(cl::CommandQueue& queue, Buffers buffers, cl::Event* event) {
  for (cl_uint i = 0; i < operands.size(); ++i) {
    launch_.kernel.setArg(first_buffer_ + i, memory_of(buffers[i]));
  }
  launch_.enqueue(queue, event);
}

}  // namespace hm_opencl
