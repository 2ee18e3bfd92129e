#include "gemm_problem.hpp"

#include <algorithm>
#include <array>

namespace hm_opencl {
namespace {

// Products and sums are f32 or s32, as the contract's tolerance expects.
constexpr std::array<std::pair<std::int32_t, std::int32_t>, 6> types{{
    {HM_DTYPE_F32, HM_DTYPE_F32},
    {HM_DTYPE_BF16, HM_DTYPE_F32},
    {HM_DTYPE_BF16, HM_DTYPE_BF16},
    {HM_DTYPE_F16, HM_DTYPE_F32},
    {HM_DTYPE_F16, HM_DTYPE_F16},
    {HM_DTYPE_S8, HM_DTYPE_S32},
}};

}  // namespace

GemmProblem::GemmProblem(plug::Params problem)
    : m(problem.at("m")),
      n(problem.at("n")),
      k(problem.at("k")),
      src(problem.dtype("src_dtype")),
      dst(problem.dtype("dst_dtype")),
      is_turned(problem.value_or("wei_trans", 0) != 0) {
  plug::reject_unknown(problem,
                       {"m", "n", "k", "src_dtype", "wei_dtype", "dst_dtype", "wei_trans"});
  if (std::ranges::find(types, std::pair{src, dst}) == types.end() ||
      problem.dtype("wei_dtype") != src) {
    unsupported("gemm of these dtypes; f32, bf16 -> bf16|f32, f16 -> f16|f32, s8 -> s32");
  }
  require_size("m", m);
  require_size("n", n);
  require_size("k", k);
}

std::vector<Operand> GemmProblem::operands() const {
  return {{"src", HM_ROLE_INPUT, src, {m, k}, 0, ""},
          {"wei", HM_ROLE_CONSTANT, src, is_turned ? std::vector{n, k} : std::vector{k, n}, 0, ""},
          {"dst", HM_ROLE_OUTPUT, dst, {m, n}, 0, ""}};
}

}  // namespace hm_opencl
