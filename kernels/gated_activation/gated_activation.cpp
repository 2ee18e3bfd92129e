// gated_activation: dst = act(gate) * up, where a row of src is gate then up.
#include "core/lists.hpp"
#include "kernels/pointwise.hpp"
#include "kernels/rowwise.hpp"

namespace halmark {
namespace {

constexpr std::int64_t kind_values[] = {0, 1};

constexpr ParamSpec specs[] = {rows_spec,
                               cols_spec,
                               {.name = "kind",
                                .kind = ParamKind::choice,
                                .allowed = kind_values,
                                .meaning = "0 silu, 1 gelu_tanh"},
                               src_dtype_spec,
                               dst_dtype_spec};

class GatedActivation final : public RowwiseContract {
 public:
  GatedActivation()
      : RowwiseContract("gated_activation",
                        "dst[rows,cols] = act(gate) * up with src[rows,2 cols] = gate then up",
                        specs) {}

  std::vector<OperandSpec> operands(const Params& p) const override {
    const auto rows = p.at("rows"), cols = p.at("cols");
    return {rows_operand("src", Role::input, p.dtype("src_dtype"), rows, 2 * cols),
            rows_operand("dst", Role::output, p.dtype("dst_dtype"), rows, cols)};
  }

 protected:
  double flops_per_value(const Params&) const override { return 4; }

  // The activation's error scales with up; the product adds one rounding.
  void row_reference(const Params& p, const InputReader& inputs, int rank, std::int64_t row,
                     std::span<const std::int64_t> columns,
                     std::span<Expected> out) const override {
    const auto cols = p.at("cols");
    const auto x = read_row(inputs, rank, 0, row * 2 * cols, 2 * cols);
    const auto function = p.at("kind") == 0 ? silu : gelu_tanh;
    for (const auto i : indices(columns)) {
      const auto c = as_size(columns[i]);
      const double up = x[c + as_size(cols)];
      const auto gate = function(x[c]);
      const double value = gate.value * up;
      const double error = gate.error * std::fabs(up) + u_f32 * std::fabs(value);
      out[i] = {.value = value, .tolerance = rounded_tolerance(p.dtype("dst_dtype"), value, error)};
    }
  }

  std::vector<Params> extra_params() const override { return {{{"kind", 0}}, {{"kind", 1}}}; }
};

}  // namespace

const OpContract& gated_activation_contract() {
  static const GatedActivation contract;
  return contract;
}

}  // namespace halmark
