// compressed_attention: attention of DeepSeek-V4 over the last `window` tokens and over entries
// that compress `ratio` tokens each, of which a query reads top_k. One latent row is key and value.
#include "core/lists.hpp"
#include "kernels/attention/pairs.hpp"
#include "kernels/compressed_pairs.hpp"
#include "kernels/kv_cache.hpp"
#include "kernels/priced.hpp"

namespace halmark {
namespace {

constexpr ParamSpec specs[] = {
    priced_size("batch", "sequences"),
    priced_size("heads", "query heads"),
    priced_size("head_dim", "width of a query and of a latent row"),
    priced_size("new_tokens", "queries per sequence"),
    priced_size("context", "tokens up to the last query"),
    priced_size("window", "most recent tokens a query sees one by one"),
    {.name = "ratio",
     .low = 0,
     .high = size_max,
     .fallback = 0,
     .meaning = "tokens of a compressed entry; 0 = the window alone"},
    {.name = "top_k",
     .low = 0,
     .high = size_max,
     .fallback = 0,
     .meaning = "compressed entries that a query reads; 0 = all it sees"},
    priced_dtype("q_dtype", "of q"),
    {.name = "kv_dtype",
     .kind = ParamKind::dtype,
     .allowed = kv_dtypes,
     .meaning = "of the latent rows"},
    priced_dtype("dst_dtype", "of dst"),
};

constexpr double softmax_flops = 5;

// Keys of one sequence: pairs of its queries, and distinct ones.
struct Keys {
  double pairs = 0, distinct = 0;
};
Keys keys_of(const Params& p) {
  const auto queries = p.at("new_tokens"), context = p.at("context");
  const auto window = p.at("window"), ratio = p.at("ratio"), top_k = p.at("top_k");
  Keys out{attention_pairs(queries, context, true, window),
           as_double(attention_keys(queries, context, true, window))};
  if (ratio > 0) {
    out.pairs += compressed_pairs(queries, context, ratio, top_k);
    out.distinct += compressed_keys(queries, context, ratio, top_k);
  }
  return out;
}

class CompressedAttention final : public PricedContract {
 public:
  CompressedAttention()
      : PricedContract("compressed_attention",
                       "softmax(q k^T) k over a window of tokens and compressed entries, causal",
                       specs) {}

  std::optional<std::string> check_relations(const Params& p) const override {
    if (p.at("new_tokens") <= p.at("context")) return std::nullopt;
    return "context counts the new tokens too; got " + p.text();
  }

  std::vector<OperandSpec> operands(const Params& p) const override {
    const auto batch = p.at("batch"), heads = p.at("heads"), queries = p.at("new_tokens");
    const auto width = p.at("head_dim");
    const auto keys = as_int64(keys_of(p).distinct);
    return {
        {.name = "q",
         .role = Role::input,
         .dtype = p.dtype("q_dtype"),
         .dims = {batch, queries, heads, width}},
        {.name = "latent",
         .role = Role::state,
         .dtype = p.dtype("kv_dtype"),
         .dims = {batch, keys, width}},
        {.name = "dst",
         .role = Role::output,
         .dtype = p.dtype("dst_dtype"),
         .dims = {batch, queries, heads, width}},
    };
  }

  Work work(const Params& p) const override {
    Work out = PricedContract::work(p);
    const auto keys = as_int64(keys_of(p).distinct);
    const auto scales = as_double(p.at("batch") * keys * kv_row_scale_bytes(p.dtype("kv_dtype")));
    out.bytes_read += scales;
    out.constant_bytes += scales;
    return out;
  }

 protected:
  // 2 head_dim for a score and as much for its weighted value.
  void add_flops(const Params& p, Work& work) const override {
    const double scores = product(p, {"batch", "heads"}) * keys_of(p).pairs;
    work.matmul_flops = 4 * as_double(p.at("head_dim")) * scores;
    work.vector_flops = softmax_flops * scores;
    work.compute_dtype = p.dtype("q_dtype");
  }
};

}  // namespace

const OpContract& compressed_attention_contract() {
  static const CompressedAttention contract;
  return contract;
}

}  // namespace halmark
