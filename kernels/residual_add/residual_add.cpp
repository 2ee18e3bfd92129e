// residual_add: dst = a + b.
#include "core/lists.hpp"
#include "kernels/rowwise.hpp"

namespace halmark {
namespace {

constexpr ParamSpec specs[] = {rows_spec, cols_spec, src_dtype_spec, dst_dtype_spec};

class ResidualAdd final : public RowwiseContract {
 public:
  ResidualAdd() : RowwiseContract("residual_add", "dst[rows,cols] = a + b", specs) {}

  std::vector<OperandSpec> operands(const Params& p) const override {
    const auto rows = p.at("rows"), cols = p.at("cols");
    const auto src = p.dtype("src_dtype");
    return {rows_operand("a", Role::input, src, rows, cols),
            rows_operand("b", Role::input, src, rows, cols),
            rows_operand("dst", Role::output, p.dtype("dst_dtype"), rows, cols)};
  }

 protected:
  double flops_per_value(const Params&) const override { return 1; }

  // One f32 addition, then the rounding of dst.
  void row_reference(const Params& p, const InputReader& inputs, int rank, std::int64_t row,
                     std::span<const std::int64_t> columns,
                     std::span<Expected> out) const override {
    const auto cols = p.at("cols");
    const auto a = read_row(inputs, rank, 0, row * cols, cols);
    const auto b = read_row(inputs, rank, 1, row * cols, cols);
    for (const auto i : indices(columns)) {
      const auto c = as_size(columns[i]);
      const double sum = a[c] + b[c];
      out[i] = {.value = sum,
                .tolerance = rounded_tolerance(p.dtype("dst_dtype"), sum, u_f32 * std::fabs(sum))};
    }
  }
};

}  // namespace

const OpContract& residual_add_contract() {
  static const ResidualAdd contract;
  return contract;
}

}  // namespace halmark
