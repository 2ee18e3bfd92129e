// Tables of aiconfigurator (github.com/ai-dynamo/aiconfigurator, Apache-2.0): milliseconds; its
// collectors store bf16 results of every gemm and attention, and weights as [n,k].
#include "kernels/contract.hpp"
#include "latency/imported/table_layout.hpp"

namespace halmark {
namespace {

TableParameter from(std::string name, std::string column, std::int64_t offset = 0) {
  return {std::move(name), std::move(column), {}, offset, {}};
}
TableParameter always(std::string name, std::string value) {
  return {std::move(name), {}, std::move(value), 0, {}};
}
TableParameter sum(std::string name, std::vector<TableTerm> terms) {
  return {std::move(name), {}, {}, 0, std::move(terms)};
}
TableCondition named(std::vector<std::string> ops) { return {"op_name", std::move(ops)}; }

TableLayout gemm() {
  return {.name = "gemm",
          .op = "gemm",
          .parameters = {from("m", "m"), from("n", "n"), from("k", "k"),
                         from("src_dtype", "gemm_dtype"), from("wei_dtype", "gemm_dtype"),
                         always("dst_dtype", "bf16"), always("wei_trans", "1")}};
}

TableLayout context_attention() {
  return {.name = "context_attention",
          .op = "attention",
          .parameters = {from("batch", "batch_size"), from("heads", "num_heads"),
                         from("kv_heads", "num_key_value_heads"), from("head_dim", "head_dim"),
                         from("new_tokens", "isl"), from("context", "isl"), always("causal", "1"),
                         from("window", "window_size"), from("q_dtype", "attn_dtype"),
                         from("kv_dtype", "kv_cache_dtype"), always("dst_dtype", "bf16")},
          .conditions = {named({"context_attention"})}};
}

// `step` counts the keys before the new one, and `context` counts that too.
TableLayout generation_attention() {
  return {
      .name = "generation_attention",
      .op = "attention",
      .parameters = {from("batch", "batch_size"), from("heads", "num_heads"),
                     from("kv_heads", "num_key_value_heads"), from("head_dim", "head_dim"),
                     always("new_tokens", "1"), from("context", "step", 1), always("causal", "1"),
                     from("window", "window_size"), always("q_dtype", "bf16"),
                     from("kv_dtype", "kv_cache_dtype"), always("dst_dtype", "bf16")},
      .conditions = {named({"generation_attention"})}};
}

// Every token sees every other.
TableLayout encoder_attention() {
  return {.name = "encoder_attention",
          .op = "attention",
          .parameters = {from("batch", "batch_size"), from("heads", "num_heads"),
                         from("kv_heads", "num_heads"), from("head_dim", "head_dim"),
                         from("new_tokens", "isl"), from("context", "isl"), always("causal", "0"),
                         always("window", "0"), from("q_dtype", "attn_dtype"),
                         from("kv_dtype", "attn_dtype"), always("dst_dtype", "bf16")},
          .conditions = {named({"encoder_attention"})}};
}

TableLayout moe() {
  return {.name = "moe",
          .op = "grouped_gemm",
          .form = TableForm::experts,
          .parameters = {from("tokens", "num_tokens"), from("top_k", "topk"),
                         from("experts", "num_experts"), from("ep_size", "moe_ep_size"),
                         from("hidden", "hidden_size"), from("width", "inter_size"),
                         from("expert_tp", "moe_tp_size"), from("src_dtype", "moe_dtype"),
                         from("distribution", "distribution")}};
}

TableLayout nccl() {
  return {.name = "nccl",
          .op = "",
          .form = TableForm::collective,
          .parameters = {from("op", "op_name"), from("ranks", "num_gpus"),
                         from("elements", "message_size"), from("dtype", "nccl_dtype")}};
}

TableLayout typed_allreduce() {
  return {.name = "custom_allreduce",
          .op = "",
          .form = TableForm::collective,
          .parameters = {always("op", "all_reduce"), from("ranks", "num_gpus"),
                         from("elements", "message_size"), from("dtype", "allreduce_dtype")}};
}

TableLayout untyped_allreduce() {
  return {.name = "custom_allreduce",
          .op = "",
          .form = TableForm::collective,
          .parameters = {always("op", "all_reduce"), from("ranks", "num_gpus"),
                         from("elements", "message_size"), always("dtype", "bf16")}};
}

// Latent attention is collected in DeepSeek-V3's widths alone: latent rows of 512 + 64, keys of 128
// + 64 and values of 128 per head. `num_heads` are those of one rank. Whole prompts expand their
// keys in the type of the products whatever the cache has; single tokens read the latent rows.
TableLayout context_latent() {
  return {.name = "context_mla",
          .op = "latent_attention",
          .parameters = {from("batch", "batch_size"), from("heads", "num_heads"),
                         always("qk_dim", "192"), always("v_dim", "128"), from("new_tokens", "isl"),
                         sum("context", {{1, {"isl"}}, {1, {"step"}}}), always("absorbed", "0"),
                         from("q_dtype", "mla_dtype"), from("kv_dtype", "mla_dtype"),
                         always("dst_dtype", "bf16")},
          .conditions = {named({"mla_context"}), {"kv_cache_dtype", {"bfloat16"}}}};
}

TableLayout generation_latent() {
  return {.name = "generation_mla",
          .op = "latent_attention",
          .parameters = {from("batch", "batch_size"), from("heads", "num_heads"),
                         always("qk_dim", "576"), always("v_dim", "512"), always("new_tokens", "1"),
                         from("context", "step", 1), always("absorbed", "1"),
                         from("q_dtype", "mla_dtype"), from("kv_dtype", "kv_cache_dtype"),
                         always("dst_dtype", "bf16")},
          .conditions = {named({"mla_generation"})}};
}

// Into the latent space and out of it, head by head.
TableLayout latent_product(const char* op_name, const char* n, const char* k) {
  return {.name = "mla_bmm",
          .op = "batched_gemm",
          .parameters = {from("groups", "num_heads"), from("m", "num_tokens"), always("n", n),
                         always("k", k), from("src_dtype", "bmm_dtype"),
                         from("wei_dtype", "bmm_dtype"), always("dst_dtype", "bf16")},
          .conditions = {named({op_name})}};
}

// Over q, k and v of all heads side by side.
TableLayout delta_convolution() {
  return {
      .name = "gdn",
      .op = "short_convolution",
      .parameters = {from("batch", "batch_size"), from("new_tokens", "seq_len"),
                     sum("channels",
                         {{2, {"num_k_heads", "head_k_dim"}}, {1, {"num_v_heads", "head_v_dim"}}}),
                     from("kernel", "d_conv"), always("has_bias", "0"), always("dtype", "bf16")},
      .conditions = {named({"gdn"}),
                     {"kernel_source", {"causal_conv1d_fn", "causal_conv1d_update"}}}};
}

TableLayout delta_rule() {
  return {.name = "gdn",
          .op = "delta_rule",
          .parameters = {from("batch", "batch_size"), from("new_tokens", "seq_len"),
                         from("key_heads", "num_k_heads"), from("key_dim", "head_k_dim"),
                         from("value_heads", "num_v_heads"), from("value_dim", "head_v_dim"),
                         always("src_dtype", "bf16"), always("dst_dtype", "bf16")},
          .conditions = {named({"gdn"}),
                         {"kernel_source",
                          {"chunk_gated_delta_rule", "chunk_gated_delta_rule_flashinfer",
                           "fused_recurrent_gated_delta_rule",
                           "fused_recurrent_gated_delta_rule_packed_decode"}}}};
}

// Over the values of all heads and both projections of every group.
TableLayout state_space_convolution() {
  return {
      .name = "mamba2",
      .op = "short_convolution",
      .parameters = {from("batch", "batch_size"), from("new_tokens", "seq_len"),
                     sum("channels", {{1, {"nheads", "head_dim"}}, {2, {"n_groups", "d_state"}}}),
                     from("kernel", "d_conv"), always("has_bias", "1"), always("dtype", "bf16")},
      .conditions = {named({"mamba2"}),
                     {"kernel_source", {"causal_conv1d_fn", "causal_conv1d_update"}}}};
}

// Tables that are known, and whose rows are no problem of any op.
TableLayout skipped(std::string name, std::vector<std::string> columns, TableCondition condition,
                    std::string why) {
  TableLayout out{.name = std::move(name), .op = ""};
  for (std::string& column : columns) out.parameters.push_back(from(column, column));
  out.conditions = {std::move(condition)};
  out.why_skipped = std::move(why);
  return out;
}

}  // namespace

TableLayouts built_in_layouts() {
  const std::vector<std::string> prompt_kernels = {"causal_conv1d_fn", "chunk_gated_delta_rule",
                                                   "chunk_gated_delta_rule_flashinfer"};
  // A decode step is the same problem as a prompt of one token, and runs other kernels.
  TableLayout prompt_of_one =
      skipped("linear_attention", {"d_conv", "seq_len"}, {"kernel_source", prompt_kernels},
              "a prompt of one token, which is asked for as a decode step");
  prompt_of_one.conditions.push_back({"seq_len", {"1"}});
  const char* const module = "a module of several operators, which the model prices one by one";
  return {
      gemm(),
      context_attention(),
      generation_attention(),
      encoder_attention(),
      moe(),
      nccl(),
      typed_allreduce(),
      untyped_allreduce(),
      context_latent(),
      generation_latent(),
      latent_product("mla_gen_pre", "512", "128"),
      latent_product("mla_gen_post", "128", "512"),
      prompt_of_one,
      delta_convolution(),
      delta_rule(),
      state_space_convolution(),
      skipped(
          "mla", {"mla_dtype", "kv_cache_dtype"}, named({"mla_context"}),
          "a prompt whose cache has another type than its products, which one operator has not"),
      skipped(
          "module", {"gemm_type", "num_heads"},
          named({"mla_context_module", "mla_generation_module", "dsa_context_module",
                 "dsa_generation_module", "dsv4_csa_context_module", "dsv4_csa_generation_module",
                 "dsv4_hca_context_module", "dsv4_hca_generation_module", "dsv4_hca_attn_module",
                 "msa_context_module", "msa_generation_module"}),
          module),
      skipped("paged_mqa_logits", {"gemm_type", "num_heads"},
              named({"dsv4_paged_mqa_logits_module"}),
              "scores of an indexer without the choice of its keys, which one operator does"),
      skipped("mhc", {"hc_mult", "num_tokens"}, named({"pre", "post"}), module),
      skipped("quantize", {"quant_dtype", "m", "k"}, named({"compute_scale", "scale_matrix"}),
              "a half of quantising, which one operator does"),
  };
}

std::string op_column(std::string_view parameter) {
  return (parameter == "kind" ? std::string(op_kind_prefix) : std::string()) +
         std::string(parameter);
}

TableLayouts layouts_of_kind(std::string_view kind) {
  const OpContract* contract = kind.starts_with(op_kind_prefix)
                                   ? find_contract(kind.substr(op_kind_prefix.size()))
                                   : nullptr;
  if (contract == nullptr) {
    TableLayouts out = built_in_layouts();
    std::erase_if(out, [&](const TableLayout& layout) { return layout.name != kind; });
    return out;
  }
  TableLayout out{.name = std::string(kind), .op = std::string(contract->name())};
  for (const ParamSpec& spec : contract->params()) {
    if (!spec.derived) out.parameters.push_back(from(std::string(spec.name), op_column(spec.name)));
  }
  return {out};
}

}  // namespace halmark
