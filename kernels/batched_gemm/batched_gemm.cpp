// batched_gemm: `groups` independent products of the same shape, each with its own weights: the
// per-head up-projections of absorbed latent attention, a grouped output projection.
#include "kernels/priced.hpp"

namespace halmark {
namespace {

constexpr ParamSpec specs[] = {
    priced_size("groups", "products, each with its own weights"),
    priced_size("m", "rows of each src and dst"),
    priced_size("n", "columns of each dst"),
    priced_size("k", "columns of each src, reduced"),
    priced_dtype("src_dtype", "of src"),
    priced_dtype("wei_dtype", "of wei"),
    priced_dtype("dst_dtype", "of dst"),
};

class BatchedGemm final : public PricedContract {
 public:
  BatchedGemm()
      : PricedContract("batched_gemm",
                       "dst[m,groups,n] = src[m,groups,k] wei[groups,n,k]^T, group by group",
                       specs) {}

  std::vector<OperandSpec> operands(const Params& p) const override {
    const auto groups = p.at("groups"), m = p.at("m"), n = p.at("n"), k = p.at("k");
    return {
        {.name = "src", .role = Role::input, .dtype = p.dtype("src_dtype"), .dims = {m, groups, k}},
        {.name = "wei",
         .role = Role::constant,
         .dtype = p.dtype("wei_dtype"),
         .dims = {groups, n, k}},
        {.name = "dst",
         .role = Role::output,
         .dtype = p.dtype("dst_dtype"),
         .dims = {m, groups, n}},
    };
  }

 protected:
  void add_flops(const Params& p, Work& work) const override {
    work.matmul_flops = product(p, {"groups", "m", "n", "k"}, 2);
    work.compute_dtype = p.dtype("src_dtype");
  }
};

}  // namespace

const OpContract& batched_gemm_contract() {
  static const BatchedGemm contract;
  return contract;
}

}  // namespace halmark
