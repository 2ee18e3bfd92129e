// layernorm: dst = (x - mean) / sqrt(var + eps) * gain + shift, per row; var is the population's.
#include "core/lists.hpp"
#include "kernels/norm.hpp"

namespace halmark {
namespace {

class LayerNorm final : public RowwiseContract {
 public:
  LayerNorm()
      : RowwiseContract(
            "layernorm",
            "dst[rows,cols] = (src - mean) / sqrt(var + eps) * gain[cols] + shift[cols]",
            norm_specs) {}

  std::vector<OperandSpec> operands(const Params& p) const override {
    const auto rows = p.at("rows"), cols = p.at("cols");
    return {rows_operand("src", Role::input, p.dtype("src_dtype"), rows, cols),
            {.name = "gain", .role = Role::constant, .dtype = Dtype::f32, .dims = {cols}},
            {.name = "shift", .role = Role::constant, .dtype = Dtype::f32, .dims = {cols}},
            rows_operand("dst", Role::output, p.dtype("dst_dtype"), rows, cols)};
  }

 protected:
  double flops_per_value(const Params&) const override { return 7; }

  // The mean's error moves x - mean absolutely. Kernels may take the variance as E[x^2] - mean^2,
  // whose error is relative to E[x^2] + mean^2 and not to the difference.
  void row_reference(const Params& p, const InputReader& inputs, int rank, std::int64_t row,
                     std::span<const std::int64_t> columns,
                     std::span<Expected> out) const override {
    const auto cols = p.at("cols");
    const auto n = as_double(cols);
    const auto x = read_row(inputs, rank, 0, row * cols, cols);
    const auto gain = read_row(inputs, rank, 1, 0, cols);
    const auto shift = read_row(inputs, rank, 2, 0, cols);
    double sum = 0, magnitude = 0, squares = 0, centred = 0;
    for (const double value : x) {
      sum += value;
      magnitude += std::fabs(value);
      squares += value * value;
    }
    const double mean = sum / n;
    for (const double value : x) centred += (value - mean) * (value - mean);
    const double variance = centred / n + epsilon_of(p);
    const double inverse = 1 / std::sqrt(variance);
    const double mean_error = accumulation_error(n, magnitude / n);
    const double relative =
        inverse_root_error(accumulation_error(n, squares / n + mean * mean) / variance);
    for (const auto i : indices(columns)) {
      const auto c = as_size(columns[i]);
      const double scaled = (x[c] - mean) * inverse * gain[c];
      const double value = scaled + shift[c];
      const double error = std::fabs(gain[c]) * inverse * (mean_error + u_f32 * std::fabs(x[c])) +
                           relative * std::fabs(scaled) + u_f32 * std::fabs(value);
      out[i] = {.value = value, .tolerance = rounded_tolerance(p.dtype("dst_dtype"), value, error)};
    }
  }
};

}  // namespace

const OpContract& layernorm_contract() {
  static const LayerNorm contract;
  return contract;
}

}  // namespace halmark
