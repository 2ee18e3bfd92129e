// The grouped_gemm problem as its kernels read it.
#pragma once

#include "gemm.hpp"

namespace hm_cpu {

// dst[rows,n] = src[rows,k] times wei[experts,k,n] ([experts,n,k] when transposed) of the row's
// expert; rows are grouped by expert, as many of each as operand expert_rows says.
struct GroupedGemmProblem {
  std::int64_t rows = 0, experts = 0;  // of this rank
  GemmProblem gemm;                    // of one expert; m = rows per expert, rounded up
};

// unsupported() for the dtypes that gemm refuses.
GroupedGemmProblem grouped_gemm_problem(const Params& params);
std::vector<Operand> grouped_gemm_operands(const GroupedGemmProblem& problem);

// Rows of expert `expert`, cut to what is left after `first`: a wrong count must not leave dst.
std::int64_t group_rows(const GroupedGemmProblem& problem, const void* expert_rows,
                        std::int64_t expert, std::int64_t first);

}  // namespace hm_cpu
