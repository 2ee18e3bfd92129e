// What both kernels of gemm ask of a problem.
#pragma once

#include "elements.hpp"

namespace hm_opencl {

// dst[m,n] = src[m,k] wei[k,n], or wei[n,k] where `is_turned`.
struct GemmProblem {
  // Throws what is unsupported.
  explicit GemmProblem(plug::Params problem);
  // src, wei (plain), dst
  std::vector<Operand> operands() const;

  std::int64_t m, n, k;
  std::int32_t src, dst;
  bool is_turned;
};

}  // namespace hm_opencl
