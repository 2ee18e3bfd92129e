#include "kernel.hpp"

#include <array>

namespace hm_cuda {

const Kernel& gemm_kernel();
const Kernel& copy_kernel();
const Kernel& fma_kernel();

std::span<const Kernel* const> kernel_table() {
  static const std::array<const Kernel*, 3> table{&gemm_kernel(), &copy_kernel(), &fma_kernel()};
  return table;
}

std::uint64_t Prepared::bytes_of(std::uint32_t operand) const {
  hm_operand plain{};
  const Operand& own = operands[operand];
  plug::plain_operand(plain, own.name, own.role, own.dtype, own.dims);
  return plain.bytes;
}

void Prepared::load_constant(cudaStream_t stream, std::uint32_t operand, const void* plain,
                             void* packed) {
  check(cudaMemcpyAsync(packed, plain, bytes_of(operand), cudaMemcpyDeviceToDevice, stream),
        "a copy of constants");
}

}  // namespace hm_cuda
