// delta_rule: the gated delta rule (Gated DeltaNet, 2412.06464). A state of key_dim x value_dim per
// value head forgets, takes back what it holds for the key, stores the value, and is read by the
// query: S = a S; S += b k (v - S^T k)^T; dst = S^T q. With channel_decay, `a` is a value per key
// channel (Kimi Delta Attention, 2510.26692).
#include "core/numeric/cast.hpp"
#include "kernels/priced.hpp"

namespace halmark {
namespace {

constexpr ParamSpec specs[] = {
    priced_size("batch", "sequences"),
    priced_size("new_tokens", "tokens per sequence"),
    priced_size("key_heads", "heads of q and k; divides value_heads"),
    priced_size("key_dim", "width of a query and of a key"),
    priced_size("value_heads", "heads of v; each has a state"),
    priced_size("value_dim", "width of a value"),
    priced_dtype("src_dtype", "of q, k, v and the gates"),
    priced_dtype("dst_dtype", "of dst"),
    {.name = "state_dtype",
     .kind = ParamKind::dtype,
     .fallback = dtype_value(Dtype::f32),
     .allowed = priced_dtypes,
     .meaning = "of the states"},
    {.name = "channel_decay",
     .kind = ParamKind::flag,
     .low = 0,
     .high = 1,
     .fallback = 0,
     .meaning = "a decay per key channel instead of per head"},
    {.name = "chunk",
     .low = 0,
     .high = size_max,
     .fallback = 0,
     .meaning = "tokens per chunk of the chunked form; 0 = token by token"},
};

// Recurrent form. Per value of the state and token: decay 1, read by the key 2, update 2, read by
// the query 2. These are the model's FLOPs in every phase.
constexpr double flops_per_state_value = 7;

// Chunked form (2412.06464, section 3.3), one chunk of n tokens and one value head: the products
// with the state (what the keys read, what the queries read, the update) 3 x 2 n dk dv; K K^T and
// Q K^T 2 x 2 n^2 dk; the inverse of a triangular n x n matrix n^3 / 3, applied to keys and values
// 2 n^2 (dk + dv); the masked scores on the corrected values 2 n^2 dv.
constexpr double chunk_flops(double n, double key_dim, double value_dim) {
  return 6 * n * key_dim * value_dim + n * n * (6 * key_dim + 4 * value_dim) + n * n * n / 3;
}

class DeltaRule final : public PricedContract {
 public:
  DeltaRule()
      : PricedContract(
            "delta_rule",
            "gated delta rule: state[batch,value_heads,key_dim,value_dim] is decayed, corrected "
            "towards (k, v) and read by q, token by token",
            specs) {}

  std::optional<std::string> check_relations(const Params& p) const override {
    if (p.at("value_heads") % p.at("key_heads") == 0) return std::nullopt;
    return "key_heads must divide value_heads; got key_heads=" + std::to_string(p.at("key_heads")) +
           " and value_heads=" + std::to_string(p.at("value_heads"));
  }

  // Constants: the log of the decay rate per value head, and the offset of the step per decay.
  std::vector<OperandSpec> operands(const Params& p) const override {
    const auto batch = p.at("batch"), tokens = p.at("new_tokens");
    const auto key_heads = p.at("key_heads"), key_dim = p.at("key_dim");
    const auto heads = p.at("value_heads"), value_dim = p.at("value_dim");
    const Dtype src = p.dtype("src_dtype");
    const std::int64_t decays = heads * (p.at("channel_decay") != 0 ? key_dim : 1);
    return {priced_operand("q", Role::input, src, {batch, tokens, key_heads, key_dim}),
            priced_operand("k", Role::input, src, {batch, tokens, key_heads, key_dim}),
            priced_operand("v", Role::input, src, {batch, tokens, heads, value_dim}),
            priced_operand("gates", Role::input, src, {batch, tokens, heads + decays}),
            priced_operand("decay", Role::constant, Dtype::f32, {heads + decays}),
            priced_operand("state", Role::in_out, p.dtype("state_dtype"),
                           {batch, heads, key_dim, value_dim}),
            priced_operand("dst", Role::output, p.dtype("dst_dtype"),
                           {batch, tokens, heads, value_dim})};
  }

 protected:
  void add_flops(const Params& p, Work& work) const override {
    const double tokens = product(p, {"batch", "new_tokens"});
    work.matmul_flops = as_double(p.at("value_heads")) * head_flops(p, tokens);
    // q and k are normalised to length 1, about 4 per value.
    work.vector_flops = product(p, {"key_heads", "key_dim"}, 8 * tokens);
    work.compute_dtype = p.dtype("src_dtype");
  }

 private:
  // All sequences of one value head.
  static double head_flops(const Params& p, double tokens) {
    const auto key_dim = as_double(p.at("key_dim"));
    const auto value_dim = as_double(p.at("value_dim"));
    const std::int64_t chunk = p.at("chunk"), length = p.at("new_tokens");
    if (chunk == 0) return flops_per_state_value * tokens * key_dim * value_dim;
    const double whole = chunk_flops(as_double(chunk), key_dim, value_dim);
    const double rest = chunk_flops(as_double(length % chunk), key_dim, value_dim);
    const auto chunks = as_double(length / chunk);
    return as_double(p.at("batch")) * (chunks * whole + rest);
  }
};

}  // namespace

const OpContract& delta_rule_contract() {
  static const DeltaRule contract;
  return contract;
}

}  // namespace halmark
