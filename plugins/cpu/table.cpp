// The kernel table: a declaration and a line per kernel, in order of preference per op.
#include "kernel.hpp"

namespace hm_cpu {

const Kernel& activation_kernel();
const Kernel& attention_kernel();
const Kernel& copy_kernel();
const Kernel& dequantize_kernel();
const Kernel& embedding_kernel();
const Kernel& fma_kernel();
const Kernel& gated_activation_kernel();
const Kernel& layernorm_kernel();
const Kernel& quantize_kernel();
const Kernel& residual_add_kernel();
const Kernel& rmsnorm_kernel();
const Kernel& rope_kernel();
const Kernel& softmax_kernel();
const Kernel& gemm_onednn_kernel();
const Kernel& gemm_openblas_kernel();
const Kernel& gemm_panel_kernel();
const Kernel& grouped_gemm_onednn_kernel();
const Kernel& grouped_gemm_panel_kernel();
const Kernel& moe_combine_kernel();
const Kernel& moe_dispatch_kernel();
const Kernel& moe_route_kernel();
#ifdef HALMARK_CPU_MPI
const Kernel& all_gather_kernel();
const Kernel& all_reduce_kernel();
const Kernel& all_to_all_kernel();
const Kernel& broadcast_kernel();
const Kernel& reduce_scatter_kernel();
const Kernel& send_recv_kernel();
#endif

std::span<const Kernel* const> kernel_table() {
  static const Kernel* const table[] = {
      &gemm_panel_kernel(),
      &gemm_onednn_kernel(),
      &gemm_openblas_kernel(),
      &attention_kernel(),
      &activation_kernel(),
      &copy_kernel(),
      &dequantize_kernel(),
      &embedding_kernel(),
      &fma_kernel(),
      &gated_activation_kernel(),
      &layernorm_kernel(),
      &quantize_kernel(),
      &residual_add_kernel(),
      &rmsnorm_kernel(),
      &rope_kernel(),
      &softmax_kernel(),
      &grouped_gemm_panel_kernel(),
      &grouped_gemm_onednn_kernel(),
      &moe_combine_kernel(),
      &moe_dispatch_kernel(),
      &moe_route_kernel(),
#ifdef HALMARK_CPU_MPI
      &all_reduce_kernel(),
      &all_gather_kernel(),
      &reduce_scatter_kernel(),
      &all_to_all_kernel(),
      &broadcast_kernel(),
      &send_recv_kernel(),
#endif
  };
  return table;
}

}  // namespace hm_cpu
