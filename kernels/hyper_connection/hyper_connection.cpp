// hyper_connection: manifold-constrained hyper-connections (DeepSeek-V4). `streams` residual
// streams are mixed into the input of a sub-layer (stage 0) and updated with its output (stage 1)
// by coefficients that Sinkhorn iterations make doubly stochastic. The product that yields the
// coefficients is a gemm of its own.
#include "core/numeric/cast.hpp"
#include "kernels/priced.hpp"

namespace halmark {
namespace {

constexpr ParamSpec specs[] = {
    rows_spec,
    priced_size("streams", "residual streams"),
    priced_size("hidden", "width of a stream"),
    {.name = "iterations",
     .low = 0,
     .high = 10'000,
     .fallback = 0,
     .meaning = "Sinkhorn iterations on a token's streams x streams coefficients"},
    {.name = "stage",
     .kind = ParamKind::choice,
     .low = 0,
     .high = 1,
     .meaning = "0 before the sub-layer, 1 after it"},
    priced_dtype("dtype", "of the streams"),
};

constexpr double sinkhorn_flops = 4;  // per coefficient: sum and divide, over rows and over columns

class HyperConnection final : public PricedContract {
 public:
  HyperConnection()
      : PricedContract("hyper_connection",
                       "residual streams to the input of a sub-layer, or updated with its output",
                       specs) {}

  std::vector<OperandSpec> operands(const Params& p) const override {
    const auto rows = p.at("rows"), hidden = p.at("hidden"), all = p.at("streams") * hidden;
    const auto dtype = p.dtype("dtype");
    if (p.at("stage") == 0) {
      return {rows_operand("streams", Role::input, dtype, rows, all),
              rows_operand("dst", Role::output, dtype, rows, hidden)};
    }
    return {rows_operand("streams", Role::input, dtype, rows, all),
            rows_operand("src", Role::input, dtype, rows, hidden),
            rows_operand("dst", Role::output, dtype, rows, all)};
  }

 protected:
  // A weighted sum of the streams; every stream from the weighted sum of all and the output.
  void add_flops(const Params& p, Work& work) const override {
    const auto rows = as_double(p.at("rows")), hidden = as_double(p.at("hidden"));
    const auto streams = as_double(p.at("streams"));
    const double mixed = 2 * rows * streams * hidden;
    work.vector_flops = (p.at("stage") == 0 ? mixed : mixed * (1 + streams)) +
                        sinkhorn_flops * rows * streams * streams * as_double(p.at("iterations"));
  }
};

}  // namespace

const OpContract& hyper_connection_contract() {
  static const HyperConnection contract;
  return contract;
}

}  // namespace halmark
