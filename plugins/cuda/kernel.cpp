#include "kernel.hpp"

#include <array>
#include <halmark_judged.hpp>

namespace hm_cuda {

const Kernel& activation_kernel();
const Kernel& all_gather_kernel();
const Kernel& all_reduce_kernel();
const Kernel& all_to_all_kernel();
const Kernel& attention_decode_kernel();
const Kernel& attention_plain_kernel();
const Kernel& attention_prefill_kernel();
const Kernel& attention_wgmma_kernel();
const Kernel& broadcast_kernel();
const Kernel& copy_kernel();
const Kernel& dequantize_kernel();
const Kernel& embedding_kernel();
const Kernel& fma_kernel();
const Kernel& gated_activation_kernel();
const Kernel& gemm_kernel();
const Kernel& grouped_gemm_kernel();
const Kernel& grouped_gemm_plain_kernel();
const Kernel& judged_kernel();
const Kernel& layernorm_kernel();
const Kernel& moe_combine_kernel();
const Kernel& moe_dispatch_kernel();
const Kernel& moe_route_kernel();
const Kernel& quantize_kernel();
const Kernel& reduce_scatter_kernel();
const Kernel& residual_add_kernel();
const Kernel& rmsnorm_kernel();
const Kernel& rope_kernel();
const Kernel& send_recv_kernel();
const Kernel& softmax_kernel();

// Kernels of one op stand in order of preference.
std::span<const Kernel* const> kernel_table() {
  static const std::array table{
      // products
      &gemm_kernel(), &grouped_gemm_kernel(), &grouped_gemm_plain_kernel(),
      // attention
      &attention_decode_kernel(), &attention_wgmma_kernel(), &attention_prefill_kernel(),
      &attention_plain_kernel(),
      // routing
      &moe_route_kernel(), &moe_dispatch_kernel(), &moe_combine_kernel(),
      // rows
      &rmsnorm_kernel(), &layernorm_kernel(), &softmax_kernel(), &rope_kernel(),
      &activation_kernel(), &gated_activation_kernel(), &residual_add_kernel(), &embedding_kernel(),
      &quantize_kernel(), &dequantize_kernel(),
      // the device's own limits
      &copy_kernel(), &fma_kernel(),
      // between devices
      &all_reduce_kernel(), &all_gather_kernel(), &reduce_scatter_kernel(), &all_to_all_kernel(),
      &broadcast_kernel(), &send_recv_kernel()};
  // A file that carries a kernel has nothing else: who wrote that one measures no other.
  static const std::array judged{&judged_kernel()};
  if (plug::judged::carried().is_there()) return judged;
  return table;
}

std::unique_ptr<Prepared> Kernel::prepare_in(OpenedDevice&, plug::Params, const Comm&) const {
  throw plug::failure(HM_INTERNAL, std::string(op()) + " is no collective");
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
