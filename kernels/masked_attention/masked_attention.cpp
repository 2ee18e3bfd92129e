// masked_attention: causal attention whose values are narrower or wider than its keys, or whose
// queries see the keys of their own chunk alone; what `attention` cannot say.
#include "core/numeric/cast.hpp"
#include "kernels/attention/pairs.hpp"
#include "kernels/kv_cache.hpp"
#include "kernels/priced.hpp"

namespace halmark {
namespace {

constexpr ParamSpec specs[] = {
    priced_size("batch", "sequences"),
    priced_size("heads", "query heads"),
    priced_size("kv_heads", "key/value heads; divides heads"),
    priced_size("head_dim", "width of a query and of a key"),
    priced_size("value_dim", "width of a value"),
    priced_size("new_tokens", "queries per sequence"),
    priced_size("context", "keys up to and with the last query"),
    {.name = "window",
     .low = 0,
     .high = size_max,
     .fallback = 0,
     .meaning = "most recent keys a query sees; 0 = all"},
    {.name = "chunk",
     .low = 0,
     .high = size_max,
     .fallback = 0,
     .meaning = "a query sees the keys of its own chunk of this number of positions; 0 = all"},
    {.name = "q_dtype", .kind = ParamKind::dtype, .allowed = query_dtypes, .meaning = "of q"},
    {.name = "kv_dtype", .kind = ParamKind::dtype, .allowed = kv_dtypes, .meaning = "of k and v"},
    priced_dtype("dst_dtype", "of dst"),
};

// softmax flops per score: scale, subtract, exp, sum, divide.
constexpr double softmax_flops = 5;

class MaskedAttention final : public PricedContract {
 public:
  MaskedAttention()
      : PricedContract(
            "masked_attention",
            "dst[batch,new_tokens,heads,value_dim] = softmax(q k^T / sqrt(head_dim)) v, causal, "
            "under a window or within chunks",
            specs) {}

  std::optional<std::string> check_relations(const Params& p) const override {
    const auto pair = [&p](std::string_view a, std::string_view b) {
      return std::string(a) + "=" + std::to_string(p.at(a)) + " and " + std::string(b) + "=" +
             std::to_string(p.at(b));
    };
    if (p.at("heads") % p.at("kv_heads") != 0) {
      return "kv_heads must divide heads; got " + pair("heads", "kv_heads");
    }
    if (p.at("new_tokens") > p.at("context")) {
      return "context counts the new tokens too; got " + pair("new_tokens", "context");
    }
    if (p.at("window") > 0 && p.at("chunk") > 0) {
      return "a mask has a window or chunks; got " + pair("window", "chunk");
    }
    return std::nullopt;
  }

  std::vector<OperandSpec> operands(const Params& p) const override {
    const auto batch = p.at("batch"), heads = p.at("heads"), tokens = p.at("new_tokens");
    const auto kv_heads = p.at("kv_heads"), context = p.at("context");
    const Dtype kv = p.dtype("kv_dtype");
    return {priced_operand("q", Role::input, p.dtype("q_dtype"),
                           {batch, tokens, heads, p.at("head_dim")}),
            priced_operand("k", Role::state, kv, {batch, kv_heads, context, p.at("head_dim")}),
            priced_operand("v", Role::state, kv, {batch, kv_heads, context, p.at("value_dim")}),
            priced_operand("dst", Role::output, p.dtype("dst_dtype"),
                           {batch, tokens, heads, p.at("value_dim")})};
  }

  // Each visible key and value is read once.
  Work work(const Params& p) const override {
    const auto tensors = operands(p);
    const double share = as_double(keys(p)) / as_double(p.at("context"));
    const std::int64_t scales = 2 * p.at("batch") * p.at("kv_heads") * p.at("context") *
                                kv_row_scale_bytes(p.dtype("kv_dtype"));
    const double cache = share * as_double(tensors[1].bytes() + tensors[2].bytes() + scales);
    Work out = {.bytes_read = as_double(tensors[0].bytes()) + cache,
                .bytes_written = as_double(tensors[3].bytes()),
                .constant_bytes = cache};
    add_flops(p, out);
    return out;
  }

 protected:
  void add_flops(const Params& p, Work& work) const override {
    const double scores = product(p, {"batch", "heads"}) * pairs(p);
    work.matmul_flops = 2 * scores * as_double(p.at("head_dim") + p.at("value_dim"));
    work.vector_flops = softmax_flops * scores;
    work.compute_dtype = p.dtype("q_dtype");
  }

 private:
  static double pairs(const Params& p) {
    if (p.at("chunk") > 0) return chunked_pairs(p.at("new_tokens"), p.at("context"), p.at("chunk"));
    return attention_pairs(p.at("new_tokens"), p.at("context"), true, p.at("window"));
  }
  static std::int64_t keys(const Params& p) {
    if (p.at("chunk") > 0) return chunked_keys(p.at("new_tokens"), p.at("context"), p.at("chunk"));
    return attention_keys(p.at("new_tokens"), p.at("context"), true, p.at("window"));
  }
};

}  // namespace

const OpContract& masked_attention_contract() {
  static const MaskedAttention contract;
  return contract;
}

}  // namespace halmark
