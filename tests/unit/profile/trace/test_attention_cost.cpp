// Which argument of an attention operator says what: every operator by the schema of its library.
#include <gmock/gmock.h>

#include <algorithm>

#include "core/ranges.hpp"
#include "profile/trace/attention_cost.hpp"

namespace halmark::trace {
namespace {

using testing::HasSubstr;
using Names = std::vector<std::string_view>;
using Dims = std::vector<std::int64_t>;

// As in native_functions.yaml of torch, and in flash-attn's registration of its operators.
struct Schema {
  std::string_view name;
  bool has_heads_first;
  Names arguments;
};

const std::vector<Schema>& schemas() {
  static const std::vector<Schema> out = {
      {"aten::scaled_dot_product_attention",
       true,
       {"query", "key", "value", "mask", "dropout_p", "causal", "scale", "enable_gqa"}},
      {"aten::_scaled_dot_product_attention_math",
       true,
       {"query", "key", "value", "mask", "dropout_p", "causal", "dropout_mask", "scale", "gqa"}},
      {"aten::_scaled_dot_product_flash_attention",
       true,
       {"query", "key", "value", "dropout_p", "causal", "return_debug_mask", "scale"}},
      {"aten::_scaled_dot_product_flash_attention_for_cpu",
       true,
       {"query", "key", "value", "dropout_p", "causal", "mask", "scale"}},
      {"aten::_scaled_dot_product_efficient_attention",
       true,
       {"query", "key", "value", "mask", "compute_log_sumexp", "dropout_p", "causal", "scale"}},
      {"aten::_scaled_dot_product_cudnn_attention",
       true,
       {"query", "key", "value", "mask", "compute_log_sumexp", "dropout_p", "causal",
        "return_debug_mask", "scale"}},
      {"aten::_scaled_dot_product_fused_attention_overrideable",
       true,
       {"query", "key", "value", "mask", "dropout_p", "causal", "return_debug_mask", "scale"}},
      {"aten::_cudnn_attention_forward",
       true,
       {"query", "key", "value", "mask", "key_offsets", "more_offsets", "longest_q", "longest_k",
        "compute_log_sumexp", "dropout_p", "causal", "return_debug_mask", "scale"}},
      {"aten::_flash_attention_forward",
       false,
       {"query", "key", "value", "offsets", "key_offsets", "longest", "longest_key", "dropout_p",
        "causal", "return_debug_mask", "scale", "window_left", "window_right"}},
      {"flash_attn::_flash_attn_forward",
       false,
       {"query", "key", "value", "dropout_p", "scale", "causal", "window_left", "window_right"}},
      {"flash_attn::_flash_attn_varlen_forward",
       false,
       {"query", "key", "value", "offsets", "key_offsets", "longest", "longest_key", "dropout_p",
        "scale", "causal", "window_left", "window_right"}},
      {"aten::_efficient_attention_forward",
       false,
       {"query", "key", "value", "mask", "offsets", "key_offsets", "longest", "longest_key",
        "dropout_p", "mask_type"}}};
  return out;
}

// A call of which every scalar says `rest`, and the arguments named in `values` and `dims` theirs.
std::vector<Argument> call(const Schema& schema, const std::map<std::string_view, Dims>& dims,
                           const std::map<std::string_view, std::string>& values,
                           const std::string& rest = "") {
  std::vector<Argument> out;
  for (const std::string_view name : schema.arguments) {
    Argument& argument = out.emplace_back();
    if (const auto it = dims.find(name); it != dims.end()) {
      argument.dims = it->second;
    } else {
      const auto value = values.find(name);
      argument.value = value != values.end() ? value->second : rest;
    }
  }
  return out;
}

bool knows(const Schema& schema, std::string_view argument) {
  return contains(schema.arguments, argument);
}

// Two sequences, 6 heads on 2, 3 queries on 5 keys, widths 8 and 4.
std::map<std::string_view, Dims> tensors(const Schema& schema) {
  if (schema.has_heads_first) {
    return {{"query", {2, 6, 3, 8}}, {"key", {2, 2, 5, 8}}, {"value", {2, 2, 5, 4}}};
  }
  return {{"query", {2, 3, 6, 8}}, {"key", {2, 5, 2, 8}}, {"value", {2, 5, 2, 4}}};
}

double flops_of_pairs(double pairs) { return 2. * 2 * 6 * pairs * (8 + 4); }

AttentionShape shape(Mask mask) { return {2, 6, 2, 3, 5, 8, 4, mask}; }

TEST(AttentionSchema, causal_is_read_where_the_schema_has_it_and_nowhere_else) {
  for (const Schema& schema : schemas()) {
    if (!knows(schema, "causal")) continue;
    const auto causal = attention_cost(schema.name, call(schema, tensors(schema),  //
                                                         {{"causal", "True"}}, "False"));
    EXPECT_EQ(causal.attention, shape(Mask::causal)) << schema.name;
    // torch lets query i see the keys up to i; flash-attn the keys up to i + 2.
    const double pairs = schema.has_heads_first ? 1 + 2 + 3 : 3 + 4 + 5;
    EXPECT_EQ(causal.flops, flops_of_pairs(pairs)) << schema.name;
    const auto full =
        attention_cost(schema.name, call(schema, tensors(schema), {{"causal", "False"}}, "True"));
    EXPECT_EQ(full.attention, shape(Mask::full)) << schema.name;
    EXPECT_EQ(full.flops, flops_of_pairs(3 * 5)) << schema.name;
    const auto unsaid =
        attention_cost(schema.name, call(schema, tensors(schema), {{"causal", ""}}, "True"));
    EXPECT_EQ(unsaid.flops, std::nullopt) << schema.name;
    EXPECT_EQ(unsaid.reason, "whether it is causal is not in the trace") << schema.name;
  }
}

TEST(AttentionSchema, a_mask_is_seen_where_the_schema_has_it_and_nowhere_else) {
  for (const Schema& schema : schemas()) {
    for (std::size_t i = 3; i < schema.arguments.size(); ++i) {
      auto given = tensors(schema);
      given[schema.arguments[i]] = {3, 5};
      const std::map<std::string_view, std::string> values = {{"causal", "False"}};
      if (schema.arguments[i] == "causal") continue;
      const OperatorCost cost = attention_cost(schema.name, call(schema, given, values));
      if (schema.arguments[i] == "mask") {
        EXPECT_EQ(cost.attention, shape(Mask::given)) << schema.name;
        EXPECT_EQ(cost.flops, flops_of_pairs(3 * 5)) << schema.name;
      } else if (knows(schema, "causal")) {
        EXPECT_EQ(cost.attention, shape(Mask::full)) << schema.name << ' ' << schema.arguments[i];
      } else {
        EXPECT_FALSE(cost.flops) << schema.name << ' ' << schema.arguments[i];
      }
    }
  }
}

TEST(AttentionSchema, a_single_query_sees_every_key_whatever_is_said) {
  for (const Schema& schema : schemas()) {
    auto given = tensors(schema);
    given["query"][schema.has_heads_first ? 2 : 1] = 1;
    const OperatorCost cost = attention_cost(schema.name, call(schema, given, {}));
    EXPECT_EQ(cost.flops, flops_of_pairs(5)) << schema.name << cost.reason;
  }
}

// A packed batch: sequences of 3 queries on 5 keys.
OperatorCost packed(const Schema& schema, std::int64_t sequences, const std::string& longest,
                    const std::string& longest_key, std::int64_t tokens, std::int64_t keys) {
  return attention_cost(
      schema.name,
      call(schema,
           {{"query", {tokens, 6, 8}},
            {"key", {keys, 2, 8}},
            {"value", {keys, 2, 4}},
            {"offsets", {sequences + 1}},
            {"mask", knows(schema, "causal") ? Dims{} : Dims{3, 5}}},
           {{"causal", "False"}, {"longest", longest}, {"longest_key", longest_key}}, "77"));
}

TEST(AttentionSchema, packed_batches_tell_their_lengths_where_all_are_equal) {
  for (const Schema& schema : schemas()) {
    if (!knows(schema, "longest")) continue;
    const OperatorCost equal = packed(schema, 4, "3", "5", 12, 20);
    ASSERT_TRUE(equal.attention) << schema.name << equal.reason;
    EXPECT_EQ(equal.attention->batch, 4);
    EXPECT_EQ(equal.attention->queries, 3);
    EXPECT_EQ(equal.attention->keys, 5);
    EXPECT_EQ(equal.attention->heads, 6);
    EXPECT_EQ(equal.attention->kv_heads, 2);
    EXPECT_EQ(equal.flops, 2 * flops_of_pairs(15)) << schema.name;
    ASSERT_TRUE(equal.packed);
    EXPECT_EQ(equal.packed->tokens, 12);
    EXPECT_EQ(equal.packed->sequences, 4);
    EXPECT_EQ(equal.packed->longest, 3);
    // One sequence needs nobody to say how long it is.
    const OperatorCost one = packed(schema, 1, "", "", 3, 5);
    EXPECT_EQ(one.flops, flops_of_pairs(15) / 2) << schema.name << one.reason;
    EXPECT_FALSE(one.packed);
    for (const auto& [longest, longest_key] :
         {std::pair{"4", "5"}, {"3", "6"}, {"", "5"}, {"3", ""}, {"3x", "5"}, {"3", "5x"}}) {
      const OperatorCost other = packed(schema, 4, longest, longest_key, 12, 20);
      EXPECT_FALSE(other.flops) << schema.name << longest << ' ' << longest_key;
      EXPECT_FALSE(other.attention);
      EXPECT_THAT(other.reason, HasSubstr("different lengths"));
    }
    EXPECT_TRUE(packed(schema, 2, "3", "5", 6, 10).flops) << schema.name;
    EXPECT_FALSE(packed(schema, 2, "3", "5", 6, 9).flops) << schema.name;
  }
}

TEST(AttentionSchema, a_packed_batch_without_offsets_is_unknown) {
  for (const Schema& schema : schemas()) {
    if (schema.has_heads_first) continue;
    for (const Dims& offsets : {Dims{}, Dims{1}, Dims{2, 2}}) {
      const OperatorCost cost = attention_cost(schema.name, call(schema,
                                                                 {{"query", {3, 6, 8}},
                                                                  {"key", {5, 2, 8}},
                                                                  {"value", {5, 2, 4}},
                                                                  {"mask", {3, 5}},
                                                                  {"offsets", offsets}},
                                                                 {{"causal", "False"}}, "0"));
      EXPECT_EQ(cost.reason, "the lengths of its sequences are not in the trace") << schema.name;
      EXPECT_FALSE(cost.flops);
    }
  }
}

TEST(AttentionSchema, tensors_of_another_rank_are_not_query_key_and_value) {
  for (const Schema& schema : schemas()) {
    const std::string reason = "query, key and value are expected as arguments";
    for (const char* name : {"query", "key", "value"}) {
      auto given = tensors(schema);
      given[name].push_back(1);
      EXPECT_EQ(attention_cost(schema.name, call(schema, given, {{"causal", "False"}})).reason,
                reason)
          << schema.name << name;
    }
    // Three sizes are a packed batch of one library, and nothing in the other.
    auto flat = tensors(schema);
    for (auto& [name, dims] : flat) dims.erase(dims.begin());
    const std::string said = attention_cost(schema.name, call(schema, flat, {})).reason;
    EXPECT_EQ(said == reason, schema.has_heads_first) << schema.name << said;
    auto few = call(schema, tensors(schema), {{"causal", "False"}});
    few.resize(2);
    EXPECT_EQ(attention_cost(schema.name, few).reason, reason) << schema.name;
    EXPECT_EQ(attention_cost(schema.name, {}).reason, reason) << schema.name;
  }
}

TEST(AttentionSchema, an_operator_over_a_cache_is_unknown) {
  EXPECT_EQ(attention_cost("vllm::unified_attention", {}).reason,
            "its keys are in a cache whose use is not in the trace");
}

}  // namespace
}  // namespace halmark::trace
