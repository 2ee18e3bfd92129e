// block_quantize: rows to narrow floats, a scale per `block` values of a row: f32 beside 8 bits, as
// the fp8 linears of DeepSeek-V3 read their activations (2412.19437, section 3.3.2: tiles of 1 x
// 128); one byte beside 4 bits, as mxfp4 and nvfp4 have it.
#include "kernels/priced.hpp"

namespace halmark {
namespace {

constexpr std::int64_t result_dtypes[] = {dtype_value(Dtype::f8_e4m3fn),
                                          dtype_value(Dtype::f8_e5m2), dtype_value(Dtype::f4_e2m1)};
constexpr ParamSpec specs[] = {rows_spec,
                               cols_spec,
                               {.name = "block",
                                .high = size_max,
                                .fallback = 128,
                                .meaning = "values of a row that share a scale"},
                               src_dtype_spec,
                               {.name = "dst_dtype",
                                .kind = ParamKind::dtype,
                                .fallback = dtype_value(Dtype::f8_e4m3fn),
                                .allowed = result_dtypes,
                                .meaning = "of the result"}};

constexpr double flops_per_value = 2;  // abs-max, scale

class BlockQuantize final : public PricedContract {
 public:
  BlockQuantize()
      : PricedContract(
            "block_quantize",
            "dst[rows,cols] f8 or f4 = src / scale, scale[rows,ceil(cols/block)] = max|src| / "
            "largest",
            specs) {}

  std::vector<OperandSpec> operands(const Params& p) const override {
    const auto rows = p.at("rows"), cols = p.at("cols"), block = p.at("block");
    const bool is_packed = p.dtype("dst_dtype") == Dtype::f4_e2m1;
    return {rows_operand("src", Role::input, p.dtype("src_dtype"), rows, cols),
            rows_operand("dst", Role::output, p.dtype("dst_dtype"), rows, cols),
            rows_operand("scale", Role::output, is_packed ? Dtype::f8_e4m3fn : Dtype::f32, rows,
                         (cols + block - 1) / block)};
  }

 protected:
  void add_flops(const Params& p, Work& work) const override {
    work.vector_flops = product(p, {"rows", "cols"}, flops_per_value);
  }
};

}  // namespace

const OpContract& block_quantize_contract() {
  static const BlockQuantize contract;
  return contract;
}

}  // namespace halmark
