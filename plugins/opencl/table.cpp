#include <array>

#include "kernel.hpp"

namespace hm_opencl {

const Kernel& gemm_kernel();
const Kernel& copy_kernel();
const Kernel& fma_kernel();

std::span<const Kernel* const> kernel_table() {
  static const std::array<const Kernel*, 3> table{&gemm_kernel(), &copy_kernel(), &fma_kernel()};
  return table;
}

void specialise(OpenedDevice& device, const Launch& launch) {
  translated([&] {
    launch.enqueue(device.transfers, nullptr);
    device.transfers.finish();
  });
}

}  // namespace hm_opencl
