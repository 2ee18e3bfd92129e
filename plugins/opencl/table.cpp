#include <array>
#include <halmark_judged.hpp>

#include "kernel.hpp"

namespace hm_opencl {

const Kernel& gemm_blocked_kernel();
const Kernel& gemm_tiled_kernel();
const Kernel& copy_kernel();
const Kernel& fma_kernel();
const Kernel& judged_kernel();
const Kernel& attention_kernel();
std::span<const Kernel* const> row_kernels();
std::span<const Kernel* const> pointwise_kernels();

namespace {

// Of the kernels of one op the first that takes a problem is its default.
std::vector<const Kernel*> all_kernels() {
  std::vector<const Kernel*> all{&gemm_blocked_kernel(), &gemm_tiled_kernel(), &attention_kernel(),
                                 &copy_kernel(), &fma_kernel()};
  const auto rows = row_kernels(), pointwise = pointwise_kernels();
  all.insert(all.end(), rows.begin(), rows.end());
  all.insert(all.end(), pointwise.begin(), pointwise.end());
  return all;
}

}  // namespace

std::span<const Kernel* const> kernel_table() {
  static const std::vector<const Kernel*> table = all_kernels();
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
