// packed_gemm: gemm whose weights are narrow values with a scale per block (mxfp4, nvfp4, AWQ,
// GPTQ). The peak of 4-bit floats is that of 4-bit products, the most that a device can make of
// them.
#include "core/numeric/cast.hpp"
#include "kernels/packed.hpp"

namespace halmark {
namespace {

constexpr ParamSpec specs[] = {
    priced_size("m", "rows of src and dst"),
    priced_size("n", "columns of dst"),
    priced_size("k", "columns of src, reduced"),
    packed_block_spec,
    packed_src_spec,
    priced_dtype("dst_dtype", "of dst"),
    packed_wei_spec,
    packed_scale_spec,
};

class PackedGemm final : public PricedContract {
 public:
  PackedGemm()
      : PricedContract("packed_gemm",
                       "dst[m,n] = src[m,k] wei[n,k]^T, wei times scale[n,ceil(k/block)]", specs) {}

  // The scales are no parameters of a model, so they are traffic and no operand.
  std::vector<OperandSpec> operands(const Params& p) const override {
    const auto m = p.at("m"), n = p.at("n"), k = p.at("k");
    return {
        {.name = "src", .role = Role::input, .dtype = p.dtype("src_dtype"), .dims = {m, k}},
        {.name = "wei", .role = Role::constant, .dtype = p.dtype("wei_dtype"), .dims = {n, k}},
        {.name = "dst", .role = Role::output, .dtype = p.dtype("dst_dtype"), .dims = {m, n}},
    };
  }

 protected:
  void add_flops(const Params& p, Work& work) const override {
    const auto m = as_double(p.at("m")), n = as_double(p.at("n"));
    const double scales = packed_weight_scale_bytes(p, n);
    work.matmul_flops = 2 * m * n * as_double(p.at("k"));
    work.constant_bytes += scales;
    work.bytes_read += scales + packed_source_scale_bytes(p, m);
    work.compute_dtype = packed_compute_dtype(p);
  }
};

}  // namespace

const OpContract& packed_gemm_contract() {
  static const PackedGemm contract;
  return contract;
}

}  // namespace halmark
