// selective_scan: the recurrence of the first Mamba (2312.00752, algorithm 2). Per channel a state
// of state_dim values, each with a decay of its own: s = exp(dt a) s + dt x b; dst = s . c + d x.
#include "kernels/priced.hpp"

namespace halmark {
namespace {

constexpr ParamSpec specs[] = {
    priced_size("batch", "sequences"),
    priced_size("new_tokens", "tokens per sequence"),
    priced_size("channels", "channels; each has a state"),
    priced_size("state_dim", "values of a state"),
    priced_dtype("src_dtype", "of x, dt, b and c"),
    priced_dtype("dst_dtype", "of dst"),
    {.name = "state_dtype",
     .kind = ParamKind::dtype,
     .fallback = dtype_value(Dtype::f32),
     .allowed = priced_dtypes,
     .meaning = "of the states"},
};

// Per value of the state and token: its decay 2 (product and exponential), decaying 1, update 2,
// read 2. Mamba-2 has one decay per head, and 5.
constexpr double flops_per_state_value = 7;

class SelectiveScan final : public PricedContract {
 public:
  SelectiveScan()
      : PricedContract("selective_scan",
                       "Mamba: state[batch,channels,state_dim] decays value by value, takes dt x b "
                       "and is read "
                       "by c, token by token",
                       specs) {}

  std::vector<OperandSpec> operands(const Params& p) const override {
    const auto batch = p.at("batch"), tokens = p.at("new_tokens"), channels = p.at("channels");
    const auto state_dim = p.at("state_dim");
    const Dtype src = p.dtype("src_dtype");
    return {
        priced_operand("x", Role::input, src, {batch, tokens, channels}),
        priced_operand("dt", Role::input, src, {batch, tokens, channels}),
        priced_operand("b_and_c", Role::input, src, {batch, tokens, 2, state_dim}),
        priced_operand("a", Role::constant, Dtype::f32, {channels, state_dim}),
        priced_operand("d", Role::constant, Dtype::f32, {channels}),
        priced_operand("state", Role::in_out, p.dtype("state_dtype"), {batch, channels, state_dim}),
        priced_operand("dst", Role::output, p.dtype("dst_dtype"), {batch, tokens, channels})};
  }

 protected:
  void add_flops(const Params& p, Work& work) const override {
    work.matmul_flops =
        product(p, {"batch", "new_tokens", "channels", "state_dim"}, flops_per_state_value);
    work.compute_dtype = p.dtype("src_dtype");
  }
};

}  // namespace

const OpContract& selective_scan_contract() {
  static const SelectiveScan contract;
  return contract;
}

}  // namespace halmark
