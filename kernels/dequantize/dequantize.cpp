// dequantize: dst = src * row_scale * col_scale, from the s32 sums of an integer matmul.
#include "core/lists.hpp"
#include "kernels/rowwise.hpp"

namespace halmark {
namespace {

constexpr std::array<std::int64_t, 1> source_dtypes{dtype_value(Dtype::s32)};
constexpr ParamSpec specs[] = {rows_spec,
                               cols_spec,
                               {.name = "src_dtype",
                                .kind = ParamKind::dtype,
                                .fallback = dtype_value(Dtype::s32),
                                .allowed = source_dtypes,
                                .meaning = "of src"},
                               dst_dtype_spec};

// What a matmul of two s8 tensors with 1024 products leaves: 32 * 32 * sqrt(1024).
constexpr double sum_scale = 32768;

class Dequantize final : public RowwiseContract {
 public:
  Dequantize()
      : RowwiseContract("dequantize",
                        "dst[rows,cols] = src s32 * row_scale[rows] * col_scale[cols]", specs) {}

  std::vector<OperandSpec> operands(const Params& p) const override {
    const auto rows = p.at("rows"), cols = p.at("cols");
    auto src = rows_operand("src", Role::input, Dtype::s32, rows, cols);
    src.scale = sum_scale;
    return {src,
            {.name = "row_scale",
             .role = Role::input,
             .dtype = Dtype::f32,
             .dims = {rows},
             .distribution = Distribution::positive,
             .scale = 0x1p-6},
            {.name = "col_scale",
             .role = Role::constant,
             .dtype = Dtype::f32,
             .dims = {cols},
             .distribution = Distribution::positive,
             .scale = 0x1p-6},
            rows_operand("dst", Role::output, p.dtype("dst_dtype"), rows, cols)};
  }

 protected:
  double flops_per_value(const Params&) const override { return 2; }

  std::vector<std::pair<Dtype, Dtype>> dtype_pairs(std::span<const Dtype> dtypes) const override {
    std::vector<std::pair<Dtype, Dtype>> pairs;
    for (const auto dst : common_dtypes(float_dtypes, dtypes)) pairs.emplace_back(Dtype::s32, dst);
    return pairs;
  }

  // One rounding of the s32 value to f32 and two products.
  void row_reference(const Params& p, const InputReader& inputs, int rank, std::int64_t row,
                     std::span<const std::int64_t> columns,
                     std::span<Expected> out) const override {
    const auto cols = p.at("cols");
    const auto x = read_row(inputs, rank, 0, row * cols, cols);
    const double row_scale = read_row(inputs, rank, 1, row, 1)[0];
    const auto col_scale = read_row(inputs, rank, 2, 0, cols);
    for (const auto i : indices(columns)) {
      const auto c = as_size(columns[i]);
      const double value = x[c] * row_scale * col_scale[c];
      out[i] = {.value = value,
                .tolerance =
                    rounded_tolerance(p.dtype("dst_dtype"), value, 3 * u_f32 * std::fabs(value))};
    }
  }
};

}  // namespace

const OpContract& dequantize_contract() {
  static const Dequantize contract;
  return contract;
}

}  // namespace halmark
