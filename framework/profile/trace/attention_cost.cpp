#include "profile/trace/attention_cost.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "kernels/contract.hpp"

namespace halmark::trace {
namespace {

using Arguments = std::vector<Argument>;

enum class Layout {
  heads_first,  // [batch, heads, tokens, width]
  heads_last,   // [batch, tokens, heads, width], or packed: [tokens, heads, width]
};

// Which argument says what, or none. Argument orders are those of the schemas in
// torch (native_functions.yaml), flash-attn and xformers.
struct Signature {
  std::string_view name;
  Layout layout;
  int causal, mask;
  int lengths, longest_query, longest_key;  // of packed batches: the query offsets
};

constexpr int none = -1;  // no argument of the operator

constexpr std::array signatures = {
    Signature{"aten::scaled_dot_product_attention", Layout::heads_first, 5, 3, none, none, none},
    Signature{"aten::_scaled_dot_product_attention_math", Layout::heads_first, 5, 3, none, none,
              none},
    Signature{"aten::_scaled_dot_product_flash_attention", Layout::heads_first, 4, none, none, none,
              none},
    Signature{"aten::_scaled_dot_product_flash_attention_for_cpu", Layout::heads_first, 4, 5, none,
              none, none},
    Signature{"aten::_scaled_dot_product_efficient_attention", Layout::heads_first, 6, 3, none,
              none, none},
    Signature{"aten::_scaled_dot_product_cudnn_attention", Layout::heads_first, 6, 3, none, none,
              none},
    Signature{"aten::_scaled_dot_product_fused_attention_overrideable", Layout::heads_first, 5, 3,
              none, none, none},
    Signature{"aten::_cudnn_attention_forward", Layout::heads_first, 10, 3, none, none, none},
    Signature{"aten::_flash_attention_forward", Layout::heads_last, 8, none, 3, 5, 6},
    Signature{"flash_attn::_flash_attn_forward", Layout::heads_last, 5, none, none, none, none},
    Signature{"flash_attn::_flash_attn_varlen_forward", Layout::heads_last, 9, none, 3, 5, 6},
    Signature{"aten::_efficient_attention_forward", Layout::heads_last, none, 3, 4, 6, 7},
};

const Argument* argument(const Arguments& a, int index) {
  const auto i = static_cast<std::size_t>(index);
  return index >= 0 && i < a.size() ? &a[i] : nullptr;
}

std::optional<std::int64_t> number(const Argument* argument) {
  if (argument == nullptr) return std::nullopt;
  std::int64_t out = 0;
  const std::string& text = argument->value;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return out;
}

// Every sequence brings the same number of tokens, or the lengths are nowhere in the trace.
OperatorCost packed(const Signature& signature, const Arguments& a, AttentionShape shape) {
  const Argument* offsets = argument(a, signature.lengths);
  if (offsets == nullptr || offsets->dims.size() != 1 || offsets->dims[0] < 2) {
    return unknown("the lengths of its sequences are not in the trace");
  }
  const std::int64_t sequences = offsets->dims[0] - 1;
  const std::int64_t tokens = a[0].dims[0], key_tokens = a[1].dims[0];
  OperatorCost out;
  const auto longest = number(argument(a, signature.longest_query));
  if (longest) out.packed = PackedQueries{tokens, sequences, *longest};
  const auto longest_key = number(argument(a, signature.longest_key));
  const bool has_equal_queries = sequences == 1 || (longest && tokens == sequences * *longest);
  const bool has_equal_keys =
      sequences == 1 || (longest_key && key_tokens == sequences * *longest_key);
  if (!has_equal_queries || !has_equal_keys) {
    out.reason = "its sequences have different lengths, which are not in the trace";
    return out;
  }
  shape.batch = sequences;
  shape.queries = tokens / sequences;
  shape.keys = key_tokens / sequences;
  out.attention = shape;
  return out;
}

}  // namespace

double attention_flops(const AttentionShape& s) {
  constexpr auto f32 = static_cast<std::int64_t>(Dtype::f32);
  const bool is_causal = s.mask == Mask::causal;
  std::int64_t rows = 0;
  if (__builtin_mul_overflow(s.batch, s.queries, &rows)) rows = INT64_MAX;
  const auto of_width = [&](std::int64_t width) {
    // Without a mask a query is as good as a sequence; the contract knows no more queries than
    // keys.
    const Problem problem = complete_problem({"attention",
                                              {{"batch", is_causal ? s.batch : rows},
                                               {"heads", s.heads},
                                               {"kv_heads", s.kv_heads},
                                               {"head_dim", width},
                                               {"new_tokens", is_causal ? s.queries : 1},
                                               {"context", s.keys},
                                               {"causal", is_causal ? 1 : 0},
                                               {"q_dtype", f32},
                                               {"kv_dtype", f32},
                                               {"dst_dtype", f32}}});
    return find_contract("attention")->work(problem.params).matmul_flops / 2;
  };
  return of_width(s.head_dim) + of_width(s.value_dim);
}

OperatorCost attention_cost(std::string_view name, const std::vector<Argument>& a) {
  const auto* signature = std::ranges::find(signatures, name, &Signature::name);
  if (signature == signatures.end()) {
    return unknown("its keys are in a cache whose use is not in the trace");
  }
  const std::size_t rank = a.empty() ? 0 : a[0].dims.size();
  const bool is_packed = signature->layout == Layout::heads_last && rank == 3;
  if (a.size() < 3 || (rank != 4 && !is_packed) || a[1].dims.size() != rank ||
      a[2].dims.size() != rank) {
    return unknown("query, key and value are expected as arguments");
  }
  const auto& q = a[0].dims;
  const auto& k = a[1].dims;
  const std::size_t head_axis = signature->layout == Layout::heads_first ? 1 : rank - 2;
  const std::size_t token_axis = signature->layout == Layout::heads_first ? 2 : rank - 3;
  AttentionShape shape{.batch = is_packed ? 0 : q[0],
                       .heads = q[head_axis],
                       .kv_heads = k[head_axis],
                       .queries = q[token_axis],
                       .keys = k[token_axis],
                       .head_dim = q.back(),
                       .value_dim = a[2].dims.back()};
  const Argument* mask = argument(a, signature->mask);
  const Argument* causal = argument(a, signature->causal);
  const bool is_causal = causal != nullptr && (causal->value == "True" || causal->value == "true");
  if (mask != nullptr && !mask->dims.empty()) {
    shape.mask = Mask::given;
  } else if (is_causal) {
    shape.mask = Mask::causal;
  } else if (shape.queries > 1 && (causal == nullptr || causal->value.empty())) {
    return unknown("whether it is causal is not in the trace");
  }
  OperatorCost out{.attention = shape};
  if (is_packed) out = packed(*signature, a, shape);
  if (!out.attention) return out;
  AttentionShape seen = *out.attention;
  // torch aligns the mask of a short query with the first key, flash-attn with the last one.
  if (seen.mask == Mask::causal && signature->layout == Layout::heads_first) {
    seen.keys = std::min(seen.keys, seen.queries);
  }
  out.flops = attention_flops(seen);
  return out;
}

}  // namespace halmark::trace
