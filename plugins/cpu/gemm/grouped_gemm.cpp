#include "grouped_gemm.hpp"

#include <algorithm>

namespace hm_cpu {

GroupedGemmProblem grouped_gemm_problem(const Params& params) {
  reject_unknown(params, {"tokens", "top_k", "experts", "skew", "ep_size", "ep_rank", "rows", "n",
                          "k", "src_dtype", "wei_dtype", "dst_dtype", "wei_trans"});
  GroupedGemmProblem problem;
  problem.rows = params.extent("rows");
  const std::int64_t experts = params.extent("experts");
  const std::int64_t ranks = std::max<std::int64_t>(1, params.value_or("ep_size", 1));
  if (experts % ranks != 0) unsupported("ep_size must divide experts");
  problem.experts = experts / ranks;
  problem.gemm.n = params.extent("n");
  problem.gemm.k = params.extent("k");
  problem.gemm.m = (problem.rows + problem.experts - 1) / problem.experts;
  problem.gemm.src_dtype = params.dtype("src_dtype");
  problem.gemm.wei_dtype = params.dtype("wei_dtype");
  problem.gemm.dst_dtype = params.dtype("dst_dtype");
  const std::int64_t trans = params.value_or("wei_trans", 0);
  if (trans != 0 && trans != 1) unsupported("wei_trans must be 0 or 1");
  problem.gemm.wei_trans = trans == 1;
  require_gemm_dtypes(problem.gemm);
  return problem;
}

std::vector<Operand> grouped_gemm_operands(const GroupedGemmProblem& problem) {
  const GemmProblem& gemm = problem.gemm;
  const std::int64_t experts = problem.experts;
  const auto weights =
      gemm.wei_trans ? std::vector{experts, gemm.n, gemm.k} : std::vector{experts, gemm.k, gemm.n};
  return {{"src", HM_ROLE_INPUT, gemm.src_dtype, {problem.rows, gemm.k}, 0, ""},
          {"wei", HM_ROLE_CONSTANT, gemm.wei_dtype, weights, 0, ""},
          {"expert_rows", HM_ROLE_INPUT, HM_DTYPE_S32, {experts}, 0, ""},
          {"dst", HM_ROLE_OUTPUT, gemm.dst_dtype, {problem.rows, gemm.n}, 0, ""}};
}

std::int64_t group_rows(const GroupedGemmProblem& problem, const void* expert_rows,
                        std::int64_t expert, std::int64_t first) {
  const std::int64_t count = static_cast<const std::int32_t*>(expert_rows)[expert];
  return std::clamp<std::int64_t>(count, 0, problem.rows - first);
}

}  // namespace hm_cpu
