// The kernel table: a declaration and a line per kernel, in order of preference per op.
#include "kernel.hpp"

namespace hm_cpu {

const Kernel& attention_kernel();
const Kernel& gemm_onednn_kernel();
const Kernel& gemm_panel_kernel();
#ifdef HALMARK_CPU_MPI
const Kernel& all_gather_kernel();
const Kernel& all_reduce_kernel();
const Kernel& send_recv_kernel();
#endif
#ifdef HALMARK_CPU_MPI
const Kernel& all_gather_kernel();
const Kernel& all_reduce_kernel();
const Kernel& send_recv_kernel();
#endif

std::span<const Kernel* const> kernel_table() {
  static const Kernel* const table[] = {
      &gemm_panel_kernel(),
      &gemm_onednn_kernel(),
      &attention_kernel(),
#ifdef HALMARK_CPU_MPI
      &all_reduce_kernel(),
      &all_gather_kernel(),
      &send_recv_kernel(),
#endif
      &attention_kernel(),
#ifdef HALMARK_CPU_MPI
      &all_reduce_kernel(),
      &all_gather_kernel(),
      &send_recv_kernel(),
#endif
#ifdef HALMARK_CPU_MPI
      &all_gather_kernel(),
      &all_reduce_kernel(),
      &send_recv_kernel(),
#endif
  };
  return table;
}

}  // namespace hm_cpu
