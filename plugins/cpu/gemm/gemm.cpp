#include "gemm.hpp"

namespace hm_cpu {

void require_gemm_dtypes(const GemmProblem& problem) {
  const std::int32_t src = problem.src_dtype, dst = problem.dst_dtype;
  const bool offered = (src == HM_DTYPE_F32 && dst == HM_DTYPE_F32) ||
                       (src == HM_DTYPE_BF16 && (dst == HM_DTYPE_BF16 || dst == HM_DTYPE_F32)) ||
                       (src == HM_DTYPE_F16 && (dst == HM_DTYPE_F16 || dst == HM_DTYPE_F32)) ||
                       (src == HM_DTYPE_S8 && dst == HM_DTYPE_S32);
  if (!offered || problem.wei_dtype != src) {
    unsupported("gemm of " + std::string(dtype_name(src)) + " x " +
                std::string(dtype_name(problem.wei_dtype)) + " to " + std::string(dtype_name(dst)));
  }
}

GemmProblem gemm_problem(const Params& params) {
  reject_unknown(params, {"m", "n", "k", "src_dtype", "wei_dtype", "dst_dtype", "wei_trans"});
  GemmProblem problem;
  problem.m = params.extent("m");
  problem.n = params.extent("n");
  problem.k = params.extent("k");
  problem.src_dtype = params.dtype("src_dtype");
  problem.wei_dtype = params.dtype("wei_dtype");
  problem.dst_dtype = params.dtype("dst_dtype");
  const std::int64_t trans = params.value_or("wei_trans", 0);
  if (trans != 0 && trans != 1) unsupported("wei_trans must be 0 or 1");
  problem.wei_trans = trans == 1;
  require_gemm_dtypes(problem);
  return problem;
}

std::vector<Operand> gemm_operands(const GemmProblem& problem) {
  const std::vector<std::int64_t> weights =
      problem.wei_trans ? std::vector{problem.n, problem.k} : std::vector{problem.k, problem.n};
  return {{"src", HM_ROLE_INPUT, problem.src_dtype, {problem.m, problem.k}, 0, ""},
          {"wei", HM_ROLE_CONSTANT, problem.wei_dtype, weights, 0, ""},
          {"dst", HM_ROLE_OUTPUT, problem.dst_dtype, {problem.m, problem.n}, 0, ""}};
}

}  // namespace hm_cpu
