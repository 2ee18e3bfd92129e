// state_scan: the recurrence of Mamba-2 (state space duality, 2405.21060). Per head a state of
// head_dim x state_dim: S = exp(dt A) S + (dt x) B^T; dst = S C + D x.
#include "kernels/priced.hpp"

namespace halmark {
namespace {

constexpr ParamSpec specs[] = {
    priced_size("batch", "sequences"),
    priced_size("new_tokens", "tokens per sequence"),
    priced_size("heads", "heads; each has a state"),
    priced_size("head_dim", "width of a head"),
    priced_size("state_dim", "columns of a state"),
    priced_size("groups", "groups of heads that share B and C"),
    priced_dtype("src_dtype", "of x, B, C and dt"),
    priced_dtype("dst_dtype", "of dst"),
    {.name = "state_dtype",
     .kind = ParamKind::dtype,
     .fallback = dtype_value(Dtype::f32),
     .allowed = priced_dtypes,
     .meaning = "of the states"},
};

// Per value of the state and token: decay 1, update 2, read 2.
constexpr double flops_per_state_value = 5;

class StateScan final : public PricedContract {
 public:
  StateScan()
      : PricedContract(
            "state_scan",
            "Mamba-2: state[batch,heads,head_dim,state_dim] decays, takes x B^T and is read by C, "
            "token by token",
            specs) {}

  std::optional<std::string> check_relations(const Params& p) const override {
    if (p.at("heads") % p.at("groups") == 0) return std::nullopt;
    return "groups must divide heads; got groups=" + std::to_string(p.at("groups")) +
           " and heads=" + std::to_string(p.at("heads"));
  }

  // Constants: A, D and the offset of the step, per head.
  std::vector<OperandSpec> operands(const Params& p) const override {
    const auto batch = p.at("batch"), tokens = p.at("new_tokens"), heads = p.at("heads");
    const auto head_dim = p.at("head_dim"), state_dim = p.at("state_dim");
    const Dtype src = p.dtype("src_dtype");
    return {
        priced_operand("x", Role::input, src, {batch, tokens, heads, head_dim}),
        priced_operand("b_and_c", Role::input, src, {batch, tokens, 2, p.at("groups"), state_dim}),
        priced_operand("dt", Role::input, src, {batch, tokens, heads}),
        priced_operand("a_d_offset", Role::constant, Dtype::f32, {3 * heads}),
        priced_operand("state", Role::in_out, p.dtype("state_dtype"),
                       {batch, heads, head_dim, state_dim}),
        priced_operand("dst", Role::output, p.dtype("dst_dtype"),
                       {batch, tokens, heads, head_dim})};
  }

 protected:
  void add_flops(const Params& p, Work& work) const override {
    work.matmul_flops = product(p, {"batch", "new_tokens", "heads", "head_dim", "state_dim"},
                                flops_per_state_value);
    work.compute_dtype = p.dtype("src_dtype");
  }
};

}  // namespace

const OpContract& state_scan_contract() {
  static const StateScan contract;
  return contract;
}

}  // namespace halmark
