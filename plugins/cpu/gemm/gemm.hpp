// The gemm problem as both gemm kernels read it.
#pragma once

#include "kernel.hpp"

namespace hm_cpu {

// dst[m,n] = src[m,k] wei[k,n]; wei is stored [n,k] when wei_trans.
struct GemmProblem {
  std::int64_t m = 0, n = 0, k = 0;
  std::int32_t src_dtype = 0, wei_dtype = 0, dst_dtype = 0;
  bool wei_trans = false;
};

// unsupported() for combinations other than f32, bf16 -> bf16|f32, f16 -> f16|f32, s8 -> s32.
void require_gemm_dtypes(const GemmProblem& problem);
GemmProblem gemm_problem(const Params& params);
std::vector<Operand> gemm_operands(const GemmProblem& problem);

}  // namespace hm_cpu
