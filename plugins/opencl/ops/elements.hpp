// Element types of this backend's kernels, and what all of them share on the host's side.
#pragma once

#include <string>
#include <vector>

#include "kernel.hpp"

namespace hm_opencl {

// "-DSRC_KIND=F32 -DDST_KIND=BF16": the types by the names that elements.cl has for them.
std::string kinds(std::int32_t src, std::int32_t dst);

// Refuses all but f32, bf16 and f16. 16-bit floats are storage, so no device lacks them.
void require_float(std::string_view op, std::int32_t dtype);

// "-DNAME=VALUE "
inline std::string define(std::string_view name, std::int64_t value) {
  return "-D" + std::string(name) + "=" + std::to_string(value) + " ";
}
// The same of a float, exactly.
std::string define(std::string_view name, double value);

// Kernels count in int, and a padded range must not overflow either.
void require_size(std::string_view what, std::int64_t size);

// What a launch needs beside its operands.
struct Plan {
  std::string source, options;
  const char* entry = "run";
  std::vector<std::int64_t> sizes;  // the first arguments, in order
  cl::NDRange global, local;
};

// One launch over the operands: the sizes are the first arguments, then the buffers. With sizes of
// 0 the kernel touches no memory, which is how it is specialised.
class Launched : public Prepared {
 public:
  Launched(OpenedDevice& device, Plan plan, std::vector<Operand> of);
  void enqueue(cl::CommandQueue& queue, Buffers buffers, cl::Event* event) override;

 private:
  Launch launch_;
  cl_uint first_buffer_;
};

// Compiles the plan's entry and runs it over nothing.
Launch launch_of(OpenedDevice& device, const Plan& plan, std::size_t buffers);

}  // namespace hm_opencl
