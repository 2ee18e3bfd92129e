#include "kernel.hpp"

#include <array>

namespace hm_cuda {

const Kernel& activation_kernel();
const Kernel& attention_decode_kernel();
const Kernel& attention_plain_kernel();
const Kernel& attention_prefill_kernel();
const Kernel& copy_kernel();
const Kernel& dequantize_kernel();
const Kernel& embedding_kernel();
const Kernel& fma_kernel();
const Kernel& gated_activation_kernel();
const Kernel& gemm_kernel();
const Kernel& grouped_gemm_kernel();
const Kernel& grouped_gemm_plain_kernel();
const Kernel& layernorm_kernel();
const Kernel& moe_combine_kernel();
const Kernel& moe_dispatch_kernel();
const Kernel& moe_route_kernel();
const Kernel& quantize_kernel();
const Kernel& residual_add_kernel();
const Kernel& rmsnorm_kernel();
const Kernel& rope_kernel();
const Kernel& softmax_kernel();

// Kernels of one op stand in order of preference.
std::span<const Kernel* const> kernel_table() {
  static const std::array table{&gemm_kernel(),
                                &grouped_gemm_kernel(),
                                &grouped_gemm_plain_kernel(),
                                &moe_route_kernel(),
                                &moe_dispatch_kernel(),
                                &moe_combine_kernel(),
                                &attention_decode_kernel(),
                                &attention_prefill_kernel(),
                                &attention_plain_kernel(),
                                &rmsnorm_kernel(),
                                &layernorm_kernel(),
                                &softmax_kernel(),
                                &rope_kernel(),
                                &activation_kernel(),
                                &gated_activation_kernel(),
                                &residual_add_kernel(),
                                &embedding_kernel(),
                                &quantize_kernel(),
                                &dequantize_kernel(),
                                &copy_kernel(),
                                &fma_kernel()};
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
