// latent_attention: multi-head latent attention (DeepSeek-V2, 2405.04434, section 2.1), causal. The
// explicit form has keys and values per head, expanded from the latent rows; the absorbed form
// scores against the latent rows themselves, whose first v_dim values are the value. With top_k a
// query reads so many keys (DeepSeek-V3.2).
#include "core/numeric/cast.hpp"
#include "kernels/compressed_pairs.hpp"
#include "kernels/kv_cache.hpp"
#include "kernels/priced.hpp"

namespace halmark {
namespace {

constexpr ParamSpec specs[] = {
    priced_size("batch", "sequences"),
    priced_size("heads", "query heads"),
    priced_size("qk_dim", "width of a query; absorbed: of a latent row"),
    priced_size("v_dim", "width of a value; absorbed: of its part of the latent row"),
    priced_size("new_tokens", "queries per sequence"),
    priced_size("context", "keys that the last query sees"),
    {.name = "top_k",
     .low = 0,
     .high = size_max,
     .fallback = 0,
     .meaning = "keys that a query reads; 0 = all it sees"},
    {.name = "absorbed",
     .kind = ParamKind::flag,
     .low = 0,
     .high = 1,
     .meaning = "keys are the latent rows, shared by all heads"},
    priced_dtype("q_dtype", "of q"),
    {.name = "kv_dtype",
     .kind = ParamKind::dtype,
     .allowed = kv_dtypes,
     .meaning = "of keys and values"},
    priced_dtype("dst_dtype", "of dst"),
};

constexpr std::size_t q_index = 0;
constexpr double softmax_flops = 5;  // per score: scale, subtract, exp, sum, divide

// Of cached rows; expanded keys and values are activations of the step.
std::int64_t latent_scale_bytes(const Params& p) {
  if (p.at("absorbed") == 0) return 0;
  return p.at("batch") * p.at("context") * kv_row_scale_bytes(p.dtype("kv_dtype"));
}

double pairs_of(const Params& p) {
  return compressed_pairs(p.at("new_tokens"), p.at("context"), 1, p.at("top_k"));
}

class LatentAttention final : public PricedContract {
 public:
  LatentAttention()
      : PricedContract(
            "latent_attention",
            "softmax(q k^T) v, causal: per-head k and v, or latent rows shared by all heads",
            specs) {}

  std::optional<std::string> check_relations(const Params& p) const override {
    if (p.at("new_tokens") > p.at("context")) {
      return "context counts the new tokens too; got " + p.text();
    }
    if (p.at("absorbed") != 0 && p.at("v_dim") > p.at("qk_dim")) {
      return "the value is a part of the latent row; got " + p.text();
    }
    return std::nullopt;
  }

  std::vector<OperandSpec> operands(const Params& p) const override {
    const auto batch = p.at("batch"), heads = p.at("heads"), queries = p.at("new_tokens");
    const auto keys = p.at("context"), qk = p.at("qk_dim"), v = p.at("v_dim");
    const auto kv_dtype = p.dtype("kv_dtype");
    std::vector<OperandSpec> out = {{.name = "q",
                                     .role = Role::input,
                                     .dtype = p.dtype("q_dtype"),
                                     .dims = {batch, queries, heads, qk}}};
    if (p.at("absorbed") != 0) {
      out.push_back(
          {.name = "latent", .role = Role::state, .dtype = kv_dtype, .dims = {batch, keys, qk}});
    } else {
      out.push_back(
          {.name = "k", .role = Role::input, .dtype = kv_dtype, .dims = {batch, keys, heads, qk}});
      out.push_back(
          {.name = "v", .role = Role::input, .dtype = kv_dtype, .dims = {batch, keys, heads, v}});
    }
    out.push_back({.name = "dst",
                   .role = Role::output,
                   .dtype = p.dtype("dst_dtype"),
                   .dims = {batch, queries, heads, v}});
    return out;
  }

  // Sparse attention reads only what its queries chose.
  Work work(const Params& p) const override {
    Work out = PricedContract::work(p);
    const auto tensors = operands(p);
    const auto q_bytes = as_double(tensors[q_index].bytes());
    const double read = compressed_keys(p.at("new_tokens"), p.at("context"), 1, p.at("top_k")) /
                        as_double(p.at("context"));
    const double scales = as_double(latent_scale_bytes(p));
    out.bytes_read = q_bytes + (out.bytes_read - q_bytes + scales) * read;
    out.constant_bytes = (out.constant_bytes + scales) * read;
    return out;
  }

 protected:
  // 2 qk_dim per score and 2 v_dim per weighted value, for each head and visible pair.
  void add_flops(const Params& p, Work& work) const override {
    const double scores = product(p, {"batch", "heads"}) * pairs_of(p);
    work.matmul_flops = 2 * as_double(p.at("qk_dim") + p.at("v_dim")) * scores;
    work.vector_flops = softmax_flops * scores;
    work.compute_dtype = p.dtype("q_dtype");
  }
};

}  // namespace

const OpContract& latent_attention_contract() {
  static const LatentAttention contract;
  return contract;
}

}  // namespace halmark
