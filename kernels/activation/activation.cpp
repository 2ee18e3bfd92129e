// activation: dst = act(src), element by element.
#include "core/lists.hpp"
#include "kernels/pointwise.hpp"
#include "kernels/rowwise.hpp"

namespace halmark {
namespace {

struct Kind {
  Approximated (*function)(double);
  double flops;
};
constexpr std::array<Kind, 4> kinds{{{relu, 1}, {gelu_tanh, 8}, {silu, 4}, {relu_squared, 2}}};
constexpr std::int64_t kind_values[] = {0, 1, 2, 3};

constexpr ParamSpec specs[] = {rows_spec,
                               cols_spec,
                               {.name = "kind",
                                .kind = ParamKind::choice,
                                .allowed = kind_values,
                                .meaning = "0 relu, 1 gelu_tanh, 2 silu, 3 relu squared"},
                               src_dtype_spec,
                               dst_dtype_spec};

const Kind& kind_of(const Params& p) { return kinds.at(as_size(p.at("kind"))); }

class Activation final : public RowwiseContract {
 public:
  Activation() : RowwiseContract("activation", "dst[rows,cols] = act(src)", specs) {}

 protected:
  double flops_per_value(const Params& p) const override { return kind_of(p).flops; }

  // The function's own error (kernels/pointwise.hpp), then the rounding of dst.
  void row_reference(const Params& p, const InputReader& inputs, int rank, std::int64_t row,
                     std::span<const std::int64_t> columns,
                     std::span<Expected> out) const override {
    const auto cols = p.at("cols");
    const auto x = read_row(inputs, rank, 0, row * cols, cols);
    const auto& kind = kind_of(p);
    for (const auto i : indices(columns)) {
      const auto y = kind.function(x[as_size(columns[i])]);
      out[i] = {.value = y.value,
                .tolerance = rounded_tolerance(p.dtype("dst_dtype"), y.value, y.error)};
    }
  }

  std::vector<Params> extra_params() const override {
    std::vector<Params> all;
    for (const auto kind : kind_values) all.push_back({{"kind", kind}});
    return all;
  }
};

}  // namespace

const OpContract& activation_contract() {
  static const Activation contract;
  return contract;
}

}  // namespace halmark
