// rmsnorm: dst = x / sqrt(mean(x^2) + eps) * gain, per row.
#include "core/lists.hpp"
#include "kernels/norm.hpp"

namespace halmark {
namespace {

class RmsNorm final : public RowwiseContract {
 public:
  RmsNorm()
      : RowwiseContract("rmsnorm", "dst[rows,cols] = src / sqrt(mean(src^2) + eps) * gain[cols]",
                        norm_specs) {}

  std::vector<OperandSpec> operands(const Params& p) const override {
    const auto rows = p.at("rows"), cols = p.at("cols");
    return {rows_operand("src", Role::input, p.dtype("src_dtype"), rows, cols),
            {.name = "gain", .role = Role::constant, .dtype = Dtype::f32, .dims = {cols}},
            rows_operand("dst", Role::output, p.dtype("dst_dtype"), rows, cols)};
  }

 protected:
  double flops_per_value(const Params&) const override { return 4; }  // square, add, scale, gain

  // All squares are positive, so the mean's relative error is that of the sum: 4 sqrt(n) u. The
  // root halves it; two products follow.
  void row_reference(const Params& p, const InputReader& inputs, int rank, std::int64_t row,
                     std::span<const std::int64_t> columns,
                     std::span<Expected> out) const override {
    const auto cols = p.at("cols");
    const auto n = as_double(cols);
    const auto x = read_row(inputs, rank, 0, row * cols, cols);
    const auto gain = read_row(inputs, rank, 1, 0, cols);
    double squares = 0;
    for (const double value : x) squares += value * value;
    const double inverse = 1 / std::sqrt(squares / n + epsilon_of(p));
    const double relative = inverse_root_error(accumulation_error(n, 1));
    for (const auto i : indices(columns)) {
      const auto c = as_size(columns[i]);
      const double value = x[c] * inverse * gain[c];
      out[i] = {
          .value = value,
          .tolerance = rounded_tolerance(p.dtype("dst_dtype"), value, relative * std::fabs(value))};
    }
  }
};

}  // namespace

const OpContract& rmsnorm_contract() {
  static const RmsNorm contract;
  return contract;
}

}  // namespace halmark
