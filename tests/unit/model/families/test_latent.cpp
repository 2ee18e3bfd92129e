// Latent attention and its descendants: forms, caches, splits, refusals, and identities that hold
// whatever the sizes are.

#include "core/json/json.hpp"
#include "core/numeric/cast.hpp"
#include "fixtures.hpp"
#include "model/pricing/memory.hpp"

namespace halmark {
namespace {

using namespace model_test;

// H 16, 4 heads of 4 + 2 and values of 6, ranks 8 and 10; 8 experts of width 8, 1 dense layer of 3.
Json tiny_config() {
  return parse_json(R"({"model_type": "deepseek_v3", "num_hidden_layers": 3, "hidden_size": 16,
      "num_attention_heads": 4, "q_lora_rank": 8, "kv_lora_rank": 10, "qk_nope_head_dim": 4,
      "qk_rope_head_dim": 2, "v_head_dim": 6, "intermediate_size": 24, "first_k_dense_replace": 1,
      "n_routed_experts": 8, "num_experts_per_tok": 2, "n_shared_experts": 1,
      "moe_intermediate_size": 8, "scoring_func": "sigmoid", "norm_topk_prob": true,
      "vocab_size": 32, "tie_word_embeddings": false, "max_position_embeddings": 4096})",
                    "tiny_latent.json");
}
ModelSpec read(const Json& config) { return read_model(config.dump(), "tiny_latent.json"); }
ModelSpec tiny_latent() { return read(tiny_config()); }

Json tiny_sparse_config() {
  Json config = tiny_config();
  config["model_type"] = "deepseek_v32";
  config["index_n_heads"] = 2;
  config["index_head_dim"] = 8;
  config["index_topk"] = 5;
  return config;
}

Json tiny_v4_config() {
  return parse_json(R"({"model_type": "deepseek_v4", "num_hidden_layers": 3, "hidden_size": 16,
      "num_attention_heads": 8, "num_key_value_heads": 1, "head_dim": 8, "qk_rope_head_dim": 4,
      "q_lora_rank": 8, "o_groups": 4, "o_lora_rank": 4, "sliding_window": 6, "hc_mult": 2,
      "hc_sinkhorn_iters": 3, "index_n_heads": 4, "index_head_dim": 8, "index_topk": 3,
      "compress_ratios": [0, 4, 128, 4], "n_routed_experts": 8, "num_experts_per_tok": 2,
      "n_shared_experts": 1, "moe_intermediate_size": 8, "scoring_func": "sqrtsoftplus",
      "norm_topk_prob": true, "vocab_size": 32, "tie_word_embeddings": false,
      "max_position_embeddings": 4096})",
                    "tiny_v4.json");
}

double matmul_flops(const ModelSpec& spec, const Configuration& configuration) {
  return graph_of(spec, configuration).totals.matmul_flops;
}

TEST(Latent, prefill_expands_and_decode_absorbs) {
  const OperatorGraph prefilled = graph_of(tiny_latent(), prefill(1, 8, 8));
  EXPECT_TRUE(has_operator(prefilled, "attention_explicit"));
  EXPECT_TRUE(has_operator(prefilled, "kv_b_proj"));
  EXPECT_FALSE(has_operator(prefilled, "q_up"));
  const OperatorGraph decoded = graph_of(tiny_latent(), decode(1, 8));
  EXPECT_TRUE(has_operator(decoded, "attention_absorbed"));
  EXPECT_TRUE(has_operator(decoded, "v_up"));
  EXPECT_FALSE(has_operator(decoded, "kv_b_proj"));
}

// The absorbed pair is kv_b, moved: as many weights, and as many FLOPs on as many tokens.
TEST(Latent, the_absorbed_pair_costs_what_it_replaces) {
  for (const char* id : {"deepseek-v2-lite", "deepseek-v3", "glm-5"}) {
    const OperatorGraph expanded = graph_of(id, prefill(3, 1, 1));
    const OperatorGraph absorbed = graph_of(id, decode(3, 1));
    const Operator& kv_b = find_operator(expanded, "kv_b_proj");
    const Operator& q_up = find_operator(absorbed, "q_up");
    const Operator& v_up = find_operator(absorbed, "v_up");
    EXPECT_EQ(kv_b.matmul_flops / as_double(kv_b.count),
              (q_up.matmul_flops + v_up.matmul_flops) / as_double(q_up.count));
    EXPECT_EQ(kv_b.parameters, q_up.parameters + v_up.parameters);
    EXPECT_EQ(expanded.totals.parameters, absorbed.totals.parameters) << id;
    EXPECT_EQ(expanded.totals.active_parameters, absorbed.totals.active_parameters) << id;
  }
}

// (2 x 512 + 64) / (128 + 64 + 128) = 3.4 times the FLOPs per pair of DeepSeek-V3.
TEST(Latent, absorbed_attention_costs_more_per_pair) {
  const auto per_pair = [](const OperatorGraph& graph, const char* name) {
    const Operator& op = find_operator(graph, name);
    return op.whole_work.matmul_flops;
  };
  const ModelSpec spec = shipped("deepseek-v3");
  const double expanded = per_pair(graph_of(spec, prefill(1, 1, 100)), "attention_explicit");
  const double absorbed = per_pair(graph_of(spec, decode(1, 100)), "attention_absorbed");
  EXPECT_EQ(expanded, 2.0 * 128 * (128 + 64 + 128) * 100);
  EXPECT_EQ(absorbed, 2.0 * 128 * (512 + 64 + 512) * 100);
  EXPECT_DOUBLE_EQ(absorbed / expanded, 3.4);
}

TEST(Latent, a_cached_prefix_is_expanded_again) {
  const OperatorGraph graph = graph_of(tiny_latent(), prefill(2, 4, 100));
  EXPECT_EQ(find_operator(graph, "kv_b_proj").local.params.at("m"), 2 * 100);
  EXPECT_EQ(find_operator(graph, "kv_a_proj").local.params.at("m"), 2 * 4);
}

TEST(Latent, the_latent_cache_is_whole_on_every_tensor_rank) {
  const ModelSpec spec = shipped("deepseek-v3");
  const auto kv = [&](Parallel parallel) {
    return memory_use(graph_of(spec, decode(8, 1000, parallel))).largest.kv_bytes;
  };
  EXPECT_EQ(kv({}), 8 * 1000 * 70'272);
  EXPECT_EQ(kv({.tp = 8}), kv({}));
  EXPECT_EQ(kv({.dp = 8}), kv({}) / 8);
}

// An indexer keeps 128 values of 2 bytes per token, or of 1 byte and a scale of 4 in f8. GLM-5.2
// has an index in 21 of 78 layers.
TEST(Latent, an_indexer_keeps_its_keys) {
  const auto kv = [](const char* id, const Precision& precision) {
    return memory_use(graph_of(id, decode(1, 1, {}, precision))).kv_bytes_per_token;
  };
  EXPECT_EQ(kv("deepseek-v3.2", bf16()), 61 * (576 * 2 + 128 * 2));
  EXPECT_EQ(kv("deepseek-v3.2", fp8()), 61 * (576 * 2 + 128 + 4));
  EXPECT_EQ(kv("glm-5", bf16()), 78 * (576 * 2 + 128 * 2));
  EXPECT_EQ(kv("glm-5.2", bf16()), 78 * 576 * 2 + 21 * 128 * 2);
}

// Per layer a ring of 128 rows of 512; an entry of 512 per 4 or 128 tokens; an index key of 128 per
// 4 tokens. 2, 21 and 20 layers of ratios 0, 4 and 128.
TEST(CompressedAttention, keeps_a_ring_and_compressed_entries) {
  const ModelSpec spec = shipped("deepseek-v4-flash");
  const MemoryUse use = memory_use(graph_of(spec, decode(1, 1024)));
  EXPECT_EQ(use.kv_bytes_per_token, 21 * (1024 / 4 + 256 / 4) + 20 * 1024 / 128);
  EXPECT_EQ(use.largest.kv_bytes, 43 * 128 * 1024 + 21 * 256 * (1024 + 256) + 20 * 8 * 1024);
  EXPECT_EQ(memory_use(graph_of(spec, decode(1, 1024, {.tp = 8}))).largest.kv_bytes,
            use.largest.kv_bytes);
}

TEST(SparseAttention, reads_no_more_keys_than_it_chose) {
  const ModelSpec spec = read(tiny_sparse_config()), all = tiny_latent();
  const auto attention = [](const ModelSpec& model, const Configuration& d, const char* name) {
    return find_operator(graph_of(model, d), name).whole_work.matmul_flops;
  };
  // 5 of 100 keys; all 5 of 5; below, what is there.
  EXPECT_EQ(attention(spec, decode(1, 100), "attention_absorbed") * 20,
            attention(all, decode(1, 100), "attention_absorbed"));
  for (const std::int64_t context : {1, 3, 5}) {
    EXPECT_EQ(attention(spec, decode(1, context), "attention_absorbed"),
              attention(all, decode(1, context), "attention_absorbed"));
  }
  // 1 + 2 + 3 + 4 + 5 + 5 + 5 pairs.
  EXPECT_EQ(attention(spec, prefill(1, 7, 7), "attention_explicit"), 2.0 * 4 * (6 + 6) * 25);
  // The index scores every visible key.
  EXPECT_EQ(attention(spec, prefill(1, 7, 7), "index_score"), 2.0 * 2 * 8 * 28);
}

TEST(SparseAttention, layers_that_share_a_choice_have_no_indexer) {
  const OperatorGraph full = graph_of("glm-5", decode(1, 4096));
  const OperatorGraph shared = graph_of("glm-5.2", decode(1, 4096));
  const auto layers_with = [](const OperatorGraph& graph, std::string_view name) {
    std::int64_t out = 0;
    for (const Operator& op : graph.operators) out += op.name == name ? op.count : 0;
    return out;
  };
  EXPECT_EQ(layers_with(full, "index_score"), 78);
  EXPECT_EQ(layers_with(shared, "index_score"), 21);
  EXPECT_EQ(layers_with(shared, "attention_absorbed"), 78);
}

// 3 tokens, hidden 16 in 2 streams, 3 Sinkhorn iterations.
TEST(CompressedAttention, hyper_connections_stand_around_both_sub_layers) {
  const OperatorGraph graph = graph_of(read(tiny_v4_config()), decode(3, 8));
  EXPECT_EQ(find_operator(graph, "attention_mix").whole_work.matmul_flops,
            2.0 * 3 * (2 + 2) * 2 * (2 * 16));
  EXPECT_EQ(find_operator(graph, "attention_post").whole_work.flops(), 2.0 * 3 * 2 * 16 * (1 + 2));
  EXPECT_EQ(find_operator(graph, "ffn_pre").whole_work.flops(),
            2.0 * 3 * 2 * 16 + 4.0 * 3 * 2 * 2 * 3);
  EXPECT_FALSE(has_operator(graph, "attention_residual_add"));
}

TEST(LatentIdentity, flops_grow_with_the_batch) {
  for (const ModelSpec& spec :
       {tiny_latent(), read(tiny_sparse_config()), read(tiny_v4_config())}) {
    const double one = matmul_flops(spec, decode(1, 300));
    EXPECT_EQ(matmul_flops(spec, decode(7, 300)), 7 * one);
    EXPECT_EQ(matmul_flops(spec, prefill(7, 9, 300)), 7 * matmul_flops(spec, prefill(1, 9, 300)));
  }
}

// Everything but the head (one position per step) and the expansion of a cached prefix.
TEST(LatentIdentity, a_prefill_in_chunks_attends_as_much_as_in_one) {
  const auto attended = [](const ModelSpec& spec, std::int64_t tokens, std::int64_t context) {
    double out = 0;
    for (const Operator& op : graph_of(spec, prefill(2, tokens, context)).operators) {
      if (op.kind == OperatorKind::attention) out += op.matmul_flops;
    }
    return out;
  };
  for (const ModelSpec& spec :
       {tiny_latent(), read(tiny_sparse_config()), read(tiny_v4_config())}) {
    for (const std::int64_t cut : {1, 3, 6, 131, 200}) {
      EXPECT_EQ(attended(spec, cut, cut) + attended(spec, 333 - cut, 333), attended(spec, 333, 333))
          << cut;
    }
  }
}

// Ranks do the whole work of what is split and repeat what is not.
TEST(LatentSplit, tensor_ranks_share_heads_and_repeat_ranks) {
  const ModelSpec v4 = read(tiny_v4_config());
  for (const ModelSpec& spec : {tiny_latent(), read(tiny_sparse_config()), v4}) {
    const OperatorGraph graph = graph_of(spec, decode(4, 300, {.tp = 4, .ep = 4}));
    for (const Operator& op : graph.operators) {
      if (op.matmul_flops == 0) continue;
      const bool is_replicated = op.split == Split::replicated;
      EXPECT_EQ(op.matmul_flops_per_rank * (is_replicated ? 1 : 4), op.matmul_flops) << op.name;
    }
  }
  const auto split = [&](const ModelSpec& spec, const char* name) {
    return find_operator(graph_of(spec, decode(4, 300, {.tp = 4})), name).split;
  };
  EXPECT_EQ(split(tiny_latent(), "q_a_proj"), Split::replicated);
  EXPECT_EQ(split(tiny_latent(), "kv_a_proj"), Split::replicated);
  EXPECT_EQ(split(tiny_latent(), "q_b_proj"), Split::column);
  EXPECT_EQ(split(tiny_latent(), "q_up"), Split::head);
  EXPECT_EQ(split(read(tiny_sparse_config()), "index_score"), Split::replicated);
  EXPECT_EQ(split(v4, "index_score"), Split::head);
  EXPECT_EQ(split(v4, "compressor"), Split::replicated);
  EXPECT_EQ(split(v4, "attention_mix"), Split::replicated);
  EXPECT_EQ(split(v4, "o_a_proj"), Split::head);
}

TEST(LatentRefusal, groups_and_index_heads_that_do_not_split) {
  const auto refusal = check_configuration(read(tiny_v4_config()), decode(1, 8, {.tp = 8}));
  ASSERT_TRUE(refusal);
  EXPECT_EQ(refusal->reason, "o_groups_not_divisible");
  EXPECT_THAT(refusal->text, AllOf(HasSubstr("tp 8"), HasSubstr("4")));
  Json config = tiny_v4_config();
  config["index_n_heads"] = 3;
  EXPECT_EQ(check_configuration(read(config), decode(1, 8, {.tp = 2}))->reason,
            "tp_does_not_divide_heads");
  EXPECT_EQ(check_configuration(tiny_latent(), decode(1, 8, {.tp = 3}))->reason,
            "tp_does_not_divide_heads");
}

struct BadConfig {
  const char* name;
  Json base;
  const char* field;
  Json value;
};

TEST(LatentConfig, what_cannot_be_true_or_is_not_modelled_is_refused_by_its_field) {
  const BadConfig cases[] = {
      {"index", tiny_config(), "index_topk", 5},
      {"bias", tiny_config(), "attention_bias", true},
      {"window", tiny_config(), "sliding_window", 128},
      {"rank", tiny_config(), "kv_lora_rank", nullptr},
      {"rope", tiny_config(), "qk_rope_head_dim", 3},
      {"scoring", tiny_config(), "scoring_func", "tanh"},
      {"every second layer", tiny_config(), "moe_layer_freq", 2},
      {"gate", tiny_config(), "mla_use_output_gate", true},
      {"streams", tiny_config(), "hc_mult", 4},
      {"layers", tiny_config(), "mlp_layer_types", Json::array({"dense", "sparse"})},
      {"contradiction", tiny_config(), "mlp_layer_types",
       Json::array({"dense", "dense", "sparse"})},
      {"no query rank", tiny_sparse_config(), "q_lora_rank", nullptr},
      {"no index", tiny_sparse_config(), "index_topk", nullptr},
      {"sharing", tiny_sparse_config(), "index_topk_freq", 4},
      {"kinds", tiny_sparse_config(), "indexer_types", Json::array({"full", "half", "full"})},
      {"first shares", tiny_sparse_config(), "indexer_types",
       Json::array({"shared", "full", "full"})},
      {"few ratios", tiny_v4_config(), "compress_ratios", Json::array({0, 4})},
      {"odd ratio", tiny_v4_config(), "compress_ratios", Json::array({0, 4, 16})},
      {"groups", tiny_v4_config(), "o_groups", 3},
      {"kv heads", tiny_v4_config(), "num_key_value_heads", 2},
      {"no window", tiny_v4_config(), "sliding_window", nullptr},
  };
  for (BadConfig bad : cases) {
    bad.base[bad.field] = bad.value;
    try {
      read(bad.base);
      ADD_FAILURE() << bad.name;
    } catch (const Error& error) {
      EXPECT_EQ(error.exit_code(), ExitCode::refused);
      says(error.line(), bad.field);
    }
  }
}

TEST(LatentConfig, indexer_types_say_which_layers_index) {
  Json config = tiny_sparse_config();
  config["index_topk_freq"] = 2;
  config["indexer_types"] = Json::array({"full", "shared", "full"});
  const OperatorGraph graph = graph_of(read(config), decode(1, 8));
  std::int64_t layers = 0;
  for (const Operator& op : graph.operators) layers += op.name == "index_score" ? op.count : 0;
  EXPECT_EQ(layers, 2);
}

}  // namespace
}  // namespace halmark
