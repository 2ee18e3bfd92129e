#include <array>
#include <halmark_judged.hpp>

#include "kernel.hpp"

namespace hm_opencl {

const Kernel& gemm_kernel();
const Kernel& copy_kernel();
const Kernel& fma_kernel();
const Kernel& judged_kernel();

std::span<const Kernel* const> kernel_table() {
  static const std::array<const Kernel*, 3> table{&gemm_kernel(), &copy_kernel(), &fma_kernel()};
  // A file that carries a kernel has nothing else: who wrote that one measures no other.
  static const std::array<const Kernel*, 1> judged{&judged_kernel()};
  if (plug::judged::carried().is_there()) return judged;
  return table;
}

void specialise(OpenedDevice& device, const Launch& launch) {
  translated([&] {
    launch.enqueue(device.transfers, nullptr);
    device.transfers.finish();
  });
}

}  // namespace hm_opencl
