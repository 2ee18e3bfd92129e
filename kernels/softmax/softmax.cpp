// softmax: dst = exp(src - max) / sum, per row.
#include "core/lists.hpp"
#include "kernels/rowwise.hpp"

namespace halmark {
namespace {

constexpr ParamSpec specs[] = {rows_spec, cols_spec, src_dtype_spec, dst_dtype_spec};

class Softmax final : public RowwiseContract {
 public:
  Softmax() : RowwiseContract("softmax", "dst[rows,cols] = softmax(src) per row", specs) {}

 protected:
  double flops_per_value(const Params&) const override {
    return 5;
  }  // max, subtract, exp, sum, divide

  // Each exp: its own error and that of the rounded argument x - max; the sum of positive terms has
  // the same relative error again, plus its accumulation; then one quotient.
  void row_reference(const Params& p, const InputReader& inputs, int rank, std::int64_t row,
                     std::span<const std::int64_t> columns,
                     std::span<Expected> out) const override {
    const auto cols = p.at("cols");
    const auto x = read_row(inputs, rank, 0, row * cols, cols);
    const auto [lowest, highest] = std::ranges::minmax(x);
    double sum = 0;
    for (const double value : x) sum += std::exp(value - highest);
    const double exp_error = transcendental_error + u_f32 * (highest - lowest);
    const double relative = 2 * exp_error + accumulation_error(as_double(cols), 1) + 2 * u_f32;
    for (const auto i : indices(columns)) {
      const double value = std::exp(x[as_size(columns[i])] - highest) / sum;
      out[i] = {.value = value,
                .tolerance = rounded_tolerance(p.dtype("dst_dtype"), value, relative * value)};
    }
  }
};

}  // namespace

const OpContract& softmax_contract() {
  static const Softmax contract;
  return contract;
}

}  // namespace halmark
